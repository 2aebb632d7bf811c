package import PolystoreFoundation

/// The changes of one transaction that a store keeps for another store, which commits after it, until that store has applied them.
///
/// If a transaction writes to two stores, the first store includes the changes of the second in its own commit, with a number that is one
/// above that of the last transaction of the two. The second store notes the number together with its changes. If the process stops before
/// that, the next writer to the second store finds a greater number in the first store, and applies the changes before anything else, to
/// rows that have their original versions.
package struct Redo {
    private static let formatVersion: UInt8 = 2
    /// The format without versions of deleted and updated rows. A store of that time can still contain it.
    private static let formerVersion: UInt8 = 1

    /// The number of the transaction between the two stores.
    package let number: UInt64
    /// The changes, in the order in which they were applied.
    package let changes: [ChangeSet]
    /// The author of the commit.
    package let author: String

    /// Collects the changes of a running transaction for one store.
    package struct Recorder {
        private let coder: ChangeSetCoder
        private let hash: String
        private var sets: [[UInt8]] = []
        /// The size of the changes so far, in bytes.
        package private(set) var size = 0

        /// Creates an empty recorder.
        package init(_ schema: Schema) {
            coder = ChangeSetCoder(schema)
            hash = schema.hash.description
        }

        /// Appends a change set that was applied.
        package mutating func add(_ changes: ChangeSet) throws(StorageError) {
            let bytes = try coder.encode(changes)
            size += bytes.count
            sets.append(bytes)
        }

        /// Returns the bytes to keep.
        package func bytes(number: UInt64, author: String) -> Data {
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

    /// Decodes kept changes.
    ///
    /// - Throws: `corrupted` for ill-formed bytes, `schemaMismatch` if they were written with another schema.
    package init(_ data: Data, _ schema: Schema) throws(StorageError) {
        let parsed = data.withUnsafeBytes { Redo.parse($0, schema) }
        guard let (hash, author, number, changes) = parsed else {
            throw Redo.damaged
        }
        guard hash == schema.hash.description else {
            throw StorageError(
                .schemaMismatch, "the changes that another store holds for this one were written with another version of the model")
        }
        self.author = author
        self.number = number
        self.changes = changes
    }

    static let damaged = StorageError(
        .corrupted,
        "the changes that a store holds for another one are damaged; remove the link with forgetPeers, or restore the store from a backup")

    /// Returns the number of the transaction if the changes are kept in the first format, or nil otherwise.
    static func formerNumber(_ data: Data) -> UInt64? {
        guard data.first == formerVersion else { return nil }
        // No changes were written with the empty schema, so only the header is read.
        return data.withUnsafeBytes { parse($0, .empty)?.2 }
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer, _ schema: Schema) -> (String, String, UInt64, [ChangeSet])? {
        var reader = Varint.Reader(bytes)
        guard let version = reader.byte(), version == formatVersion || version == formerVersion, let hash = text(&reader),
            let author = text(&reader), let number = reader.next(), let count = reader.count()
        else { return nil }
        // Changes of another schema cannot be decoded and need not be: they are refused.
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
