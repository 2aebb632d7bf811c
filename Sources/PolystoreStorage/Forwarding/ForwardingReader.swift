public import PolystoreFoundation

/// A session that forwards every call to another session, except for those that the conforming type implements.
///
/// An ability that the conforming type lacks is taken from the other session.
public protocol ForwardingReader: StorageReader {
    /// The session that receives the forwarded calls.
    var reader: any StorageReader { get }
}

extension ForwardingReader {
    /// Returns the answer of the other session.
    public func pushdown(of plan: FetchPlan) -> Pushdown { reader.pushdown(of: plan) }

    /// Returns a cursor of the other session.
    public func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor { try reader.cursor(for: plan) }

    /// Appends rows of the other session.
    public func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try reader.rows(entity, keys: keys, into: batch)
    }

    /// Calls `body` with pairs of the other session.
    public func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) { try reader.links(link, side: side, keys: keys, body) }

    /// Returns the bytes of a note of the other session.
    public func note(_ name: String) throws(StorageError) -> Data? { try reader.note(name) }

    /// Ends the other session.
    public func end() { reader.end() }
}

extension StorageReader {
    /// Returns the session as a type with an ability, or else the nearest session in the forwarding chain that has it. Returns nil if none
    /// has it.
    public func ability<Ability>(_ type: Ability.Type) -> Ability? {
        self as? Ability ?? (self as? any ForwardingReader)?.reader.ability(type)
    }
}
