#if LMDB
internal import Foundation
internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// Looks at a file for commits of other processes. LMDB numbers its transactions, so none is overlooked.
///
/// A commit ends with a write to the page that says which tree is the newest (`mdb_env_write_meta`), through a descriptor and not through the
/// map, which is not opened for writing: so the system tells of it. Readers learn of it a moment later, from memory that the processes
/// share, which is why a look that finds nothing is repeated.
enum LMDBWatch {
    /// The watches over a file that an engine has open.
    static func watcher(_ engine: LMDBEngine, _ commits: OwnCommits) -> FileStoreWatcher {
        FileStoreWatcher({ [engine.location.dataPath] }) { () throws(StorageError) in
            let ledger = Mutex(CommitLedger(commits))
            @Sendable func look() throws(StorageError) -> ChangeSignal? {
                try ledger.withLock { ledger throws(StorageError) in
                    try ledger.signal { () throws(StorageError) in
                        try engine.look { reader, commits throws(StorageError) in try KeyValueStore.count(reader, commits: commits) }
                    }
                }
            }
            while !ledger.withLock({ $0.hasBegun }) {
                if !engine.isOpen { throw StorageError(.storeClosed, "the store is not open; add it to a stack or call open") }
                _ = try look()
                // A commit of this instance may be on its way.
                if !ledger.withLock({ $0.hasBegun }) { Thread.sleep(forTimeInterval: 0.001) }
            }
            // What cannot be read now, as while the model changes, is read at the next look.
            return { (try? look()) ?? nil }
        }
    }
}
#endif
