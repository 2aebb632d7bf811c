internal import Foundation
package import PolystoreStorage

extension KeyValueStore {
    /// Returns the number of commits of a store, for observers in other processes.
    ///
    /// - Parameters:
    ///   - session: A snapshot of the engine.
    ///   - commits: The number of engine transactions that were committed up to the snapshot.
    package static func count(_ session: some OrderedReader, commits: Int64) throws(StorageError) -> CommitCount {
        func counter(_ name: String) throws(StorageError) -> Int64 {
            try withBytes(name) { key throws(StorageError) in try session.get(KeyValueLayout.counters, key).map(KeyBytes.key) ?? 1 }
        }
        let floor = try withBytes(HistoryFloor.noteName) { key throws(StorageError) in
            try HistoryFloor(note: session.get(KeyValueLayout.notes, key).map { Data($0) })
        }
        let cursor = try session.cursor(KeyValueLayout.history)
        let newest = try cursor.last() ? KeyBytes.key(cursor.key) : 0
        return CommitCount(commits: commits, listed: max(newest, floor.position), quiet: try counter(KeyValueLayout.quietCounter))
    }

    /// The minimum number of maps in an engine that contains a store.
    public static var ownMapCount: Int { KeyValueLayout.ownMaps.count }
}
