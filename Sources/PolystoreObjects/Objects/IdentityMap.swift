internal import PolystoreStorage

/// The living objects of one hierarchy in a context, by primary key. The map does not retain them.
///
/// Keys are mostly assigned and read in sequence. Therefore eight consecutive keys share a page of eight addresses, and a hash table with
/// open addressing finds the page by its number. The page that was used last is tried first: reading or releasing objects in key order
/// accesses the table once per eight objects, and 100 000 objects take 1.2 MB, where a flat table took 8 MB. Eight consecutive pages are
/// adjacent in the table (one cache line), while blocks of eight are scattered. An entry of the table is removed by shifting its followers
/// back (Knuth, volume 3, 6.4, algorithm R), so that there are no tombstones to skip.
package final class IdentityMap {
    /// The addresses for eight consecutive keys.
    private struct Chunk {
        /// The key without its last three bits.
        var number: Int64
        var count: Int
        var objects: (Address, Address, Address, Address, Address, Address, Address, Address)
    }

    private typealias Address = UnsafeMutableRawPointer?
    private typealias ChunkPointer = UnsafeMutablePointer<Chunk>

    @exclusivity(unchecked) private var pages: UnsafeMutablePointer<ChunkPointer?>
    @exclusivity(unchecked) private var mask = 15
    @exclusivity(unchecked) private var shift: UInt64 = 64 - 4
    @exclusivity(unchecked) private var count = 0
    /// The page that was used last; `none` after its removal.
    @exclusivity(unchecked) private var last: ChunkPointer
    /// A page with a number that no key has.
    private let none: ChunkPointer
    /// An empty page for reuse, so that repeatedly creating and releasing a single object does not allocate.
    @exclusivity(unchecked) private var spare: ChunkPointer?

    init() {
        pages = .allocate(capacity: 16)
        pages.initialize(repeating: nil, count: 16)
        none = .allocate(capacity: 1)
        none.initialize(to: Chunk(number: .max, count: 1, objects: (nil, nil, nil, nil, nil, nil, nil, nil)))
        last = none
    }

    deinit {
        for index in 0...mask { pages[index]?.deallocate() }
        pages.deallocate()
        none.deallocate()
        spare?.deallocate()
    }

    /// Returns the object with a key.
    @inline(__always)
    package func find(_ key: Int64) -> ManagedObject? {
        let number = key >> 3
        if last.pointee.number != number {
            guard let page = page(number) else { return nil }
            last = page
        }
        guard let address = Self.slot(last, key).pointee else { return nil }
        return Unmanaged<ManagedObject>.fromOpaque(address).takeUnretainedValue()
    }

    /// Adds an object whose key is not in the map.
    @inline(__always)
    func insert(_ object: ManagedObject) {
        let key = object._key
        if last.pointee.number != key >> 3 { last = page(key >> 3) ?? addPage(key >> 3) }
        Self.slot(last, key).pointee = Unmanaged.passUnretained(object).toOpaque()
        last.pointee.count &+= 1
    }

    /// Removes an object if the map contains it under its key.
    @inline(__always)
    func remove(_ key: Int64, _ object: UnsafeMutableRawPointer) {
        if last.pointee.number != key >> 3 {
            guard let page = page(key >> 3) else { return }
            last = page
        }
        let slot = Self.slot(last, key)
        guard slot.pointee == object else { return }
        slot.pointee = nil
        last.pointee.count &-= 1
        if last.pointee.count == 0 { removeLastPage() }
    }

    /// All living objects, sorted by key.
    var objects: [ManagedObject] { unsortedObjects.sorted { $0._key < $1._key } }

    /// All living objects.
    var unsortedObjects: [ManagedObject] {
        var found: [ManagedObject] = []
        for index in 0...mask {
            guard let page = pages[index] else { continue }
            for key in Int64(0)..<8 {
                if let address = Self.slot(page, key).pointee {
                    found.append(Unmanaged<ManagedObject>.fromOpaque(address).takeUnretainedValue())
                }
            }
        }
        return found
    }

    /// An upper bound of the number of objects.
    var most: Int { count &* 8 }

    @inline(__always)
    private static func slot(_ page: ChunkPointer, _ key: Int64) -> UnsafeMutablePointer<Address> {
        let objects = UnsafeMutableRawPointer(page) + MemoryLayout<Chunk>.offset(of: \.objects).unsafelyUnwrapped
        return objects.assumingMemoryBound(to: Address.self) + Int(truncatingIfNeeded: key & 7)
    }

    @inline(__always)
    private func home(_ number: Int64) -> Int {
        let bits = UInt64(bitPattern: number)
        let scattered = ((bits &>> 3) &* 0x9E37_79B9_7F4A_7C15) &>> shift
        return Int(truncatingIfNeeded: (scattered & ~7) | (bits & 7))
    }

    private func page(_ number: Int64) -> ChunkPointer? {
        var index = home(number)
        while let page = pages[index] {
            if page.pointee.number == number { return page }
            index = (index &+ 1) & mask
        }
        return nil
    }

    @inline(never)
    private func addPage(_ number: Int64) -> ChunkPointer {
        if count &* 2 > mask { grow() }
        let page = spare ?? .allocate(capacity: 1)
        spare = nil
        page.initialize(to: Chunk(number: number, count: 0, objects: (nil, nil, nil, nil, nil, nil, nil, nil)))
        place(page)
        count &+= 1
        return page
    }

    private func place(_ page: ChunkPointer) {
        var index = home(page.pointee.number)
        while pages[index] != nil { index = (index &+ 1) & mask }
        pages[index] = page
    }

    @inline(never)
    private func removeLastPage() {
        var gap = home(last.pointee.number)
        while pages[gap] != last { gap = (gap &+ 1) & mask }
        var index = (gap &+ 1) & mask
        while let page = pages[index] {
            // The follower may move back only if its home position is not after the gap.
            if ((index &- home(page.pointee.number)) & mask) >= ((index &- gap) & mask) {
                pages[gap] = page
                gap = index
            }
            index = (index &+ 1) & mask
        }
        pages[gap] = nil
        count &-= 1
        if spare == nil { spare = last } else { last.deallocate() }
        last = none
    }

    @inline(never)
    private func grow() {
        let old = pages, oldCount = mask + 1, capacity = oldCount * 4
        pages = .allocate(capacity: capacity)
        pages.initialize(repeating: nil, count: capacity)
        mask = capacity - 1
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        for index in 0..<oldCount { if let page = old[index] { place(page) } }
        old.deallocate()
    }
}
