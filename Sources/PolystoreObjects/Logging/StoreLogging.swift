internal import Logging
internal import PolystoreStorage
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

    /// Reports an error once, regardless of the number of levels that rethrow it. A cancellation is what the program requested, and not
    /// reported.
    @inline(never)
    static func report(
        _ error: StorageError, fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) -> StorageError {
        if error._isLogged || error.code == .cancelled { return error }
        let logger = logger
        var error = error
        error._isLogged = true
        logger.log(error: error, message: error.message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        logger.assert(
            !misuse.contains(error.code), message: error.message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        return error
    }

    /// Reports a programming error that could not be thrown at its origin.
    package static func reportMisuse(
        _ error: StorageError, fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function
    ) -> StorageError {
        let reported = report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        logger.assert(false, message: error.message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        return reported
    }

    static func notice(
        _ message: String, fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function
    ) {
        log(.notice, message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }

    /// Logs a message.
    package static func log(
        _ level: StoreLogLevel, _ message: String, fileName: StaticString = #fileID, lineNumber: Int = #line,
        functionName: StaticString = #function
    ) {
        logger.log(level: level, message: message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}

/// Runs a public operation and reports its error.
@inline(__always)
package func reporting<R>(
    fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function,
    _ body: () throws(StorageError) -> R
) throws(StorageError) -> R {
    do throws(StorageError) { return try body() } catch {
        throw StoreLogging.report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}

/// Runs an operation with a closure of the program and reports its error if it is a `StorageError`.
@inline(__always)
package func reportingOurs<R>(
    fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function, _ body: () throws -> R
) throws -> R {
    do { return try body() } catch let error as StorageError {
        throw StoreLogging.report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}
