internal import Dispatch
public import Polystore

extension CoreStore {
    /// Runs a closure in a write transaction of the default stack in the background, and commits when it returns.
    ///
    /// The closure may capture objects of other contexts (to `edit` them) and return objects of its own (to `fetchExisting` them), because
    /// no other code uses their context meanwhile. Closures run one after the other, in the order in which they were submitted. The
    /// completion is called on the main queue after the observers of the stack were notified of the commit.
    public static func perform<R>(
        asynchronous body: sending @escaping (WriteTransaction) throws -> R,
        completion: sending @escaping (Result<R, any Error>) -> Void
    ) {
        defaultStack.run(body, completion)
    }

    /// Runs a closure in a write transaction of the default stack in the background, then calls one of the handlers on the main queue.
    public static func perform<R>(
        asynchronous body: sending @escaping (WriteTransaction) throws -> R, success: sending @escaping (R) -> Void,
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
    public static func perform<R>(synchronous body: (WriteTransaction) throws -> R) throws -> R {
        try defaultStack.perform(synchronous: body)
    }

    /// Begins a detached transaction, which is not tied to a closure.
    public static func beginUnsafe(supportsUndo: Bool = false) -> sending UnsafeTransaction {
        defaultStack.beginUnsafe(supportsUndo: supportsUndo)
    }
}

extension DataStack {
    func run<R>(_ body: sending @escaping (WriteTransaction) throws -> R, _ completion: sending @escaping (Result<R, any Error>) -> Void) {
        let body = Carried(body), completion = Carried(completion)
        perform(asynchronous: { transaction in Carried(try body.content(transaction)) }, on: .main) { result in
            completion.content(result.map(\.content))
        }
    }
}
