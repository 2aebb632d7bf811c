internal import PolystoreStorage

/// How an entry of an index is read: the values of its slots, cut at a length, then the key of the row.
struct IndexEntry {
    let slots: [Int]
    private let kinds: [CellKind]
    private let cutLength: Int

    init(_ index: KeyValueLayout.IndexMap, _ core: KeyValueCore) {
        slots = index.slots
        kinds = index.slots.map { core.layout.kinds[index.entity][$0] }
        cutLength = core.indexedBytes
    }

    /// The bytes of the first slots, and whether they may have been cut.
    func prefix(_ entry: UnsafeRawBufferPointer, slots count: Int) -> (bytes: UnsafeRawBufferPointer, isCut: Bool) {
        let values = UnsafeRawBufferPointer(rebasing: entry.dropLast(8))
        var position = 0
        for slot in 0..<count {
            guard let end = Self.end(of: kinds[slot], values, position) else { return (values, true) }
            position = end
        }
        return (UnsafeRawBufferPointer(rebasing: values[..<position]), false)
    }

    /// Whether values may have been cut.
    func isCut(_ entry: UnsafeRawBufferPointer) -> Bool { entry.count - 8 >= cutLength }

    /// Where a value ends that begins at a position; nil when it was cut.
    private static func end(of kind: CellKind, _ values: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        guard start < values.count else { return nil }
        if values[start] == 0 { return start + 1 }
        switch kind {
        case .null: return start + 1
        case .int, .real: return start + 9 <= values.count ? start + 9 : nil
        case .text, .blob:
            var position = start + 1
            while position + 1 < values.count {
                if values[position] == 0 {
                    if values[position + 1] == 1 { return position + 2 }
                    position += 1
                }
                position += 1
            }
            return nil
        }
    }

    /// Sets the cells of the slots in a row whose other cells are nil; false when a value was cut.
    func read(_ entry: UnsafeRawBufferPointer, into cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch) -> Bool {
        if isCut(entry) { return false }
        let values = UnsafeRawBufferPointer(rebasing: entry.dropLast(8))
        var position = 0
        for (slot, kind) in zip(slots, kinds) {
            guard let end = Self.end(of: kind, values, position) else { return false }
            let isNull = values[position] == 0
            let bytes = UnsafeRawBufferPointer(rebasing: values[(position + 1)..<end])
            switch kind {
            case _ where isNull: cells[slot] = .null
            case .null: cells[slot] = .null
            case .int: cells[slot] = .int(KeyBytes.key(bytes))
            case .real: cells[slot] = .real(KeyBytes.real(bytes))
            case .text, .blob: cells[slot] = Self.bytes(UnsafeRawBufferPointer(rebasing: bytes.dropLast(2)), kind, batch)
            }
            position = end
        }
        return true
    }

    /// Bytes where they lie, or without the marks that follow zeros among them.
    private static func bytes(_ bytes: UnsafeRawBufferPointer, _ kind: CellKind, _ batch: RowBatch) -> Cell {
        var result = bytes
        if bytes.contains(0) {
            var plain: [UInt8] = [], isMark = false
            for byte in bytes {
                if !isMark { plain.append(byte) }
                isMark = byte == 0 && !isMark
            }
            let start = plain.withUnsafeBytes { batch.copy($0) }
            result = UnsafeRawBufferPointer(start: start, count: plain.count)
        }
        return Cell(bits: UInt64(UInt(bitPattern: result.baseAddress)), length: UInt32(truncatingIfNeeded: result.count), kind: kind)
    }
}
