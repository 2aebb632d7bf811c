internal import Synchronization

/// Where the items of a list are: made when it is first asked, then shared by all copies of the list.
final class ItemIndex: Sendable {
    private let table = Mutex<ItemTable?>(nil)

    /// The position of an item in the list that the index belongs to.
    func position(of item: ListContents.Item, in items: ContiguousArray<ListContents.Item>) -> Int? {
        table.withLock { table in
            if let table { return table.index(of: item) }
            let made = ItemTable(items, at: Array(items.indices))
            table = made
            return made.index(of: item)
        }
    }
}
