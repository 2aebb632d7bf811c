internal import PolystoreKeyValue
internal import PolystoreStorage

/// A position in a map.
final class MemoryCursor: OrderedCursor {
    private let map: MemoryMap
    @exclusivity(unchecked) private var position = MemoryMap.Position(index: -1)
    /// The page of the position, kept because looking it up in the map would count references at every step.
    @exclusivity(unchecked) var page: MemoryPage?

    init(_ map: MemoryMap) {
        self.map = map
        page = map.page(position)
    }

    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        position = map.seek(key)
        page = map.page(position)
        return page != nil
    }

    func next() throws(StorageError) -> Bool {
        guard let page else { return false }
        if position.index + 1 < page.entries.count {
            position.index += 1
            return true
        }
        position = map.next(position)
        self.page = map.page(position)
        return self.page != nil
    }

    func previous() throws(StorageError) -> Bool {
        if position.index > 0 {
            position.index -= 1
        } else if let before = map.previous(position) {
            position = before
            page = map.page(before)
        } else {
            page = nil
        }
        return page != nil
    }

    func last() throws(StorageError) -> Bool {
        page =
            map.last.map { place in
                position = place
                return map.page(place)
            } ?? nil
        return page != nil
    }

    var key: UnsafeRawBufferPointer { page.map { $0.key(position.index) } ?? UnsafeRawBufferPointer(start: nil, count: 0) }
    var value: UnsafeRawBufferPointer { page.map { $0.value(position.index) } ?? UnsafeRawBufferPointer(start: nil, count: 0) }
}
