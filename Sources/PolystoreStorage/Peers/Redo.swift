public import Foundation

/// What a store keeps for another that commits after it: the changes of one transaction, until the other has them.
///
/// Of two stores that a transaction writes to, the first carries the changes of the second in its own commit, with a number that is one
/// above that of the last transaction of the two. The second notes the number with its changes. If it stops before, whoever writes to it
/// next finds a greater number with the first and applies the changes before anything else, to rows that have the versions of then.
public struct Redo {
    private static let formatVersion: UInt8 = 2
    /// The format without versions of what is deleted or changed; a store of then can still keep it.
    private static let formerVersion: UInt8 = 1

    /// The number of the transaction between the two stores.
    public let number: UInt64
    /// The changes, in the order in which they were applied.
    public let changes: [ChangeSet]
    /// Who committed.
    public let author: String

    /// The changes of a transaction for one store while it runs.
    public struct Recorder {
        private let coder: ChangeSetCoder
        private let hash: String
        private var sets: [[UInt8]] = []
        /// The bytes of the changes so far.
        public private(set) var size = 0

        /// An empty recorder.
        public init(_ schema: Schema) {
            coder = ChangeSetCoder(schema)
            hash = schema.hash.description
        }

        /// Adds a change set that was applied.
        public mutating func add(_ changes: ChangeSet) throws(StorageError) {
            let bytes = try coder.encode(changes)
            size += bytes.count
            sets.append(bytes)
        }

        /// The bytes to keep.
        public func bytes(number: UInt64, author: String) -> Data {
            var bytes: [UInt8] = [Redo.formatVersion]
            for text in [hash, author] {
                Varint.append(UInt64(text.utf8.count), to: &bytes)
                bytes += text.utf8
            }
            Varint.append(number, to: &bytes)
            Varint.append(UInt64(sets.count), to: &bytes)
            for set in sets { bytes += set }
            return Data(bytes)
        }
    }

    /// What was kept.
    ///
    /// - Throws: `corrupted` for ill-formed bytes, `schemaMismatch` when they were written with another schema.
    public init(_ data: Data, _ schema: Schema) throws(StorageError) {
        let parsed = data.withUnsafeBytes { Redo.parse($0, schema) }
        guard let (hash, author, number, changes) = parsed else {
            throw Redo.damaged
        }
        guard hash == schema.hash.description else {
            throw StorageError(.schemaMismatch, "what a store keeps for this one was written with another version of the model")
        }
        self.author = author
        self.number = number
        self.changes = changes
    }

    static let damaged = StorageError(
        .corrupted, "what a store keeps for another is damaged; let the other forget it with forgetPeers, or restore the store")

    /// The number of the transaction where the changes are kept in the former format; nil for any other.
    static func formerNumber(_ data: Data) -> UInt64? {
        guard data.first == formerVersion else { return nil }
        // Nothing was written with the empty schema, so that only the head is read.
        return data.withUnsafeBytes { parse($0, .empty)?.2 }
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer, _ schema: Schema) -> (String, String, UInt64, [ChangeSet])? {
        var reader = Varint.Reader(bytes)
        guard let version = reader.byte(), version == formatVersion || version == formerVersion, let hash = text(&reader),
            let author = text(&reader), let number = reader.next(), let count = reader.count()
        else { return nil }
        // The changes of another schema cannot be read, and need not be: they are refused.
        if hash != schema.hash.description { return (hash, author, number, []) }
        let coder = ChangeSetCoder(schema, isVersioned: version == formatVersion)
        var changes: [ChangeSet] = []
        for _ in 0..<count {
            guard let set = coder.decode(&reader) else { return nil }
            changes.append(set)
        }
        return reader.isAtEnd ? (hash, author, number, changes) : nil
    }

    private static func text(_ reader: inout Varint.Reader) -> String? {
        guard let count = reader.count(), let bytes = reader.bytes(count) else { return nil }
        return String(utf8: bytes)
    }
}
