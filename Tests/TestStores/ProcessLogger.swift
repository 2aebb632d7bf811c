public import Polystore
internal import Foundation

/// The logger of the process, which one test at a time replaces. The suites of a process run concurrently.
public enum ProcessLogger {
    private static let lock = NSRecursiveLock()

    /// Runs a closure while a logger receives all reports.
    public static func replaced<R>(by logger: some StoreLogger, _ body: () throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        let former = StoreLogging.logger
        StoreLogging.logger = logger
        defer { StoreLogging.logger = former }
        return try body()
    }
}
