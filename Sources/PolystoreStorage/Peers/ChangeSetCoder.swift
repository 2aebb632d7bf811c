internal import PolystoreFoundation

/// Encodes change sets, which a store keeps for another store until that store has applied them.
///
/// Integers are variable-length (LEB128). A change set consists of the number of entities, each with its index, keys to delete, updates
/// (mask, rows) and inserts, followed by the number of link tables, each with pairs to remove and to add. A row consists of its key, its
/// version, and the cells of the mask; a cell of its kind and its value. When changes are repeated, rows must have the versions that they
/// originally had, as far as these are known. Version 0 is unknown.
struct ChangeSetCoder {
    private let schema: Schema
    /// Whether the bytes contain the original versions. Those of the first format do not.
    private let isVersioned: Bool

    init(_ schema: Schema, isVersioned: Bool = true) {
        self.schema = schema
        self.isVersioned = isVersioned
    }

    func encode(_ changes: ChangeSet) throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        Varint.append(UInt64(changes.entities.count), to: &bytes)
        for change in changes.entities { try encode(change, &bytes) }
        Varint.append(UInt64(changes.links.count), to: &bytes)
        for change in changes.links {
            Varint.append(UInt64(change.link), to: &bytes)
            for pairs in [change.removed, change.added] {
                Varint.append(UInt64(pairs.count), to: &bytes)
                for pair in pairs { for number in [pair.owner, pair.rank, pair.member] { Self.append(number, &bytes) } }
            }
        }
        return bytes
    }

    private func encode(_ change: EntityChanges, _ bytes: inout [UInt8]) throws(StorageError) {
        Varint.append(UInt64(change.entity), to: &bytes)
        Varint.append(UInt64(change.deletes.count), to: &bytes)
        for deletion in change.deletes {
            Self.append(deletion.key, &bytes)
            Self.append(deletion.version, &bytes)
        }
        Varint.append(UInt64(change.updates.count), to: &bytes)
        for update in change.updates {
            Varint.append(update.mask.low, to: &bytes)
            Varint.append(UInt64(update.mask.high.count), to: &bytes)
            for word in update.mask.high { Varint.append(word, to: &bytes) }
            try encode(update.rows, update.mask.slots, &bytes)
        }
        if let inserts = change.inserts {
            try encode(inserts, Array(schema[change.entity].slots.indices), &bytes)
        } else {
            Varint.append(0, to: &bytes)
        }
    }

    private func encode(_ rows: RowSource, _ slots: [Int], _ bytes: inout [UInt8]) throws(StorageError) {
        Varint.append(UInt64(rows.count), to: &bytes)
        var buffer = bytes
        bytes = []
        try rows.forEachBatch(RowBatch(capacity: 512)) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                Self.append(row.key, &buffer)
                Self.append(row.version, &buffer)
                for slot in slots { Self.append(row[slot], &buffer) }
            }
        }
        bytes = buffer
    }

    private static func append(_ number: Int64, _ bytes: inout [UInt8]) { Varint.append(Varint.zigzag(number), to: &bytes) }

    private static func append(_ cell: Cell, _ bytes: inout [UInt8]) {
        bytes.append(cell.kind.rawValue)
        switch cell.kind {
        case .null: break
        case .int: append(cell.int, &bytes)
        case .real: withUnsafeBytes(of: cell.bits.littleEndian) { bytes.append(contentsOf: $0) }
        case .text, .blob:
            Varint.append(UInt64(cell.length), to: &bytes)
            bytes.append(contentsOf: cell.bytes)
        }
    }

    /// Decodes a change set. Returns nil if the bytes are ill-formed. The rows stay in memory as long as the result.
    func decode(_ reader: inout Varint.Reader) -> ChangeSet? {
        var changes = ChangeSet()
        guard let entities = reader.count() else { return nil }
        for _ in 0..<entities {
            guard let change = entity(&reader) else { return nil }
            changes.entities.append(change)
        }
        guard let links = reader.count() else { return nil }
        for _ in 0..<links {
            guard let link = reader.count(), schema.links.indices.contains(link), let removed = pairs(&reader), let added = pairs(&reader)
            else { return nil }
            changes.links.append(LinkChanges(link: link, removed: removed, added: added))
        }
        return changes
    }

    private func entity(_ reader: inout Varint.Reader) -> EntityChanges? {
        guard let entity = reader.count(), schema.entities.indices.contains(entity), let deletes = reader.count() else { return nil }
        var change = EntityChanges(entity: entity)
        for _ in 0..<deletes {
            guard let key = reader.number(), let version = isVersioned ? reader.number() : 0 else { return nil }
            change.deletes.append(RowDeletion(key: key, expectedVersion: version == 0 ? nil : version))
        }
        guard let updates = reader.count() else { return nil }
        for _ in 0..<updates {
            guard let mask = mask(&reader), let (rows, hasVersions) = rows(&reader, entity, mask.slots) else { return nil }
            change.updates.append(RowUpdate(mask: mask, checksVersion: isVersioned && hasVersions, rows: rows))
        }
        guard let (inserts, _) = rows(&reader, entity, Array(schema[entity].slots.indices)) else { return nil }
        if inserts.count > 0 { change.inserts = inserts }
        return change
    }

    private func mask(_ reader: inout Varint.Reader) -> SlotMask? {
        guard let low = reader.next(), let count = reader.count() else { return nil }
        var high: [UInt64] = []
        for _ in 0..<count {
            guard let word = reader.next() else { return nil }
            high.append(word)
        }
        return SlotMask(low: low, high: high)
    }

    private func pairs(_ reader: inout Varint.Reader) -> [LinkPair]? {
        guard let count = reader.count() else { return nil }
        var result: [LinkPair] = []
        for _ in 0..<count {
            guard let owner = reader.number(), let rank = reader.number(), let member = reader.number() else { return nil }
            result.append(LinkPair(owner: owner, rank: rank, member: member))
        }
        return result
    }

    /// Decodes rows, and returns whether the version of each row is known.
    private func rows(_ reader: inout Varint.Reader, _ entity: EntityIndex, _ slots: [Int]) -> (RowSource, isVersioned: Bool)? {
        guard let count = reader.count() else { return nil }
        let width = schema[entity].slots.count
        guard slots.allSatisfy({ $0 < width }) else { return nil }
        let held = RowBatch(capacity: max(count, 1))
        var isVersioned = true
        for _ in 0..<count {
            guard let key = reader.number(), let version = reader.number() else { return nil }
            if version == 0 { isVersioned = false }
            let cells = held.appendRow(key: key, version: version, entity: entity, slots: width)
            cells.update(repeating: .null, count: width)
            for slot in slots {
                guard let cell = cell(&reader, held) else { return nil }
                held.mutableCells(held.count - 1)[slot] = cell
            }
        }
        let source = RowSource(count: count) { range, batch in
            for index in range { batch.append(copying: held.row(index), slots: width) }
        }
        return (source, isVersioned)
    }

    private func cell(_ reader: inout Varint.Reader, _ held: RowBatch) -> Cell? {
        guard let kind = reader.byte().flatMap(CellKind.init(rawValue:)) else { return nil }
        switch kind {
        case .null: return .null
        case .int: return reader.number().map(Cell.int)
        case .real:
            guard let bytes = reader.bytes(8) else { return nil }
            return Cell(bits: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)), length: 0, kind: .real)
        case .text, .blob:
            guard let count = reader.count(), let bytes = reader.bytes(count) else { return nil }
            return Cell(bits: UInt64(UInt(bitPattern: held.copy(bytes))), length: UInt32(truncatingIfNeeded: count), kind: kind)
        }
    }
}

extension Varint.Reader {
    /// Reads the number of elements that follow. The number must not exceed the remaining bytes by more than 1,000,000, so that a damaged
    /// count cannot exhaust the memory.
    mutating func count() -> Int? {
        guard let number = next(), number <= UInt64(remaining) + 1_000_000 else { return nil }
        return Int(number)
    }

    mutating func number() -> Int64? { next().map(Varint.unzigzag) }
}
