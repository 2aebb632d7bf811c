internal import PolystoreFoundation
internal import Synchronization

/// The watches of a store in files, and the thread that they share while there are any.
package final class FileStoreWatcher: Sendable {
    /// A closure that polls the store and returns the notification to deliver, or nil.
    package typealias Look = @Sendable () -> ChangeSignal?

    private let paths: @Sendable () -> [String]
    private let begin: @Sendable () throws(StorageError) -> Look
    private let thread = Mutex<FileWatch?>(nil)
    private let watches = Mutex<ChangeWatches?>(nil)

    /// Creates a watcher without watches.
    ///
    /// - Parameters:
    ///   - paths: Returns the files of the store, which are in one folder. Files that do not exist are watched when they appear.
    ///   - begin: Reads the current state of the store, and returns a closure that polls for changes since then.
    package init(_ paths: @escaping @Sendable () -> [String], begin: @escaping @Sendable () throws(StorageError) -> Look) {
        self.paths = paths
        self.begin = begin
    }

    /// Adds a watch. Every commit after the return is reported.
    package func watch(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> any ChangeWatch {
        let watches = watches.withLock { held in
            let watches = held ?? ChangeWatches { [weak self] in self?.rest() }
            held = watches
            return watches
        }
        // Add the watch first, so that the thread finds it before it ends for lack of watches.
        let watch = watches.add(handler)
        do throws(StorageError) {
            try thread.withLock { thread throws(StorageError) in
                if thread != nil { return }
                let look = try begin()
                thread = FileWatch(paths()) { if let signal = look() { watches.signal(signal) } }
            }
        } catch {
            watch.cancel()
            throw error
        }
        return watch
    }

    /// The number of polls by the thread, or 0 if there is no thread.
    package var looks: Int { thread.withLock { $0?.looks ?? 0 } }

    /// Ends all watches.
    package func close() {
        watches.withLock({ $0 })?.cancelAll()
        rest()
    }

    /// Ends the thread if there are no watches.
    private func rest() {
        let ended = thread.withLock { thread -> FileWatch? in
            guard watches.withLock({ $0?.isEmpty ?? true }) else { return nil }
            defer { thread = nil }
            return thread
        }
        ended?.stop()
    }
}
