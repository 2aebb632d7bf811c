public import Foundation

/// A session that does what another one does, except for what its type says.
///
/// An ability that it does not have itself is that of the other session.
public protocol ForwardingReader: StorageReader {
    /// The other session.
    var reader: any StorageReader { get }
}

extension ForwardingReader {
    /// How the other session answers.
    public func pushdown(of plan: FetchPlan) -> Pushdown { reader.pushdown(of: plan) }

    /// The rows of the other session.
    public func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor { try reader.cursor(for: plan) }

    /// Appends rows of the other session.
    public func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try reader.rows(entity, keys: keys, into: batch)
    }

    /// The pairs of the other session.
    public func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<Link>) throws(StorageError) -> Void
    ) throws(StorageError) { try reader.links(link, side: side, keys: keys, body) }

    /// The bytes of a note of the other session.
    public func note(_ name: String) throws(StorageError) -> Data? { try reader.note(name) }

    /// Ends the other session.
    public func end() { reader.end() }
}

extension StorageReader {
    /// The session as one with an ability, or the nearest that it forwards to; nil where none has it.
    public func ability<Ability>(_ type: Ability.Type) -> Ability? {
        self as? Ability ?? (self as? any ForwardingReader)?.reader.ability(type)
    }
}
