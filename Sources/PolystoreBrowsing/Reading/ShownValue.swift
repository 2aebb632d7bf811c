internal import PolystoreFoundation
internal import PolystoreStorage

/// A value as far as a page shows it. Of long texts and data only the beginning is read.
enum ShownValue: Sendable, Hashable {
    /// A value as a whole.
    case whole(Value)
    /// The beginning of a text, and the number of bytes that the text has.
    case text(String, bytes: Int)
    /// The beginning of data, and the number of all bytes.
    case data([UInt8], bytes: Int)
    /// Bytes that are no value of the attribute's type.
    case illFormed

    /// Creates the value of a cell.
    ///
    /// - Parameter longest: The number of bytes of a text that are read.
    init(_ cell: Cell, as type: ValueType, longest: Int) {
        if cell.kind == .blob, type == .data {
            self = .data(Array(cell.bytes.prefix(min(longest, Self.longestData))), bytes: cell.bytes.count)
        } else if cell.kind == .text, type.isText, cell.bytes.count > longest {
            self = .text(Self.start(cell.bytes, longest), bytes: cell.bytes.count)
        } else {
            self = Value(cell, as: type).map(ShownValue.whole) ?? .illFormed
        }
    }

    private static let longestData = 4096

    /// Returns the text of at most `count` bytes, without the bytes of a scalar that is cut.
    private static func start(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> String {
        var end = min(count, bytes.count)
        while end > 0, end < bytes.count, bytes[end] & 0xc0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    var isNull: Bool { self == .whole(.null) }

    /// The text of the value on one line, for a label; nil if it has none.
    var label: String? {
        switch self {
        case .whole(.string(let text)): text.isEmpty ? nil : text
        case .text(let start, _): start + "…"
        case .whole(let value): value.isNull ? nil : value.plainText
        case .data, .illFormed: nil
        }
    }
}

extension Value {
    /// The value without quotes. Dates have a space between the day and the time, in UTC.
    var plainText: String {
        switch self {
        case .date(let microseconds): ISO8601.string(microseconds).replacing("T", with: " ").replacing("Z", with: "")
        case .uuid(let id): id.uuidString.lowercased()
        case .string(let text): text
        case .null, .bool, .int, .double, .decimal, .data:
            switch ValueText.json(self) {
            case .string(let text), .number(let text): text
            case .bool(let value): value ? "true" : "false"
            case .null, .array, .object: ""
            }
        }
    }
}
