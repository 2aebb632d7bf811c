internal import PolystoreStorage

/// A sequence of adjacent pages. Like a page, a segment belongs to the generation that created it and does not change once published: a
/// transaction copies only the few segments that it changes, whatever the size of the map.
///
/// Unchecked: the only thread that holds the write lock writes a segment, before publishing it through the store's lock.
final class MemorySegment: @unchecked Sendable {
    static let mostPages = 128

    let generation: Int
    @exclusivity(unchecked) var pages: ContiguousArray<MemoryPage>

    init(_ pages: ContiguousArray<MemoryPage>, generation: Int) {
        self.generation = generation
        self.pages = pages
    }

    /// Returns the page at a position, which is copied first if it belongs to another generation.
    func own(_ index: Int) -> MemoryPage {
        if pages[index].generation == generation { return pages[index] }
        let copy = pages[index].copy(generation: generation)
        pages[index] = copy
        return copy
    }

    /// Returns the position of the page that contains a key or would contain it.
    func page(for key: UnsafeRawBufferPointer) -> Int {
        var low = 0, high = pages.count
        while low < high {
            let middle = (low + high) / 2
            if compareBytes(pages[middle].key(0), key) <= 0 { low = middle + 1 } else { high = middle }
        }
        return max(low - 1, 0)
    }
}
