internal import Dispatch
public import Polystore

/// A transaction in the form of CoreStore 1 that reports the result of its commit.
public final class LegacyAsynchronousTransaction: LegacyTransaction {
    private(set) var completion: (@Sendable (SaveResult) -> Void)?

    /// Marks the changes to be committed when the closure ends, and reports the result on the main queue.
    public func commit(_ completion: @escaping @Sendable (SaveResult) -> Void) throws(StorageError) {
        try commit()
        self.completion = completion
    }
}
