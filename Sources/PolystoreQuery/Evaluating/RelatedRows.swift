public import PolystoreSchema

/// Gives the rows that to-one relationships lead to while a request is evaluated.
public protocol RelatedRows {
    /// Says that the evaluation of a row begins: rows that were handed out before are not looked at any more.
    func beginRow()

    /// The row of a key in an entity's hierarchy; nil when there is none. It is valid until the evaluation of the present row is over, or
    /// that of the related row that it was asked for.
    func row(_ entity: EntityIndex, _ key: Int64) -> RowView?

    /// Hands over the rows that a to-many relationship of an object leads to, in any order, until the closure says false.
    ///
    /// - Parameters:
    ///   - entity: The entity whose relationship it is.
    ///   - relationship: The position among the entity's relationships.
    ///   - key: The key of the object.
    ///   - body: Called with each row, which is valid during the call; it may ask for further rows.
    func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool)
}

extension RelatedRows {
    /// Nothing is done.
    public func beginRow() {}
}

/// No related rows: for requests without relationships.
public struct NoRelatedRows: RelatedRows {
    /// No rows.
    public init() {}

    /// Nil.
    public func row(_ entity: EntityIndex, _ key: Int64) -> RowView? { nil }

    /// None.
    public func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {}
}
