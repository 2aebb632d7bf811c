public import CPolystore
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// The options of a write transaction.
private struct PerformOptions {
    var author = TransactionAuthor.none
    var timeout: Duration?

    init(_ text: UnsafePointer<CChar>?) throws(StorageError) {
        guard let text else { return }
        let fields = try JSONFields(
            String(argument: text, "the options"), "the options", known: ["author", "timeout"], code: .invalidConfiguration)
        if let name = try fields.string("author") { author = TransactionAuthor(name) }
        guard let value = fields["timeout"] else { return }
        guard case .number(let text) = value, let seconds = Double(text), seconds >= 0, seconds < 1e9 else {
            throw fields.wrong("timeout", "a number of seconds")
        }
        timeout = .seconds(seconds)
    }
}

/// Runs a write transaction on the calling thread.
@c @implementation
public func polystore_stack_perform(
    _ stack: OpaquePointer?, _ options: UnsafePointer<CChar>?, _ body: polystore_transaction_body?, _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    reporting(error) {
        let options = try PerformOptions(options), body = try CallBack(body, context)
        try StackHandle.using(stack) { handle in
            try handle.stack.perform(
                author: options.author, timeout: options.timeout,
                synchronous: { transaction in try TransactionHandle.run(.writing(transaction), of: handle.stack, body) })
        }
    }
}

/// Runs a write transaction on a thread of the library.
@c @implementation
public func polystore_stack_perform_async(
    _ stack: OpaquePointer?, _ options: UnsafePointer<CChar>?, _ body: polystore_transaction_body?, _ completion: polystore_completion?,
    _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    reporting(error) {
        let handle: StackHandle = try HandleTable.object(stack)
        let options = try PerformOptions(options), body = try CallBack(body, context)
        let completion = try completion.map { function throws(StorageError) in try CallBack(function, context) }
        // The stores stay open until the work has ended. When the program learns of the end, they may be closed.
        try handle.enter()
        handle.stack.perform(
            author: options.author, timeout: options.timeout,
            asynchronous: { transaction in try TransactionHandle.run(.writing(transaction), of: handle.stack, body) },
            completion: { result in
                handle.leave()
                completion?.finish(result)
            })
    }
}

extension CallBack<polystore_completion> {
    /// Calls the function with the end of a transaction.
    fileprivate func finish(_ result: Result<Void, any Error>) {
        switch result {
        case .success: function(context, nil)
        case .failure(let error):
            let handle = HandleTable.insert(ErrorHandle(StorageError(of: error)))
            function(context, handle)
            HandleTable.release(handle, ErrorHandle.self)
        }
    }
}

/// Runs a read on the calling thread.
@c @implementation
public func polystore_stack_read(
    _ stack: OpaquePointer?, _ body: polystore_transaction_body?, _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    reporting(error) {
        let body = try CallBack(body, context)
        try StackHandle.using(stack) { handle in
            try handle.stack.read(synchronous: { transaction in
                try TransactionHandle.run(.reading(transaction), of: handle.stack, body)
            })
        }
    }
}
