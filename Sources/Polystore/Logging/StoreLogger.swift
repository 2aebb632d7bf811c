public import PolystoreStorage

/// How much a message matters.
public enum StoreLogLevel: Sendable, Hashable, CaseIterable {
    /// For those who look for the cause of something.
    case trace
    /// Something that happens now and then in the life of a stack.
    case notice
    /// Something that works, but not as it should.
    case warning
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

    /// A use of the library that is a mistake in the program, when the condition is false. The call throws afterwards, and an assignment
    /// outside the object's transaction is not made; whether the program is to stop here is left to the logger.
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString)
}
