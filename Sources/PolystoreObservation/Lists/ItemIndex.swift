internal import Synchronization

/// The positions of the items of a list, computed at the first lookup, then shared by all copies of the list.
final class ItemIndex: Sendable {
    private let table = Mutex<ItemTable?>(nil)

    /// Returns the position of an item in the list of the index.
    func position(of item: ListContents.Item, in items: ContiguousArray<ListContents.Item>) -> Int? {
        table.withLock { table in
            if let table { return table.index(of: item) }
            let made = ItemTable(items, at: Array(items.indices))
            table = made
            return made.index(of: item)
        }
    }
}
