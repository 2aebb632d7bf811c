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
}

extension ValueType {
    /// The properties of the type. A new type needs a case, a line here, the forms of its values in `Value+Cell` and `ValueText`, its
    /// columns in the SQL dialects, its byte in `HistoryTombstone`, its Swift type in `AttributeValue`, and its facts.
    @inline(__always)
    var descriptor: ValueTypeDescriptor {
        switch self {
        case .bool: ValueTypeDescriptor(kind: .bool, cell: .int, swiftName: "Bool")
        case .int16: ValueTypeDescriptor(kind: .int, cell: .int, swiftName: "Int16", range: Int64(Int16.min)...Int64(Int16.max))
        case .int32: ValueTypeDescriptor(kind: .int, cell: .int, swiftName: "Int32", range: Int64(Int32.min)...Int64(Int32.max))
        case .int64: ValueTypeDescriptor(kind: .int, cell: .int, swiftName: "Int")
        case .float: ValueTypeDescriptor(kind: .double, cell: .real, swiftName: "Float")
        case .double: ValueTypeDescriptor(kind: .double, cell: .real, swiftName: "Double")
        case .decimal: ValueTypeDescriptor(kind: .decimal, cell: .blob, swiftName: "Decimal")
        case .string: ValueTypeDescriptor(kind: .string, cell: .text, swiftName: "String")
        case .date: ValueTypeDescriptor(kind: .date, cell: .int, swiftName: "Date")
        case .uuid: ValueTypeDescriptor(kind: .uuid, cell: .blob, swiftName: "UUID")
        case .data: ValueTypeDescriptor(kind: .data, cell: .blob, swiftName: "Data")
        case .url: ValueTypeDescriptor(kind: .string, cell: .text, swiftName: "URL")
        }
    }

    /// The representation of a value of this type in a `Cell`.
    public var cellKind: CellKind { descriptor.cell }

    /// The kind of the type's values.
    package var kind: ValueKind { descriptor.kind }

    /// The Swift type that generated classes declare.
    package var swiftName: String { descriptor.swiftName.description }

    /// The numbers that are values of a type of whole numbers; all for other types.
    package var range: ClosedRange<Int64> { descriptor.range }
}
