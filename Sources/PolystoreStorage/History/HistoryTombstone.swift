internal import Foundation

/// The encoding of the preserved values of a deleted object: the number of slots, then for each slot its number, a byte for the kind of its
/// value, and the value.
///
/// The bytes contain the type of each value, so they remain readable whatever changes the model undergoes.
enum HistoryTombstone {
    private static let null: UInt8 = 0, no: UInt8 = 1, yes: UInt8 = 2, int: UInt8 = 3, double: UInt8 = 4, decimal: UInt8 = 5
    private static let string: UInt8 = 6, date: UInt8 = 7, uuid: UInt8 = 8, data: UInt8 = 9

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
        func append(_ kind: UInt8, _ content: some Collection<UInt8>) {
            bytes.append(kind)
            Varint.append(UInt64(content.count), to: &bytes)
            bytes.append(contentsOf: content)
        }
        func append(_ kind: UInt8, _ number: Int64) {
            bytes.append(kind)
            Varint.append(Varint.zigzag(number), to: &bytes)
        }
        switch value {
        case .null: bytes.append(null)
        case .bool(let value): bytes.append(value ? yes : no)
        case .int(let number): append(int, number)
        case .date(let number): append(date, number)
        case .double(let number):
            bytes.append(double)
            withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        case .decimal(let number): append(decimal, DecimalKey.encode(number))
        case .string(let text): append(string, text.utf8)
        case .uuid(let id):
            bytes.append(uuid)
            withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
        case .data(let content): append(data, content)
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
        func content(_ reader: inout Varint.Reader) -> UnsafeRawBufferPointer? {
            guard let count = reader.next(), count <= UInt64(reader.remaining) else { return nil }
            return reader.bytes(Int(count))
        }
        switch reader.byte() {
        case null: return .null
        case no: return .bool(false)
        case yes: return .bool(true)
        case int: return reader.number().map(Value.int)
        case date: return reader.number().map(Value.date)
        case double:
            guard let bytes = reader.bytes(8) else { return nil }
            return .double(Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))))
        case decimal: return content(&reader).flatMap(DecimalKey.decode).map(Value.decimal)
        case string: return content(&reader).flatMap { String(utf8: $0) }.map(Value.string)
        case uuid: return reader.bytes(16).map { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        case data: return content(&reader).map { .data(Data($0)) }
        default: return nil
        }
    }
}
