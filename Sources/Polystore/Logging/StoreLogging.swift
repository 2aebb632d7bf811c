internal import Logging
package import PolystoreStorage
internal import Synchronization

/// The logger of all stacks of the process.
public enum StoreLogging {
    private static let current = Mutex<any StoreLogger>(SwiftLogLogger())

    /// The receiver of all reports; a `SwiftLogLogger` by default.
    public static var logger: any StoreLogger {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// The error codes that indicate a programming error and not a condition at run time.
    private static let misuse: Set<StorageError.Code> = [.storeClosed, .reentrantCall, .invalidConfiguration, .unplannedLoad]

    /// Reports an error once, regardless of the number of levels that rethrow it.
    @inline(never)
    static func report(
        _ error: StorageError, fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) -> StorageError {
        if error._isLogged { return error }
        let logger = logger
        var error = error
        error._isLogged = true
        logger.log(error: error, message: error.message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        logger.assert(
            !misuse.contains(error.code), message: error.message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        return error
    }

    /// Reports a programming error that could not be thrown at its origin.
    static func reportMisuse(
        _ error: StorageError, fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function
    ) -> StorageError {
        let reported = report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        logger.assert(false, message: error.message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        return reported
    }

    static func notice(
        _ message: String, fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function
    ) {
        logger.log(level: .notice, message: message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}

/// Runs a public operation and reports its error.
@inline(__always)
func reporting<R>(
    fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function,
    _ body: () throws(StorageError) -> R
) throws(StorageError) -> R {
    do throws(StorageError) { return try body() } catch {
        throw StoreLogging.report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}

/// Runs an operation with a closure of the program and reports its error if it is a `StorageError`.
@inline(__always)
func reportingOurs<R>(
    fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function, _ body: () throws -> R
) throws -> R {
    do { return try body() } catch let error as StorageError {
        throw StoreLogging.report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}

/// A logger that reports to swift-log, under the label `polystore`. Errors are logged at level debug, because the code that catches them
/// may expect them.
package struct SwiftLogLogger: StoreLogger {
    private let logger: Logger

    /// Creates a logger with a label.
    package init(label: String = "polystore") { logger = Logger(label: label) }

    /// Logs a message at the corresponding level of swift-log.
    package func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        let level: Logger.Level =
            switch level {
            case .trace: .trace
            case .notice: .notice
            case .warning: .warning
            }
        logger.log(level: level, "\(message)", file: "\(fileName)", function: "\(functionName)", line: UInt(lineNumber))
    }

    /// Logs an error at level debug with its code as metadata. The code that catches the error decides on its severity.
    package func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        logger.debug(
            "\(message)", metadata: ["code": "\(error.code)"], file: "\(fileName)", function: "\(functionName)", line: UInt(lineNumber))
    }

    /// Logs a warning if the condition is false.
    package func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        if condition() { return }
        log(level: .warning, message: message(), fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}
