internal import PolystoreFoundation

/// The recognition of the main queue, whose instances on Linux are not identical: `DispatchQueue.main` creates one for each access.
package enum MainQueue {
    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the running code was submitted to the main queue, or to a queue that targets it.
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
