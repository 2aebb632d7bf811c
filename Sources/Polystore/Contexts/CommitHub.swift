internal import PolystoreStorage
internal import Synchronization

/// Tells the contexts of a stack what was committed.
final class CommitHub: Sendable {
    /// The rows that a commit changed or deleted, by store and root entity.
    typealias Keys = [Place: Set<Int64>]

    struct Place: Hashable, Sendable {
        let store: Int
        let root: EntityIndex
    }

    /// What was committed since a context last looked.
    final class Mailbox: Sendable {
        /// More keys than this are not remembered: everything is read again then.
        private static let mostKeys = 10_000

        struct Contents: Sendable {
            var keys: Keys = [:]
            var stores: Set<Int> = []
            var isOverfull = false
            var isEmpty: Bool { stores.isEmpty }
        }

        private let contents = Mutex(Contents())

        func put(_ keys: Keys, _ stores: Set<Int>) {
            contents.withLock { contents in
                contents.stores.formUnion(stores)
                if contents.isOverfull { return }
                contents.keys.merge(keys) { $0.union($1) }
                if contents.keys.values.reduce(0, { $0 + $1.count }) > Self.mostKeys {
                    contents.isOverfull = true
                    contents.keys = [:]
                }
            }
        }

        /// Remembers that everything is to be read again.
        func putBack(_ stores: Set<Int>) {
            contents.withLock { contents in
                contents.stores.formUnion(stores)
                contents.isOverfull = true
                contents.keys = [:]
            }
        }

        func take() -> Contents {
            contents.withLock { contents in
                defer { contents = Contents() }
                return contents
            }
        }
    }

    private struct Subscriber: Sendable {
        weak var mailbox: Mailbox?
    }

    private let subscribers = Mutex<[Subscriber]>([])

    func subscribe(_ mailbox: Mailbox) {
        subscribers.withLock { subscribers in
            subscribers.removeAll { $0.mailbox == nil }
            subscribers.append(Subscriber(mailbox: mailbox))
        }
    }

    /// Hands on what a transaction has committed; costs nothing where nobody listens.
    func publish(_ tracker: ChangeTracker) {
        let mailboxes = subscribers.withLock { $0.compactMap(\.mailbox) }
        if mailboxes.isEmpty { return }
        var keys = tracker.written.rows.keys, stores = tracker.written.rows.stores
        for object in [tracker.written.changed, tracker.written.deleted].joined() {
            let place = Place(store: Int(object._store), root: object.description.root)
            keys[place, default: []].insert(object._key)
            stores.insert(place.store)
        }
        for object in tracker.written.inserted { stores.insert(Int(object._store)) }
        stores.formUnion(tracker.written.linkedStores)
        for mailbox in mailboxes {
            mailbox.put(keys, stores)
            if !tracker.written.rows.executed.isEmpty { mailbox.putBack(tracker.written.rows.executed) }
        }
    }
}
