package import PolystoreSchema

/// The absence of related rows, for requests without relationships.
package struct NoRelatedRows: RelatedRows {
    /// Creates the absence of related rows.
    package init() {}

    /// Returns nil.
    package func row(_ entity: EntityIndex, _ key: Int64) -> RowView? { nil }

    /// Returns no rows.
    package func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {}
}
