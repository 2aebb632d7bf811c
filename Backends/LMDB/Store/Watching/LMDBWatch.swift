#if LMDB
internal import PolystoreFoundation
internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// A watch for commits of other processes to a file. LMDB numbers its transactions, so none is missed.
///
/// A commit ends with a write to the meta page of the newest tree (`mdb_env_write_meta`). LMDB writes it through a descriptor and not
/// through the map, which is not opened for writing, so the system reports the write. Readers see the commit a moment later, in memory that
/// the processes share, which is why a poll that finds nothing is repeated.
enum LMDBWatch {
    /// Creates the watcher of a file that an engine has opened.
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
                if !engine.isOpen { throw StorageError(.storeClosed, "the store is not open; add it to a stack, or call open") }
                _ = try look()
                // A commit of this instance may be in progress.
                if !ledger.withLock({ $0.hasBegun }) { Threads.pause(seconds: 0.001) }
            }
            // State that cannot be read now, for example during a migration, is read by the next poll.
            return { (try? look()) ?? nil }
        }
    }
}
#endif
