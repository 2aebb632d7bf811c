internal import CPolystore
internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Calls the function of a monitor, one call after the other, until it ends.
///
/// The calls have a queue of their own: a function of the program may take long, and the threads of Swift's tasks are few.
final class MonitorCalls: Sendable {
    private let body: CallBack<polystore_monitor_body>
    private let queue = DispatchQueue(label: "polystore.monitor")
    private let isEnded = Atomic(false)
    private static let current = DispatchSpecificKey<ObjectIdentifier>()

    init(_ body: CallBack<polystore_monitor_body>) {
        self.body = body
        queue.setSpecific(key: Self.current, value: ObjectIdentifier(self))
    }

    /// Makes a text, and calls the function with it. Returns when the call has ended.
    func run(_ text: @escaping @Sendable () -> String) async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.call(text)
                continuation.resume()
            }
        }
    }

    private func call(_ text: () -> String) {
        if isEnded.load(ordering: .acquiring) { return }
        let text = text()
        // Fetching the objects takes time, in which the monitor may have been released.
        if !isEnded.load(ordering: .acquiring) { text.withCString { body.function($0, body.context) } }
    }

    /// Ends the calls. Waits for one that is running, unless it is the caller.
    func end() {
        isEnded.store(true, ordering: .releasing)
        if DispatchQueue.getSpecific(key: Self.current) != ObjectIdentifier(self) { queue.sync {} }
    }
}
