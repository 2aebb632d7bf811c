public import PolystoreStorage

extension DataStack {
    /// The current stack of the task; nil outside of `withDataStack`.
    @TaskLocal public static var current: DataStack?
}

/// Runs a closure, and the tasks that it starts, with a stack as the current one: `DataStack.current`, `@CurrentDataStack`.
public func withDataStack<R, Failure: Error>(
    _ stack: DataStack, isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> R
) async throws(Failure) -> R {
    let result: Result<R, Failure> = await DataStack.$current.withValue(stack) {
        do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try result.get()
}

/// Runs a closure with a stack as the current one of the task.
public func withDataStack<R, Failure: Error>(_ stack: DataStack, _ body: () throws(Failure) -> R) throws(Failure) -> R {
    let result: Result<R, Failure> = DataStack.$current.withValue(stack) {
        do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
}

/// A property wrapper for the current stack of the task.
/// ```swift
/// struct Report {
///     @CurrentDataStack var stack
///     func count() throws -> Int { try $stack.get().fetchCount(From<Person>()) }
/// }
/// ```
@propertyWrapper public struct CurrentDataStack: Sendable {
    /// Creates a wrapper for the current stack of the task in which it is read.
    public init() {}

    /// The current stack of the task; nil outside of `withDataStack`.
    public var wrappedValue: DataStack? { DataStack.current }

    /// The wrapper itself, whose `get` throws if there is no current stack.
    public var projectedValue: CurrentDataStack { self }

    /// Returns the current stack of the task.
    ///
    /// - Throws: `notFound` outside of `withDataStack`.
    public func get() throws(StorageError) -> DataStack {
        if let stack = DataStack.current { return stack }
        throw StorageError(.notFound, "there is no current stack; run this inside withDataStack(_:)")
    }
}
