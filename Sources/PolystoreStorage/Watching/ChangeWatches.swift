internal import PolystoreFoundation
internal import Synchronization

/// The watches of one store. A backend delivers its change notifications to them, on one thread at a time.
public final class ChangeWatches: Sendable {
    private struct Entry: Sendable {
        weak var watch: Watch?
    }

    private let entries = Mutex<[Entry]>([])
    private let onEmpty: @Sendable () -> Void

    /// Creates an empty collection of watches.
    ///
    /// - Parameter onEmpty: Called when the last watch was removed.
    public init(onEmpty: @escaping @Sendable () -> Void) { self.onEmpty = onEmpty }

    /// Adds a watch that receives notifications from now on, until it is cancelled or released.
    public func add(_ handler: @escaping @Sendable (ChangeSignal) -> Void) -> any ChangeWatch {
        let watch = Watch(handler, self)
        entries.withLock { $0.append(Entry(watch: watch)) }
        return watch
    }

    /// Whether there is no watch.
    public var isEmpty: Bool { entries.withLock { $0.allSatisfy { $0.watch == nil } } }

    /// Delivers a notification to all watches.
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
        /// The closure in a structure: the compiler wraps a bare closure in a further one each time that a generic container gives it out.
        private struct Handler: Sendable {
            var call: (@Sendable (ChangeSignal) -> Void)?
        }

        private let handler: Mutex<Handler>
        /// Held while the handler runs, so that a call of `cancel` waits for it. Recursive, because a handler may cancel its own watch.
        private let calling = Lock(isRecursive: true)
        private let owner: ChangeWatches

        init(_ handler: @escaping @Sendable (ChangeSignal) -> Void, _ owner: ChangeWatches) {
            self.handler = Mutex(Handler(call: handler))
            self.owner = owner
        }

        deinit { owner.remove(nil) }

        func call(_ signal: ChangeSignal) {
            calling.lock()
            defer { calling.unlock() }
            handler.withLock { $0.call }?(signal)
        }

        func cancel() {
            calling.lock()
            let wasThere = handler.withLock { handler in
                defer { handler.call = nil }
                return handler.call != nil
            }
            calling.unlock()
            if wasThere { owner.remove(self) }
        }
    }
}
