internal import Foundation
public import Polystore
internal import Synchronization

/// The façade of CoreStore, which provides the operations of the default stack as static methods.
public enum CoreStore {
    private static let stack = Mutex<DataStack?>(nil)

    /// The stack of the façade. It is created on first access, and can be replaced from any thread.
    ///
    /// The initial stack has the Xcode model with the name of the program; without such a model it has no entities.
    public static var defaultStack: DataStack {
        get {
            if let stack = stack.withLock({ $0 }) { return stack }
            let initial = DataStack.ofTheProgram
            return stack.withLock { stack in
                if let stack { return stack }
                stack = initial
                return initial
            }
        }
        set { stack.withLock { $0 = newValue } }
    }

    /// The logger that receives all reports.
    public static var logger: any StoreLogger {
        get { StoreLogging.logger }
        set { StoreLogging.logger = newValue }
    }
}

/// The name of `StoreLogger` in CoreStore.
public typealias CoreStoreLogger = StoreLogger
/// The name of `StoreLogLevel` in CoreStore.
public typealias LogLevel = StoreLogLevel
/// The name of `BaseTransaction` in CoreStore.
public typealias BaseDataTransaction = BaseTransaction
/// The type of the transaction of `perform(asynchronous:)` in CoreStore.
public typealias AsynchronousDataTransaction = WriteTransaction
/// The type of the transaction of `perform(synchronous:)` in CoreStore.
public typealias SynchronousDataTransaction = WriteTransaction
/// The name of `UnsafeTransaction` in CoreStore.
public typealias UnsafeDataTransaction = UnsafeTransaction
/// The name of `UnsafeTransaction` in CoreStore 1.
public typealias DetachedDataTransaction = UnsafeTransaction
