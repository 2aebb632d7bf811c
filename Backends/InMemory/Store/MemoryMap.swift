internal import PolystoreStorage

/// An ordered map as a list of segments of pages. A copy, which is what a snapshot is, costs one retained array.
struct MemoryMap: Sendable {
    /// The position of a pair. Past the end, its segment is the number of segments.
    struct Position {
        var segment = 0
        var page = 0
        var index = 0
    }

    private(set) var segments: [MemorySegment] = []
    private(set) var count = 0

    /// Returns the position of the segment that contains a key or would contain it.
    private func segment(for key: UnsafeRawBufferPointer) -> Int {
        var low = 0, high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if compareBytes(segments[middle].pages[0].key(0), key) <= 0 { low = middle + 1 } else { high = middle }
        }
        return max(low - 1, 0)
    }

    /// Returns the position of the first key that is not below `key`.
    func seek(_ key: UnsafeRawBufferPointer) -> Position {
        if segments.isEmpty { return Position() }
        let number = segment(for: key), segment = segments[number], page = segment.page(for: key)
        return settled(Position(segment: number, page: page, index: segment.pages[page].find(key).index))
    }

    /// Returns the next position.
    func next(_ position: Position) -> Position {
        settled(Position(segment: position.segment, page: position.page, index: position.index + 1))
    }

    /// Returns the position of the last pair of the previous page, or nil at the beginning.
    func previous(_ position: Position) -> Position? {
        var segment = position.segment, page = position.page - 1
        if page < 0 {
            segment -= 1
            guard segment >= 0 else { return nil }
            page = segments[segment].pages.count - 1
        }
        return Position(segment: segment, page: page, index: segments[segment].pages[page].entries.count - 1)
    }

    /// The position of the last pair; nil when the map is empty.
    var last: Position? { previous(Position(segment: segments.count)) }

    /// Returns a position that may be one past the end of its page as the first position of the next page.
    @inline(__always)
    private func settled(_ position: Position) -> Position {
        let pages = segments[position.segment].pages
        if position.index < pages[position.page].entries.count { return position }
        if position.page + 1 < pages.count { return Position(segment: position.segment, page: position.page + 1) }
        return Position(segment: position.segment + 1)
    }

    /// Returns the page of a position, or nil past the end.
    @inline(__always)
    func page(_ position: Position) -> MemoryPage? {
        position.segment < segments.count ? segments[position.segment].pages[position.page] : nil
    }

    func get(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if segments.isEmpty { return nil }
        let segment = segments[segment(for: key)]
        let page = segment.pages[segment.page(for: key)]
        let (index, isEqual) = page.find(key)
        return isEqual ? page.value(index) : nil
    }

    var lastKey: UnsafeRawBufferPointer? {
        last.flatMap { position in page(position)?.key(position.index) }
    }

    /// Returns the segment at a position, which is copied first if it belongs to another generation.
    mutating func own(_ index: Int, _ generation: Int) -> MemorySegment {
        if segments[index].generation == generation { return segments[index] }
        let copy = MemorySegment(segments[index].pages, generation: generation)
        segments[index] = copy
        return copy
    }

    /// Reserves space for the value of a key, and replaces an existing value.
    mutating func put(_ key: UnsafeRawBufferPointer, _ valueCount: Int, _ generation: Int) -> UnsafeMutableRawPointer {
        if segments.isEmpty { return append(key, valueCount, generation) }
        let number = segment(for: key), segment = own(number, generation), position = segment.page(for: key)
        var page = segment.own(position)
        var (index, isEqual) = page.find(key)
        if isEqual {
            page.remove(at: index)
            count -= 1
        }
        let isLast = number == segments.count - 1 && position == segment.pages.count - 1
        if isLast, index == page.entries.count, !isEqual { return append(key, valueCount, generation) }
        if !page.fits(key.count, valueCount) {
            (page, index) = Self.makeRoom(segment, position, index, key.count, valueCount)
            split(number)
        }
        count += 1
        return page.insert(key, valueCount, at: index)
    }

    /// Reserves space for the value of a key that is greater than all keys of the map.
    mutating func append(_ key: UnsafeRawBufferPointer, _ valueCount: Int, _ generation: Int) -> UnsafeMutableRawPointer {
        count += 1
        // A page of an earlier transaction is copied and filled up: a separate page for each transaction would be sixteen kilobytes for one
        // row.
        if let last = segments.last, let page = last.pages.last, page.fits(key.count, valueCount) {
            let segment = own(segments.count - 1, generation)
            let page = segment.own(segment.pages.count - 1)
            if page.fits(key.count, valueCount) { return page.insert(key, valueCount, at: page.entries.count) }
        }
        let page = MemoryPage(generation: generation, capacity: max(MemoryPage.usualBytes, key.count + valueCount + 8))
        if let last = segments.last, last.pages.count < MemorySegment.mostPages {
            own(segments.count - 1, generation).pages.append(page)
        } else {
            segments.append(MemorySegment([page], generation: generation))
        }
        return page.insert(key, valueCount, at: 0)
    }

    /// Splits a full page so that a pair fits at an index. An empty half is dropped.
    private static func makeRoom(
        _ segment: MemorySegment, _ position: Int, _ index: Int, _ keyCount: Int, _ valueCount: Int
    ) -> (MemoryPage, Int) {
        let page = segment.pages[position], count = page.entries.count, generation = segment.generation
        let middle = count / 2
        if count > 1 {
            let low = page.copy(0..<middle, generation: generation), high = page.copy(middle..<count, generation: generation)
            let (half, place) = index <= middle ? (low, index) : (high, index - middle)
            if half.fits(keyCount, valueCount) {
                segment.pages.replaceSubrange(position...position, with: [low, high])
                return (half, place)
            }
        }
        // A pair that is too large for either half gets its own page between the pairs before and after it.
        let own = MemoryPage(generation: generation, capacity: max(MemoryPage.usualBytes, keyCount + valueCount + 8))
        let before = page.copy(0..<index, generation: generation), after = page.copy(index..<count, generation: generation)
        let parts = [before].filter { !$0.entries.isEmpty } + [own] + [after].filter { !$0.entries.isEmpty }
        segment.pages.replaceSubrange(position...position, with: parts)
        return (own, 0)
    }

    /// Splits a segment that has become too long into two.
    private mutating func split(_ number: Int) {
        let segment = segments[number]
        if segment.pages.count <= MemorySegment.mostPages { return }
        let middle = segment.pages.count / 2
        segments.insert(MemorySegment(ContiguousArray(segment.pages[middle...]), generation: segment.generation), at: number + 1)
        segment.pages.removeSubrange(middle...)
    }

    /// Removes a key. Returns false if the map does not contain it.
    mutating func delete(_ key: UnsafeRawBufferPointer, _ generation: Int) -> Bool {
        if segments.isEmpty { return false }
        let number = segment(for: key), position = segments[number].page(for: key)
        let (index, isEqual) = segments[number].pages[position].find(key)
        guard isEqual else { return false }
        let segment = own(number, generation)
        segment.own(position).remove(at: index)
        if segment.pages[position].entries.isEmpty { segment.pages.remove(at: position) }
        if segment.pages.isEmpty { segments.remove(at: number) }
        count -= 1
        return true
    }
}
