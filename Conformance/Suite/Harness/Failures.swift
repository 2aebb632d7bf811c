internal import Synchronization

/// The errors of several threads.
final class Failures: Sendable {
    private let texts = Mutex<[String]>([])

    /// All errors, as text.
    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
