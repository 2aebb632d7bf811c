internal import PolystoreStorage
internal import Synchronization

/// The stores that the command uses, for messages.
enum UsedStores {
    private static let names = Mutex<Set<String>>([])

    /// Adds a store.
    static func insert(_ url: StoreURL) { names.withLock { _ = $0.insert(url.redacted.excerpt(200)) } }

    /// Removes all stores, because the error that follows is about something else.
    static func removeAll() { names.withLock { $0 = [] } }

    /// Returns the message of an error, with the name of the store if the command uses only one.
    static func message(of error: StorageError) -> String {
        let text = named(error)
        if error.code != .divisionByZero { return text }
        return "\(text) for at least one object; exclude such objects by a condition, such as --where 'divisor != 0'"
    }

    private static func named(_ error: StorageError) -> String {
        let names = names.withLock { $0 }
        guard names.count == 1, let name = names.first, error.message != Console.unwritable, !error.message.contains(name) else {
            return error.message
        }
        return "\(name): \(error.message)"
    }
}
