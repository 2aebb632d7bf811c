internal import Foundation
internal import PolystoreStorage

/// A transaction of another instance or of another program, which observers of a store are notified of or not.
enum PeerWork: String, Sendable {
    /// A new item, which the history records.
    case insertion
    /// A new tag, which the history records.
    case tag
    /// A bulk load of an item, which the history does not record.
    case load
    /// A bulk load of a pair of an item and a tag.
    case pair
    /// Transactions that are of no interest to observers.
    case quiet
    /// A migration to another version of the model.
    case migration
}

/// Another instance of a store at the same location: in this process, or in another one if a process can open the location only once.
protocol WatchingPeer {
    /// Performs transactions, and returns when they are committed.
    func perform(_ work: PeerWork) throws
    /// Closes the store.
    func end()
}

extension Scratch: WatchingPeer {
    func perform(_ work: PeerWork) throws {
        switch work {
        case .insertion: try insert("Item", [["number": .int(1)]])
        case .tag: try insert("Tag", [["name": .string("a")]])
        case .load: try WatchingScene.load(self)
        case .pair: try write { try $0.load(link: 0, [LinkPair(owner: 1, member: 1)]) }
        case .quiet: try WatchingScene.writeQuietly(self)
        case .migration: try WatchingScene.migrate(self)
        }
    }

    func end() { try? store.close() }
}
