internal import Foundation
internal import PolystoreStorage

/// The objects that the transactions of a source have changed since a position in its history.
struct SourceChanges {
    /// The keys of changed objects that exist, by hierarchy.
    private(set) var written: [EntityIndex: KeyBitmap] = [:]
    /// The keys of changed objects that do not exist, by hierarchy.
    private(set) var deleted: [EntityIndex: KeyBitmap] = [:]
    /// The position of the newest transaction.
    private(set) var token: HistoryToken?
    /// The number of transactions.
    private(set) var transactions = 0
    /// The age of the oldest transaction.
    private(set) var age = Duration.zero

    /// The number of changed objects.
    var count: Int { (Array(written.values) + Array(deleted.values)).reduce(0) { $0 + $1.count } }

    /// The number of transactions that are read at once.
    private static let page = 1000
    /// The number of keys that are looked up at once.
    private static let block = 1024

    /// Reads the history.
    ///
    /// - Parameters:
    ///   - progress: The progress of the copy, whose position is the beginning.
    ///   - isComplete: Whether all objects are copied. Otherwise only the changes of copied objects are read.
    /// - Throws: `incompleteCopy` if the history since the position was purged.
    init(
        _ reader: ReadSession, since progress: CopyState.LiveProgress, isComplete: Bool
    ) throws(StorageError) {
        token = progress.token
        let schema = reader.schema
        var changed: [EntityIndex: KeyBitmap] = [:], oldest: Int64?
        while true {
            let entries = try Self.entries(reader, since: token)
            guard let last = entries.last else { break }
            for entry in entries {
                oldest = min(oldest ?? entry.time, entry.time)
                for run in entry.changes.keyRuns {
                    let root = schema[run.entity].root, name = schema.entities[root].name
                    if !isComplete, !progress.copied.contains(name), progress.last[name] == nil { continue }
                    let isWhole = isComplete || progress.copied.contains(name)
                    for key in run.keys where isWhole || key <= progress.last[name] ?? .min {
                        changed[root, default: KeyBitmap()].insert(key)
                    }
                }
            }
            transactions += entries.count
            token = last.token
        }
        if let oldest { age = .microseconds(max(0, Int64(Date().timeIntervalSince1970 * 1_000_000) - oldest)) }
        let contents = Contents(reader)
        for (root, keys) in changed {
            var there = KeyBitmap(), gone = KeyBitmap()
            try keys.forEach({ Self.block }) { keys throws(StorageError) in
                let entities = try contents.entities(of: keys, root)
                for key in keys { if entities[key] == nil { gone.insert(key) } else { there.insert(key) } }
            }
            written[root] = there
            deleted[root] = gone
        }
    }

    private static func entries(_ reader: ReadSession, since token: HistoryToken?) throws(StorageError) -> [HistoryEntry] {
        do throws(StorageError) { return try reader.history(since: token, limit: page) } catch {
            if error.code != .tokenExpired { throw error }
            throw StorageError(
                .incompleteCopy,
                "the history of the source was purged since the transfer has read it; erase the target (polystore erase) and repeat the transfer",
                cause: error)
        }
    }
}
