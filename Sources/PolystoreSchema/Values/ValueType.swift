/// The type of an attribute, which all stores support.
public enum ValueType: String, Sendable, Hashable, Codable, CaseIterable {
    /// A Boolean.
    case bool
    /// Integers of 16, 32, and 64 bits.
    case int16, int32, int64
    /// Binary floating-point numbers of 32 and 64 bits, never NaN and never -0.0.
    case float, double
    /// A decimal number of at most 38 significant digits.
    case decimal
    /// A string without U+0000, compared by its UTF-8 bytes.
    case string
    /// An instant in integer microseconds, in the years 1 to 9999.
    case date
    /// A UUID.
    case uuid
    /// Bytes.
    case data
    /// An absolute URL, stored and compared as its string.
    case url

    /// Whether values are integers.
    public var isInteger: Bool { self == .int16 || self == .int32 || self == .int64 }

    /// Whether values can be added, averaged and compared with other numbers.
    public var isNumeric: Bool { isInteger || self == .float || self == .double || self == .decimal }

    /// Whether values are strings.
    public var isText: Bool { self == .string || self == .url }

    /// The representation of a value of this type in a `Cell`.
    public var cellKind: CellKind {
        switch self {
        case .bool, .int16, .int32, .int64, .date: .int
        case .float, .double: .real
        case .string, .url: .text
        case .uuid, .data, .decimal: .blob
        }
    }
}
