public import Foundation

/// The stores with which a store has committed together, as it notes them.
public struct Peers {
    private static let name = "peers"

    private let session: any StorageReader

    /// The peers that a session's store knows.
    public init(_ session: any StorageReader) { self.session = session }

    /// The identities of the stores that may keep changes for this one.
    public func known() throws(StorageError) -> [UUID] {
        guard let data = try session.note(Self.name) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: ",").compactMap { UUID(uuidString: String($0)) }
    }

    /// The number of the last transaction with a peer whose changes this store has.
    public func number(of peer: UUID) throws(StorageError) -> UInt64 {
        guard let data = try session.note("applied.\(peer.uuidString)") else { return 0 }
        return UInt64(String(decoding: data, as: UTF8.self)) ?? 0
    }

    /// What this store keeps for another; nil for nothing.
    public func redo(for store: UUID) throws(StorageError) -> Data? { try session.note("redo.\(store.uuidString)") }
}

extension Peers {
    /// Notes that a store may keep changes for this one.
    public static func add(_ peer: UUID, _ writer: any StorageWriter) throws(StorageError) {
        let known = try Peers(writer).known()
        if !known.contains(peer) { try set(known + [peer], writer) }
    }

    /// Forgets all peers: changes that they keep for this store are lost to it.
    public static func forgetAll(_ writer: any StorageWriter) throws(StorageError) { try set([], writer) }

    private static func set(_ peers: [UUID], _ writer: any StorageWriter) throws(StorageError) {
        try writer.setNote(name, peers.isEmpty ? nil : Data(peers.map(\.uuidString).joined(separator: ",").utf8))
    }

    /// Notes that this store has the changes of a transaction with a peer.
    public static func setNumber(_ number: UInt64, of peer: UUID, _ writer: any StorageWriter) throws(StorageError) {
        try writer.setNote("applied.\(peer.uuidString)", Data(String(number).utf8))
    }

    /// Keeps changes for another store.
    public static func setRedo(_ bytes: Data, for store: UUID, _ writer: any StorageWriter) throws(StorageError) {
        try writer.setNote("redo.\(store.uuidString)", bytes)
    }

    /// Applies what peers keep for a store, before anything else is written to it.
    ///
    /// - Parameters:
    ///   - writer: A write transaction of the store, fresh.
    ///   - read: Starts to read a peer; nil if it is not at hand.
    /// - Returns: The author of what was applied; nil when there was nothing. The writer is then to be committed.
    /// - Throws: `peerUnavailable` when a peer cannot be asked.
    public static func settle(
        _ store: UUID, _ schema: Schema, _ writer: any StorageWriter, read: (UUID) throws(StorageError) -> (any StorageReader)?
    ) throws(StorageError) -> String? {
        var author: String?
        for peer in try Peers(writer).known() {
            let session: (any StorageReader)?
            do throws(StorageError) {
                session = try read(peer)
            } catch {
                throw unavailable(error)
            }
            guard let session else { throw unavailable(nil) }
            defer { session.end() }
            guard let kept = try Peers(session).redo(for: store) else { continue }
            if try Redo.number(kept) <= Peers(writer).number(of: peer) { continue }
            let redo = try Redo(kept, schema)
            for changes in redo.changes { try apply(changes, schema, writer) }
            try setNumber(redo.number, of: peer, writer)
            author = redo.author
        }
        return author
    }

    /// Applies changes whose keys were reserved by a transaction that is gone: the counter has to rise above them again.
    private static func apply(_ changes: ChangeSet, _ schema: Schema, _ writer: any StorageWriter) throws(StorageError) {
        try writer.apply(changes)
        var greatest: [EntityIndex: Int64] = [:]
        let batch = RowBatch(capacity: 512)
        for change in changes.entities {
            let root = schema[change.entity].root
            try change.inserts?.forEachBatch(batch) { batch throws(StorageError) in
                for index in 0..<batch.count { greatest[root] = max(greatest[root] ?? 0, batch.key(index)) }
            }
        }
        for (root, key) in greatest.sorted(by: { $0.key < $1.key }) {
            var next = try writer.reserveKeys(root, count: 1).upperBound
            while next <= key { next = try writer.reserveKeys(root, count: Int(clamping: key - next + 1)).upperBound }
        }
    }

    private static func unavailable(_ cause: StorageError?) -> StorageError {
        StorageError(
            .peerUnavailable,
            "a store that commits together with this one cannot be asked whether it keeps changes for it; add it to the stack, or forget it "
                + "with forgetPeers", cause: cause)
    }
}
