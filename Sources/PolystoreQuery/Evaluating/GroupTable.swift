internal import PolystoreSchema

/// The groups of rows, found by the cells of their keys. A row of a known group needs no value and no allocation.
///
/// An open-addressed table of positions, at most half full. The hash is seeded, so that no caller can choose keys that collide.
struct GroupTable {
    private let width: Int
    private let seed = UInt64.random(in: 0 ... .max) | 1
    /// The keys of the groups, one row each.
    private let keys: RowBatch
    private var hashes: ContiguousArray<UInt64> = []
    /// Positions of groups plus one; 0 for an empty slot.
    private var table = ContiguousArray<UInt32>(repeating: 0, count: 64)
    /// The last group. Consecutive rows often belong to the same group, for example in the order of an index.
    private var last = 0

    /// Creates an empty table for keys of this number of cells.
    init(width: Int) {
        self.width = width
        keys = RowBatch(capacity: 64)
    }

    var count: Int { hashes.count }

    /// Returns the cells of a group's key.
    func key(_ group: Int) -> UnsafePointer<Cell> { keys.row(group).cells }

    /// Returns the position of the group with a key. A position equal to the previous number of groups means a new group.
    @inline(__always)
    mutating func group(_ key: UnsafePointer<Cell>) -> Int {
        if last < hashes.count, isEqual(key, last) { return last }
        last = find(key)
        return last
    }

    private mutating func find(_ key: UnsafePointer<Cell>) -> Int {
        let hash = hash(key), mask = table.count - 1
        var position = Int(truncatingIfNeeded: hash) & mask
        while table[position] != 0 {
            let group = Int(table[position]) - 1
            if hashes[group] == hash, isEqual(key, group) { return group }
            position = (position + 1) & mask
        }
        hashes.append(hash)
        keys.append(copying: RowView(key: 0, version: 0, entity: 0, cells: key), slots: width)
        table[position] = UInt32(hashes.count)
        if hashes.count * 2 > table.count { grow() }
        return hashes.count - 1
    }

    private mutating func grow() {
        table = ContiguousArray(repeating: 0, count: table.count * 2)
        let mask = table.count - 1
        for (group, hash) in hashes.enumerated() {
            var position = Int(truncatingIfNeeded: hash) & mask
            while table[position] != 0 { position = (position + 1) & mask }
            table[position] = UInt32(group + 1)
        }
    }

    @inline(__always)
    private func isEqual(_ key: UnsafePointer<Cell>, _ group: Int) -> Bool {
        let other = keys.row(group).cells
        for slot in 0..<width {
            let a = key[slot], b = other[slot]
            if a.kind != b.kind || a.length != b.length { return false }
            switch a.kind {
            case .null, .int, .real: if a.bits != b.bits { return false }
            case .text, .blob: if a.bits != b.bits, !Self.isEqual(a.bytes, b.bytes) { return false }
            }
        }
        return true
    }

    @inline(__always)
    private static func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        var words = Words(a), others = Words(b)
        while let word = words.next() { if others.next() != word { return false } }
        return true
    }

    /// Multiplies and folds as wyhash does (Wang Yi, 2019).
    @inline(__always)
    private func hash(_ key: UnsafePointer<Cell>) -> UInt64 {
        var hash = seed
        for slot in 0..<width {
            let cell = key[slot]
            hash = mix(hash, UInt64(cell.kind.rawValue) ^ UInt64(cell.length) &<< 8)
            switch cell.kind {
            case .null: break
            case .int, .real: hash = mix(hash, cell.bits)
            case .text, .blob:
                var words = Words(cell.bytes)
                while let word = words.next() { hash = mix(hash, word) }
            }
        }
        return hash
    }

    @inline(__always)
    private func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: seed ^ 0x9e37_79b9_7f4a_7c15 | 1)
        return product.high ^ product.low &+ 0xd1b5_4a32_d192_ed03
    }

    /// The bytes in words of eight, the last of which may overlap the one before; fewer than eight bytes are one word. Their number is
    /// compared and hashed separately.
    private struct Words {
        private let bytes: UnsafeRawBufferPointer
        private var offset = 0

        @inline(__always)
        init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        @inline(__always)
        mutating func next() -> UInt64? {
            guard offset < bytes.count, let start = bytes.baseAddress else { return nil }
            defer { offset &+= 8 }
            if offset &+ 8 <= bytes.count { return start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
            // The last eight bytes, if there are at least eight, overlapping the previous word.
            if bytes.count >= 8 { return start.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self) }
            var word: UInt64 = 0
            for index in offset..<bytes.count { word = word &<< 8 | UInt64(start.load(fromByteOffset: index, as: UInt8.self)) }
            return word
        }
    }
}
