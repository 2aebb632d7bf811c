/// The type of an attribute, as every store understands it.
public enum ValueType: String, Sendable, Hashable, Codable, CaseIterable {
    /// True or false.
    case bool
    /// Whole numbers of 16, 32 and 64 bits.
    case int16, int32, int64
    /// Binary floating point of 32 and 64 bits; never NaN, never -0.0.
    case float, double
    /// A decimal number of at most 38 significant digits.
    case decimal
    /// Text without U+0000, compared by its UTF-8 bytes.
    case string
    /// An instant in whole microseconds, in the years 1 to 9999.
    case date
    /// Sixteen bytes.
    case uuid
    /// Bytes.
    case data
    /// An absolute URL, kept and compared as its string.
    case url

    /// Whether values are whole numbers.
    public var isInteger: Bool { self == .int16 || self == .int32 || self == .int64 }

    /// Whether values can be added, averaged and compared with other numbers.
    public var isNumeric: Bool { isInteger || self == .float || self == .double || self == .decimal }

    /// Whether values are text.
    public var isText: Bool { self == .string || self == .url }

    /// How a value of this type lies in a `Cell`.
    public var cellKind: CellKind {
        switch self {
        case .bool, .int16, .int32, .int64, .date: .int
        case .float, .double: .real
        case .string, .url: .text
        case .uuid, .data, .decimal: .blob
        }
    }
}
