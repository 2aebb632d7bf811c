internal import Foundation
internal import Synchronization

/// The watches over a store in files, and the thread that they share for as long as there are any.
public final class FileStoreWatcher: Sendable {
    /// Looks at the store; what is to be told, nil for nothing.
    public typealias Look = @Sendable () -> ChangeSignal?

    private let paths: @Sendable () -> [String]
    private let begin: @Sendable () throws(StorageError) -> Look
    private let thread = Mutex<FileWatch?>(nil)
    private let watches = Mutex<ChangeWatches?>(nil)

    /// A store that nobody watches.
    ///
    /// - Parameters:
    ///   - paths: Its files, in one folder; those that are not there are taken up when they appear.
    ///   - begin: Finds out how far the store is, and gives what looks for changes since then.
    public init(_ paths: @escaping @Sendable () -> [String], begin: @escaping @Sendable () throws(StorageError) -> Look) {
        self.paths = paths
        self.begin = begin
    }

    /// Begins a watch: every commit after the return is told.
    public func watch(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> any ChangeWatch {
        let watches = watches.withLock { held in
            let watches = held ?? ChangeWatches { [weak self] in self?.rest() }
            held = watches
            return watches
        }
        // First the watch: a thread that ends because there is none finds it.
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

    /// How often the thread has looked; 0 where there is none.
    public var looks: Int { thread.withLock { $0?.looks ?? 0 } }

    /// Ends all watches.
    public func close() {
        watches.withLock({ $0 })?.cancelAll()
        rest()
    }

    /// Ends the thread where nobody watches.
    private func rest() {
        let ended = thread.withLock { thread -> FileWatch? in
            guard watches.withLock({ $0?.isEmpty ?? true }) else { return nil }
            defer { thread = nil }
            return thread
        }
        ended?.stop()
    }
}
