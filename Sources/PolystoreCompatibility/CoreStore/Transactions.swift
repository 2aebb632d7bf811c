internal import Dispatch
public import Polystore

/// Carries something that is not Sendable to the one thread that uses it.
///
/// Unchecked: its content was `sending` when it was put in, or is handed on by a transaction that has ended, so that nobody else holds it.
struct Carried<Content>: @unchecked Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
}

extension CoreStore {
    /// Runs a closure in a write transaction of the default stack, in the background, and commits when it returns.
    ///
    /// The closure may take objects of other contexts with it (to `edit` them) and return objects of its own (to `fetchExisting` them):
    /// the context that they belong to is used by nobody else then. Closures run one after the other, in the order in which they were
    /// submitted. The completion is called on the main queue, when the observers of the stack have been notified of the commit.
    public static func perform<R>(
        asynchronous body: sending @escaping (Transaction) throws -> R,
        completion: sending @escaping (Result<R, any Error>) -> Void
    ) {
        defaultStack.run(body, completion)
    }

    /// Runs a closure in a write transaction of the default stack, in the background; one of the handlers is called then, on the main
    /// queue.
    public static func perform<R>(
        asynchronous body: sending @escaping (Transaction) throws -> R, success: sending @escaping (R) -> Void,
        failure: sending @escaping (any Error) -> Void
    ) {
        let success = Carried(success), failure = Carried(failure)
        defaultStack.run(body) { result in
            switch result {
            case .success(let value): success.content(value)
            case .failure(let error): failure.content(error)
            }
        }
    }

    /// Runs a closure in a write transaction of the default stack and commits when it returns.
    public static func perform<R>(synchronous body: (Transaction) throws -> R) throws -> R {
        try defaultStack.perform(synchronous: body)
    }

    /// Begins a transaction that is not tied to a closure.
    public static func beginUnsafe(supportsUndo: Bool = false) -> sending UnsafeTransaction {
        defaultStack.beginUnsafe(supportsUndo: supportsUndo)
    }
}

extension DataStack {
    func run<R>(_ body: sending @escaping (Transaction) throws -> R, _ completion: sending @escaping (Result<R, any Error>) -> Void) {
        let body = Carried(body), completion = Carried(completion)
        perform(asynchronous: { transaction in Carried(try body.content(transaction)) }, on: .main) { result in
            completion.content(result.map(\.content))
        }
    }
}
