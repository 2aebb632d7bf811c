internal import PolystoreStorage

/// The format of an index entry: the values of the index's slots, cut at a maximum length, followed by the row key.
struct IndexEntry {
    let slots: [Int]
    private let kinds: [CellKind]
    private let cutLength: Int

    init(_ index: KeyValueLayout.IndexMap, _ core: KeyValueCore) {
        slots = index.slots
        kinds = index.slots.map { core.layout.kinds[index.entity][$0] }
        cutLength = core.indexedBytes
    }

    /// Returns the bytes of the first `count` slots, and whether their values may have been cut.
    func prefix(_ entry: UnsafeRawBufferPointer, slots count: Int) -> (bytes: UnsafeRawBufferPointer, isCut: Bool) {
        let values = UnsafeRawBufferPointer(rebasing: entry.dropLast(8))
        var position = 0
        for slot in 0..<count {
            guard let end = Self.end(of: kinds[slot], values, position) else { return (values, true) }
            position = end
        }
        return (UnsafeRawBufferPointer(rebasing: values[..<position]), false)
    }

    /// Whether the values of an entry may have been cut.
    func isCut(_ entry: UnsafeRawBufferPointer) -> Bool { entry.count - 8 >= cutLength }

    /// Returns the position after the value that begins at `start`, or nil when the value was cut.
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

    /// Sets the cells of the index's slots in a row whose other cells are nil. Returns false when a value was cut.
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

    /// Returns a cell for the bytes of a value: in place if they contain no zero, otherwise a copy without the escape bytes that follow
    /// zeros.
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
