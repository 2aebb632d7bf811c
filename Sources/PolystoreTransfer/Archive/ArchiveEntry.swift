internal import Foundation
internal import PolystoreStorage

/// An entry of the history in an archive. Its position is only for readers of the archive: a restored store has tokens of its own.
struct ArchiveEntry {
    let position: Int64
    let time: Int64
    let author: String
    /// The changes in the form of the recorder, with the entities, properties and relationships of the archived model by their positions.
    let changes: [UInt8]

    /// Creates the entry of a transaction.
    init(_ entry: HistoryEntry) {
        position = entry.token.position
        time = entry.time
        author = entry.author
        changes = HistoryRecorder.encode(entry.changes)
    }

    /// Creates an entry from the text of its changes. Returns nil if that is ill-formed.
    init?(position: Int64, time: Int64, author: String, base64: String) {
        guard let data = Data(base64Encoded: base64) else { return nil }
        self.position = position
        self.time = time
        self.author = author
        changes = Array(data)
    }

    /// Returns the transaction with the position that it had, or nil if its changes are ill-formed or not those of a model.
    func transaction(_ schema: Schema) -> HistoryEntry? {
        guard let changes = changes.withUnsafeBytes(HistoryRecorder.decode), (try? changes.check(schema)) != nil else { return nil }
        return HistoryEntry(token: HistoryToken(store: UUID(), position: position), time: time, author: author, changes: changes)
    }

    /// Appends the line of the entry.
    func append(to bytes: inout [UInt8]) {
        typealias Name = ArchiveFormat.Name
        let text =
            "{\"\(Name.history)\":\(position),\"\(Name.time)\":\(time),\"\(Name.author)\":\(JSONWriter.quoted(author)),"
            + "\"\(Name.changes)\":\"\(Data(changes).base64EncodedString())\"}\n"
        bytes += text.utf8
    }

    /// Adds the entry to the digest of a history, in which it has a position. Returns its size.
    @discardableResult
    func add(to digest: inout Digest) -> Int { digest.add(time: time, author, changes) }
}
