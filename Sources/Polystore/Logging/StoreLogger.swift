public import PolystoreStorage

/// How much a message matters.
public enum StoreLogLevel: Sendable, Hashable, CaseIterable {
    /// For those who look for the cause of something.
    case trace
    /// Something that happens now and then in the life of a stack.
    case notice
    /// Something that works, but not as it should.
    case warning
    /// The last words before the process ends.
    case fatal
}

/// Where a stack reports what happens in it.
///
/// All functions are called synchronously on the thread on which it happened, so that the call stack tells the rest; a logger must
/// therefore be safe to use from any thread. They receive the place in the library that reports.
public protocol StoreLogger: Sendable {
    /// A message.
    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString)

    /// An error that is about to be thrown.
    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString)

    /// A use of the library that is a mistake in the program, when the condition is false. The call throws afterwards; whether the
    /// program is to stop here is left to the logger.
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString)

    /// The last words: the process ends when it returns. Called only when an object is assigned to outside its transaction.
    func abort(_ message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString)
}
