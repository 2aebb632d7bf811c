public import PolystoreStorage

/// A receiver of the reports of stacks.
///
/// All functions are called synchronously on the thread of the event, so that the call stack provides further information. A logger must
/// therefore be safe to use from any thread. The functions receive the source location in the library.
public protocol StoreLogger: Sendable {
    /// Logs a message.
    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString)

    /// Logs an error that is about to be thrown.
    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString)

    /// Reports a programming error in the use of the library if the condition is false. Afterwards the call throws, or an assignment
    /// outside the object's transaction has no effect. The logger decides whether to stop the program.
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString)
}
