internal import Logging
public import PolystoreStorage
internal import Synchronization

/// The logger of all stacks of the process.
public enum StoreLogging {
    private static let current = Mutex<any StoreLogger>(SwiftLogLogger())

    /// Where everything is reported; a `SwiftLogLogger` unless another is assigned.
    public static var logger: any StoreLogger {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// What is a mistake in the program rather than something that can happen to it.
    private static let misuse: Set<StorageError.Code> = [.storeClosed, .reentrantCall, .invalidConfiguration, .unplannedLoad]

    /// Reports an error once, however many levels throw it on.
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

    /// Reports a mistake of the program that could not be thrown where it was made.
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

/// Runs a public verb and reports what it throws.
@inline(__always)
func reporting<R>(
    fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function,
    _ body: () throws(StorageError) -> R
) throws(StorageError) -> R {
    do throws(StorageError) { return try body() } catch {
        throw StoreLogging.report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}

/// Runs a verb with a closure of the program and reports what it throws, if it is an error of ours.
@inline(__always)
func reportingOurs<R>(
    fileName: StaticString = #fileID, lineNumber: Int = #line, functionName: StaticString = #function, _ body: () throws -> R
) throws -> R {
    do { return try body() } catch let error as StorageError {
        throw StoreLogging.report(error, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}

/// Reports to swift-log, under the label `polystore`. Errors are at level debug there: who catches them may well expect them.
public struct SwiftLogLogger: StoreLogger {
    private let logger: Logger

    /// A logger under a label.
    public init(label: String = "polystore") { logger = Logger(label: label) }

    /// A message at the level of swift-log that comes next.
    public func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        let level: Logger.Level =
            switch level {
            case .trace: .trace
            case .notice: .notice
            case .warning: .warning
            }
        logger.log(level: level, "\(message)", file: "\(fileName)", function: "\(functionName)", line: UInt(lineNumber))
    }

    /// A message at level debug with the code as metadata: whoever catches the error decides how bad it is.
    public func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        logger.debug(
            "\(message)", metadata: ["code": "\(error.code)"], file: "\(fileName)", function: "\(functionName)", line: UInt(lineNumber))
    }

    /// A warning where the condition is false.
    public func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        if condition() { return }
        log(level: .warning, message: message(), fileName: fileName, lineNumber: lineNumber, functionName: functionName)
    }
}
