package import PolystoreSchema

/// Provides the rows that to-one relationships reference while a request is evaluated.
package protocol RelatedRows {
    /// Begins the evaluation of a row. Rows returned before are no longer used.
    func beginRow()

    /// Returns the row of a key in an entity's hierarchy, or nil if there is none. The row is valid until the evaluation of the present row
    /// ends, or that of the related row for which it was requested.
    func row(_ entity: EntityIndex, _ key: Int64) -> RowView?

    /// Calls a closure with the rows that a to-many relationship of an object references, in any order, until the closure returns false.
    ///
    /// - Parameters:
    ///   - entity: The entity of the relationship.
    ///   - relationship: The position among the entity's relationships.
    ///   - key: The key of the object.
    ///   - body: A closure called with each row, which is valid during the call. It may request further rows.
    func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool)
}

extension RelatedRows {
    /// Does nothing.
    package func beginRow() {}
}
