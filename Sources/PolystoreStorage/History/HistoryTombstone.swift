/// The encoding of the preserved values of a deleted object: the number of slots, then for each slot its number, a byte for the kind of its
/// value, and the value.
///
/// The bytes contain the type of each value, so they remain readable whatever changes the model undergoes.
enum HistoryTombstone {
    private static let null: UInt8 = 0
    private static let types = Dictionary(ValueType.allCases.map { ($0.tombstone, $0.base) }, uniquingKeysWith: { first, _ in first })

    static func bytes(_ values: [Int: Value]) -> [UInt8] {
        var bytes: [UInt8] = []
        Varint.append(UInt64(values.count), to: &bytes)
        for (slot, value) in values.sorted(by: { $0.key < $1.key }) {
            Varint.append(UInt64(slot), to: &bytes)
            append(value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        guard let type = value.type else { return bytes.append(null) }
        value.withCell { cell in
            // There is one byte for each Boolean.
            if type == .bool { return bytes.append(type.tombstone + UInt8(cell.int)) }
            bytes.append(type.tombstone)
            switch cell.kind {
            case .null: break
            case .int: Varint.append(Varint.zigzag(cell.int), to: &bytes)
            case .real: withUnsafeBytes(of: cell.bits.littleEndian) { bytes.append(contentsOf: $0) }
            case .text, .blob:
                if type != .uuid { Varint.append(UInt64(cell.length), to: &bytes) }
                bytes.append(contentsOf: cell.bytes)
            }
        }
    }

    /// Decodes the values at the reader's position. Returns nil if they are ill-formed.
    static func values(_ reader: inout Varint.Reader) -> [Int: Value]? {
        guard let count = reader.next(), count <= UInt64(reader.remaining) else { return nil }
        var values: [Int: Value] = [:]
        for _ in 0..<count {
            guard let slot = reader.next(), slot <= 1 << 31, let value = value(&reader) else { return nil }
            values[Int(slot)] = value
        }
        return values
    }

    private static func value(_ reader: inout Varint.Reader) -> Value? {
        guard let byte = reader.byte() else { return nil }
        if byte == null { return .null }
        if byte == ValueType.bool.tombstone + 1 { return .bool(true) }
        guard let type = types[byte] else { return nil }
        if type == .bool { return .bool(false) }
        return cell(&reader, type).flatMap { Value($0, as: type) }
    }

    private static func cell(_ reader: inout Varint.Reader, _ type: ValueType) -> Cell? {
        switch type.cellKind {
        case .null: return nil
        case .int: return reader.number().map(Cell.int)
        case .real:
            guard let bytes = reader.bytes(8) else { return nil }
            return .real(Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))))
        case .text: return content(&reader).map { .text($0) }
        case .blob: return (type == .uuid ? reader.bytes(16) : content(&reader)).map { .blob($0) }
        }
    }

    private static func content(_ reader: inout Varint.Reader) -> UnsafeRawBufferPointer? {
        guard let count = reader.next(), count <= UInt64(reader.remaining) else { return nil }
        return reader.bytes(Int(count))
    }
}
