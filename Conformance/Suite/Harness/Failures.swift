internal import Synchronization

/// The errors that several threads met.
final class Failures: Sendable {
    private let texts = Mutex<[String]>([])

    /// All of them, as text.
    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
