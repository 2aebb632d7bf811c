public import Polystore

/// RCDataKit's name of `CurrentDataStack`, for the stack of the task instead of that of a view.
public typealias EnvironmentDataStack = CurrentDataStack

/// RCDataKit's name of `withDataStack`, for a task instead of a view.
public func dataStackEnvironment<R, Failure: Error>(
    _ stack: any DataStackProtocol, isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> R
) async throws(Failure) -> R {
    try await withDataStack(stack.dataStack, body)
}
