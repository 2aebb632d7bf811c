package import PolystoreStorage

/// A compiled value query: the statement, and the construction of each value from the columns of its result.
package struct SQLValueQuery: Sendable {
    /// The construction of a value.
    package enum Output: Sendable, Hashable {
        /// The value of a column.
        case column(Int)
        /// A total in one column, and the number of its values in another. It is zero if there are none.
        case total(Int, count: Int, ValueType)
        /// A total divided by the number of its values. It is nil if there are none.
        case mean(Int, count: Int, ValueType)
        /// The mean of two columns, which are nil if there are no values.
        case middle(Int, Int)
    }

    /// The statement.
    package let text: SQLText
    /// The types of the result's columns. Totals of integers may exceed the range of the type.
    package let columns: [ValueType]
    /// The construction of each value of the answer.
    package let outputs: [Output]
    /// The columns that are 0 where the engine's results follow the contract.
    package let guards: [Int]
}

extension SQLValueQuery {
    /// Returns the rows of the answer for the result of a statement: unchanged, or arranged as groups.
    package static func answer(_ rows: [[Value]], _ plan: QueryPlan) throws(StorageError) -> [[Value]] {
        guard case .groups(let grouping) = plan.kind else { return rows }
        do throws(QueryError) { return try GroupAnswer(grouping).rows(rows) } catch { throw StorageError(error) }
    }
}
