internal import Foundation
internal import Synchronization

/// The watches over one store. A backend tells them, on one thread at a time, what it has seen.
public final class ChangeWatches: Sendable {
    private struct Entry: Sendable {
        weak var watch: Watch?
    }

    private let entries = Mutex<[Entry]>([])
    private let onEmpty: @Sendable () -> Void

    /// No watches.
    ///
    /// - Parameter onEmpty: Called when the last watch has gone.
    public init(onEmpty: @escaping @Sendable () -> Void) { self.onEmpty = onEmpty }

    /// A watch that is told from now on, until it is cancelled or nobody holds it.
    public func add(_ handler: @escaping @Sendable (ChangeSignal) -> Void) -> any ChangeWatch {
        let watch = Watch(handler, self)
        entries.withLock { $0.append(Entry(watch: watch)) }
        return watch
    }

    /// Whether nobody is there.
    public var isEmpty: Bool { entries.withLock { $0.allSatisfy { $0.watch == nil } } }

    /// Tells all watches.
    public func signal(_ signal: ChangeSignal) {
        for watch in entries.withLock({ $0.compactMap(\.watch) }) { watch.call(signal) }
    }

    /// Ends all watches.
    public func cancelAll() { for watch in entries.withLock({ $0.compactMap(\.watch) }) { watch.cancel() } }

    private func remove(_ watch: Watch?) {
        let isLast = entries.withLock { entries in
            let before = entries.count
            entries.removeAll { $0.watch == nil || $0.watch === watch }
            return before > 0 && entries.isEmpty
        }
        if isLast { onEmpty() }
    }

    private final class Watch: ChangeWatch {
        private let handler: Mutex<(@Sendable (ChangeSignal) -> Void)?>
        /// Held while the handler runs, so that whoever cancels waits for it; a handler may cancel its own watch.
        private let calling = NSRecursiveLock()
        private let owner: ChangeWatches

        init(_ handler: @escaping @Sendable (ChangeSignal) -> Void, _ owner: ChangeWatches) {
            self.handler = Mutex(handler)
            self.owner = owner
        }

        deinit { owner.remove(nil) }

        func call(_ signal: ChangeSignal) {
            calling.lock()
            defer { calling.unlock() }
            handler.withLock({ $0 })?(signal)
        }

        func cancel() {
            calling.lock()
            let wasThere = handler.withLock { handler in
                defer { handler = nil }
                return handler != nil
            }
            calling.unlock()
            if wasThere { owner.remove(self) }
        }
    }
}
