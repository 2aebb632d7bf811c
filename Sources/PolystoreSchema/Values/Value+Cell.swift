internal import PolystoreFoundation

extension String {
    /// Creates a string from UTF-8 bytes. Returns nil if they are ill-formed.
    public init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else {
            self = ""
            return
        }
        if bytes.count <= 15, let small = SmallText.string(start, bytes.count) {
            self = small
            return
        }
        // Most texts are ASCII, which needs no validation. The loop examines eight bytes at a time.
        var seen: UInt64 = 0
        var offset = 0
        while offset &+ 8 <= bytes.count {
            seen |= start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        while offset < bytes.count {
            seen |= UInt64(start.load(fromByteOffset: offset, as: UInt8.self))
            offset &+= 1
        }
        if seen & 0x8080_8080_8080_8080 == 0 {
            self = String(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }
}

extension Value {
    /// Creates the value of a cell. Returns nil if its bytes are ill-formed for the type, or if its number is not a value of the type.
    public init?(_ cell: Cell, as type: ValueType) {
        if cell.kind == .null {
            self = .null
            return
        }
        switch type {
        case .bool:
            guard cell.isBool else { return nil }
            self = .bool(cell.int != 0)
        case .int16:
            guard Int16(exactly: cell.int) != nil else { return nil }
            self = .int(cell.int)
        case .int32:
            guard Int32(exactly: cell.int) != nil else { return nil }
            self = .int(cell.int)
        case .int64: self = .int(cell.int)
        case .float:
            guard cell.isFloat else { return nil }
            self = .double(cell.real)
        case .double:
            guard !cell.real.isNaN else { return nil }
            self = .double(cell.real)
        case .date:
            guard Microseconds.contains(cell.int) else { return nil }
            self = .date(cell.int)
        case .string, .url:
            guard let text = String(utf8: cell.bytes) else { return nil }
            self = .string(text)
        case .data: self = .data(Data(cell.bytes))
        case .uuid:
            guard cell.length == 16, let start = cell.bytes.baseAddress else { return nil }
            self = .uuid(UUID(uuid: start.loadUnaligned(as: uuid_t.self)))
        case .decimal:
            guard let number = DecimalKey.decode(cell.bytes) else { return nil }
            self = .decimal(number)
        }
    }
}

extension Value {
    /// Calls a closure with the cell of the value, whose bytes are valid only during the call.
    @inline(__always)
    package func withCell<Result>(_ body: (Cell) -> Result) -> Result {
        switch self {
        case .null: return body(.null)
        case .bool(let value): return body(.int(value ? 1 : 0))
        case .int(let value), .date(let value): return body(.int(value))
        case .double(let value): return body(.real(value))
        case .string(var value): return value.withUTF8 { body(.text(UnsafeRawBufferPointer($0))) }
        case .data(let value): return value.withUnsafeBytes { body(.blob($0)) }
        case .uuid(let value): return withUnsafeBytes(of: value.uuid) { body(.blob($0)) }
        case .decimal(let value): return DecimalKey.withBytes(of: value) { body(.blob($0)) }
        }
    }
}

extension Cell {
    /// Returns a text cell. The bytes must outlive the cell.
    package static func text(_ bytes: UnsafeRawBufferPointer) -> Cell { .text(bytes.baseAddress ?? nowhere, bytes.count) }

    /// Returns a blob cell. The bytes must outlive the cell.
    package static func blob(_ bytes: UnsafeRawBufferPointer) -> Cell { .blob(bytes.baseAddress ?? nowhere, bytes.count) }

    /// The address of no bytes.
    private static var nowhere: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 16).unsafelyUnwrapped }
}

extension ByteArena {
    /// Returns the cell of a value, with its bytes copied into the arena.
    package mutating func cell(for value: Value) -> Cell { value.withCell { copy($0) } }
}

extension RowBatch {
    /// Returns the cell of a value, with its bytes copied into the batch.
    public func cell(for value: Value) -> Cell { arena.cell(for: value) }
}
