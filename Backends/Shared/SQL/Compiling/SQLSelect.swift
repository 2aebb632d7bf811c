package import PolystoreStorage

/// A compiled fetch: the statement, and the column position of each entity's slots in its result.
package struct SQLSelect: Sendable {
    /// The statement.
    package let text: SQLText
    /// The types of the result's columns. The last column of the table comes first, because SQLite then reads the header of a record only
    /// once.
    package let columns: [ValueType]
    /// The column position of the row key.
    package let keyColumn: Int
    /// The column position of the entity number; nil without a hierarchy.
    package let entityColumn: Int?
    /// The column position of the version.
    package let versionColumn: Int
    /// For each entity, the column position of each slot; -1 for slots that were not requested.
    package let slots: [EntityIndex: [Int]]
}
