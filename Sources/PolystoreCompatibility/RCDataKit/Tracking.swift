public import Polystore

extension PersistentHistoryTracker {
    /// A tracker of a stack, under RCDataKit's name for it.
    public init(
        container: DataStack, currentAuthor: TransactionAuthor,
        options: PersistentHistoryTrackingOptions = PersistentHistoryTrackingOptions()
    ) {
        self.init(container, currentAuthor: currentAuthor, options: options)
    }
}
