internal import CPolystore
internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The transaction or the read of a call-back.
///
/// Unchecked: everything that changes is used only on the thread of the call-back, which `access(_:)` checks first.
final class TransactionHandle: Handle, @unchecked Sendable {
    static var noun: String { "a transaction" }

    /// What the call-back may do.
    enum Access {
        case writing(WriteTransaction)
        case reading(ReadTransaction)
    }

    let stack: DataStack
    private let thread = pthread_self()
    /// The transaction; nil after the end of the call-back.
    private var access: Access?
    /// The error of the last function that failed.
    private var failure: StorageError?

    private init(_ access: Access, _ stack: DataStack) {
        self.access = access
        self.stack = stack
    }

    /// Calls a function of the program with a handle of a transaction, which ends with the call.
    ///
    /// - Throws: The error of the last function that failed in it, or `cancelled`, if it returns another value than 0.
    static func run(_ access: Access, of stack: DataStack, _ body: CallBack<polystore_transaction_body>) throws(StorageError) {
        let object = TransactionHandle(access, stack), handle = HandleTable.insert(object)
        defer {
            object.access = nil
            HandleTable.release(handle, TransactionHandle.self)
        }
        let result = body.function(handle, body.context)
        if result == 0 { return }
        throw object.failure
            ?? StorageError(.cancelled, "the call-back returned \(result), so that the changes of the transaction were undone")
    }

    /// Runs a function of the transaction.
    ///
    /// - Throws: `storeClosed` on another thread, and after the end of the call-back; the error of the function.
    func using<R>(_ body: (Access) throws(StorageError) -> R) throws(StorageError) -> R {
        guard pthread_equal(thread, pthread_self()) != 0 else {
            throw StorageError(.storeClosed, "a transaction can be used only on the thread of its call-back")
        }
        guard let access else { throw StorageError(.storeClosed, "the transaction has ended with its call-back") }
        do throws(StorageError) { return try body(access) } catch {
            failure = error
            throw error
        }
    }

    /// Runs a function that changes something.
    ///
    /// - Throws: `readOnly` in a read.
    func changing<R>(_ body: (WriteTransaction) throws(StorageError) -> R) throws(StorageError) -> R {
        try using { access throws(StorageError) in
            switch access {
            case .writing(let transaction): return try body(transaction)
            case .reading: throw StorageError(.readOnly, "a read cannot change objects; use polystore_stack_perform")
            }
        }
    }
}
