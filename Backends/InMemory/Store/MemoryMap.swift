internal import PolystoreStorage

/// An ordered map as a list of pages. A copy costs one retained array: that is what a snapshot is.
struct MemoryMap: Sendable {
    private(set) var pages: [MemoryPage] = []
    private(set) var count = 0

    /// The page that a key is in or would be in.
    private func page(for key: UnsafeRawBufferPointer) -> Int {
        var low = 0, high = pages.count
        while low < high {
            let middle = (low + high) / 2
            if compareBytes(pages[middle].key(0), key) <= 0 { low = middle + 1 } else { high = middle }
        }
        return max(low - 1, 0)
    }

    /// The position of the first key that is not below `key`.
    func seek(_ key: UnsafeRawBufferPointer) -> (page: Int, index: Int) {
        if pages.isEmpty { return (0, 0) }
        let page = page(for: key)
        let index = pages[page].find(key).index
        return index < pages[page].entries.count ? (page, index) : (page + 1, 0)
    }

    func get(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if pages.isEmpty { return nil }
        let page = pages[page(for: key)]
        let (index, isEqual) = page.find(key)
        return isEqual ? page.value(index) : nil
    }

    var lastKey: UnsafeRawBufferPointer? { pages.last.map { $0.key($0.entries.count - 1) } }

    /// The page at a position, one of this generation: others are copied first.
    private mutating func own(_ index: Int, _ generation: Int) -> MemoryPage {
        if pages[index].generation == generation { return pages[index] }
        let copy = pages[index].copy(generation: generation)
        pages[index] = copy
        return copy
    }

    /// Room for the value of a key; an older value is replaced.
    mutating func put(_ key: UnsafeRawBufferPointer, _ valueCount: Int, _ generation: Int) -> UnsafeMutableRawPointer {
        if pages.isEmpty { return append(key, valueCount, generation) }
        let position = page(for: key)
        var page = own(position, generation)
        var (index, isEqual) = page.find(key)
        if isEqual {
            page.remove(at: index)
            count -= 1
        }
        if position == pages.count - 1, index == page.entries.count, !isEqual { return append(key, valueCount, generation) }
        if !page.fits(key.count, valueCount) {
            (page, index) = makeRoom(position, index, key.count + valueCount, generation)
        }
        count += 1
        return page.insert(key, valueCount, at: index)
    }

    /// Room for the value of a key that is greater than all.
    mutating func append(_ key: UnsafeRawBufferPointer, _ valueCount: Int, _ generation: Int) -> UnsafeMutableRawPointer {
        count += 1
        // A page of an earlier transaction is copied and filled: one of its own for each would be sixteen kilobytes for one row.
        if let last = pages.last, last.fits(key.count, valueCount) {
            let page = own(pages.count - 1, generation)
            if page.fits(key.count, valueCount) { return page.insert(key, valueCount, at: page.entries.count) }
        }
        let page = MemoryPage(generation: generation, capacity: max(MemoryPage.usualBytes, key.count + valueCount + 8))
        pages.append(page)
        return page.insert(key, valueCount, at: 0)
    }

    /// Splits a full page so that a pair fits at an index; an empty half goes away.
    private mutating func makeRoom(_ position: Int, _ index: Int, _ needed: Int, _ generation: Int) -> (MemoryPage, Int) {
        let page = pages[position], count = page.entries.count
        let middle = count / 2
        var halves = [page.copy(0..<middle, generation: generation), page.copy(middle..<count, generation: generation)]
        halves.removeAll(where: \.entries.isEmpty)
        if needed > MemoryPage.usualBytes / 2 || halves.isEmpty {
            // A large value gets a page of its own, between what comes before and after it.
            let own = MemoryPage(generation: generation, capacity: needed + 16)
            let before = page.copy(0..<index, generation: generation), after = page.copy(index..<count, generation: generation)
            let parts = [before].filter { !$0.entries.isEmpty } + [own] + [after].filter { !$0.entries.isEmpty }
            pages.replaceSubrange(position...position, with: parts)
            return (own, 0)
        }
        pages.replaceSubrange(position...position, with: halves)
        return index <= middle && middle > 0 || halves.count == 1 ? (halves[0], index) : (halves[1], index - middle)
    }

    /// Removes a key; false if it was not there.
    mutating func delete(_ key: UnsafeRawBufferPointer, _ generation: Int) -> Bool {
        if pages.isEmpty { return false }
        let position = page(for: key)
        let (index, isEqual) = pages[position].find(key)
        guard isEqual else { return false }
        own(position, generation).remove(at: index)
        if pages[position].entries.isEmpty { pages.remove(at: position) }
        count -= 1
        return true
    }
}
