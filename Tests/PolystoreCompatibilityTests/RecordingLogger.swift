import Foundation
import PolystoreCompatibility
import Synchronization
import TestStores

/// Keeps the messages of the process. Tests of other suites may log at the same time, so a test looks for its own message.
final class RecordingLogger: StoreLogger {
    private let messages = Mutex<[String]>([])

    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        messages.withLock { $0.append("\(level): \(message)") }
    }

    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        messages.withLock { $0.append("error: \(message)") }
    }

    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {}

    /// The messages so far that contain a text.
    func messages(_ text: String) -> [String] { messages.withLock { $0.filter { $0.contains(text) } } }

    /// Waits up to ten seconds for a message that contains a text.
    func message(_ text: String) -> String? {
        for _ in 0..<1_000 {
            if let message = messages(text).first { return message }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return nil
    }

    /// Runs a closure while the logger receives the messages of the process.
    func recording<R>(_ body: () throws -> R) rethrows -> R { try ProcessLogger.replaced(by: self, body) }
}
