public import PolystoreSchema

/// Gives the rows that to-one relationships lead to while a request is evaluated.
public protocol RelatedRows {
    /// The row of a key in an entity's hierarchy; nil when there is none. It is valid until the evaluation of the present row is over.
    func row(_ entity: EntityIndex, _ key: Int64) -> RowView?
}

/// No related rows: for requests without relationships.
public struct NoRelatedRows: RelatedRows {
    /// No rows.
    public init() {}

    /// Nil.
    public func row(_ entity: EntityIndex, _ key: Int64) -> RowView? { nil }
}
