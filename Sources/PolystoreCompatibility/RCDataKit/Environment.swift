public import Polystore

/// The name of `CurrentDataStack` in RCDataKit. It refers to the stack of a task instead of that of a view.
public typealias EnvironmentDataStack = CurrentDataStack

/// Runs a closure with a current stack. The name of `withDataStack` in RCDataKit, for a task instead of a view.
public func dataStackEnvironment<R, Failure: Error>(
    _ stack: any DataStackProtocol, isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> R
) async throws(Failure) -> R {
    try await withDataStack(stack.dataStack, body)
}
