#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The listener and the watches of a store: a single connection serves observers and watches.
struct PostgreSQLEars: Sendable {
    var listener: PostgreSQLListener?
    var watches: ChangeWatches?
    /// Whether there are, or were, observers. In that case the listener stays for as long as the store is open.
    var isObserved = false
}
#endif
