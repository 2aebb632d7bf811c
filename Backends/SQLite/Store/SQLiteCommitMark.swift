#if SQLite
internal import PolystoreFoundation
internal import PolystoreStorage

/// The unique traces of a commit: the position of its history entry, and a digest of the entry.
struct SQLiteCommitMark: Equatable {
    let position: Int64
    private let digest: UInt64

    /// Creates the mark of an entry.
    init(position: Int64, time: Int64, author: String, content: some Sequence<UInt8>) {
        self.position = position
        // FNV-1a, 64 bits.
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        withUnsafeBytes(of: time.littleEndian) { $0.forEach(add) }
        author.utf8.forEach(add)
        content.forEach(add)
        self.digest = digest
    }

    /// Creates the mark from its `text`; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let position = Int64(parts[0]), let digest = UInt64(parts[1], radix: 16) else { return nil }
        self.position = position
        self.digest = digest
    }

    private var text: String { "\(position).\(String(digest, radix: 16))" }

    /// Returns the token with which a program asks the store for the outcome of the commit.
    func token(_ storeID: UUID) -> CommitToken { CommitToken(storeID: storeID, value: text) }
}
#endif
