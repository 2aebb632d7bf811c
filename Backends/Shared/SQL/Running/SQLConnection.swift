package import PolystoreStorage

/// A connection to an SQL engine, as the algorithms that the engines share use it.
///
/// The protocol does not cover operations that run once for each row of objects: every engine binds and reads rows in its own way.
package protocol SQLConnection: AnyObject {
    /// Runs statements without parameters and results.
    func execute(_ sql: String) throws(StorageError)

    /// Runs one statement.
    ///
    /// - Parameter types: The types of its columns; empty for a statement whose rows are ignored.
    /// - Returns: The values of its rows.
    func rows(_ text: SQLText, _ types: [ValueType]) throws(StorageError) -> [[Value]]
}

extension SQLConnection {
    /// Runs one statement that returns no rows.
    package func run(_ text: SQLText) throws(StorageError) { _ = try rows(text, []) }

    /// Runs one statement and returns its integer, or nil where there is no row or the value is null.
    package func number(_ text: SQLText) throws(StorageError) -> Int64? {
        guard case .int(let number)? = try rows(text, [.int64]).first?.first else { return nil }
        return number
    }

    /// Runs one statement and returns its rows of two texts as a dictionary.
    package func entries(_ text: SQLText) throws(StorageError) -> [String: String] {
        let rows = try rows(text, [.string, .string])
        return Dictionary(rows.map { ($0[0].text, $0[1].text) }, uniquingKeysWith: { first, _ in first })
    }

    /// Runs `work` in a transaction, which is rolled back if `work` throws.
    package func inTransaction<Result>(
        _ beginning: String, _ work: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try execute(beginning)
        do throws(StorageError) {
            let result = try work()
            try execute("COMMIT")
            return result
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }
}

extension Value {
    /// The text of a system catalog's value; empty for any other value.
    package var text: String { if case .string(let text) = self { text } else { "" } }

    /// The integer of a system catalog's value; 0 for any other value.
    package var number: Int64 { if case .int(let number) = self { number } else { 0 } }
}
