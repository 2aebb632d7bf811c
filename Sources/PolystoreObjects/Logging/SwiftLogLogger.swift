internal import Logging
package import PolystoreStorage

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
