public import Polystore

extension PersistentHistoryTracker {
    /// Creates a tracker of a stack, with the parameter names of RCDataKit.
    public init(
        container: DataStack, currentAuthor: TransactionAuthor,
        options: PersistentHistoryTrackingOptions = PersistentHistoryTrackingOptions()
    ) {
        self.init(container, currentAuthor: currentAuthor, options: options)
    }
}
