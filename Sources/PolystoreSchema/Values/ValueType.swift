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
    /// The properties of the type. A new type needs a case and a line here. What has to be fast, or belongs to another language, has a
    /// switch of its own, which the compiler finds: the cases and cells of `Value`, its text (`ValueText`), the columns of the SQL stores.
    @inline(__always)
    var descriptor: ValueTypeDescriptor {
        switch self {
        case .bool: ValueTypeDescriptor(base: .bool, cell: .int, swiftName: "Bool", noun: "a bool", tombstone: 1)
        case .int16:
            ValueTypeDescriptor(
                base: .int64, cell: .int, swiftName: "Int16", noun: "an integer", rule: .range(Int64(Int16.min)...Int64(Int16.max)),
                wider: { [.int32, .int64, .float, .double, .decimal] }, tombstone: 3)
        case .int32:
            ValueTypeDescriptor(
                base: .int64, cell: .int, swiftName: "Int32", noun: "an integer", rule: .range(Int64(Int32.min)...Int64(Int32.max)),
                wider: { [.int64, .double, .decimal] }, tombstone: 3)
        case .int64:
            ValueTypeDescriptor(base: .int64, cell: .int, swiftName: "Int", noun: "an integer", wider: { [.decimal] }, tombstone: 3)
        case .float:
            ValueTypeDescriptor(
                base: .double, cell: .real, swiftName: "Float", noun: "a floating-point number", rule: .float, wider: { [.double] },
                tombstone: 4)
        case .double:
            ValueTypeDescriptor(
                base: .double, cell: .real, swiftName: "Double", noun: "a floating-point number", rule: .double, tombstone: 4)
        case .decimal:
            ValueTypeDescriptor(
                base: .decimal, cell: .blob, swiftName: "Decimal", ofFoundation: true, noun: "a decimal number", keyword: "DECIMAL",
                rule: .decimal, tombstone: 5)
        case .string: ValueTypeDescriptor(base: .string, cell: .text, swiftName: "String", noun: "a string", rule: .text, tombstone: 6)
        case .date:
            ValueTypeDescriptor(
                base: .date, cell: .int, swiftName: "Date", ofFoundation: true, noun: "a date", keyword: "DATE",
                rule: .range(Microseconds.minimum...Microseconds.maximum, "the date is outside the years 1 to 9999"), tombstone: 7)
        case .uuid:
            ValueTypeDescriptor(
                base: .uuid, cell: .blob, swiftName: "UUID", ofFoundation: true, noun: "a UUID", keyword: "UUID", tombstone: 8)
        case .data:
            ValueTypeDescriptor(
                base: .data, cell: .blob, swiftName: "Data", ofFoundation: true, noun: "data", keyword: "DATA", tombstone: 9)
        case .url:
            ValueTypeDescriptor(
                base: .string, cell: .text, swiftName: "URL", ofFoundation: true, noun: "a string", rule: .textOfURL, wider: { [.string] },
                tombstone: 6)
        }
    }

    /// The representation of a value of this type in a `Cell`.
    public var cellKind: CellKind { descriptor.cell }

    /// The widest type whose values are the same case of `Value`: `int64` for all integers, `double` for `float`, `string` for URLs.
    package var base: ValueType { descriptor.base }

    /// The Swift type that generated classes declare.
    package var swiftName: String { descriptor.swiftName.description }

    /// Whether the Swift type is declared by Foundation.
    package var isOfFoundation: Bool { descriptor.ofFoundation }

    /// The noun for a value in error messages.
    package var noun: String { descriptor.noun.description }

    /// The word before the quoted text of a constant in the text form of predicates; nil for constants that are written without, and for
    /// types whose constants are those of their base.
    package var keyword: String? { descriptor.keyword?.description }

    /// The byte that precedes a value in the preserved values of a deleted object. Stores keep it.
    package var tombstone: UInt8 { descriptor.tombstone }

    /// The numbers that are values of a type of integers; all for types with other limits.
    package var range: ClosedRange<Int64> { if case .range(let range, _) = descriptor.rule { range } else { Int64.min...Int64.max } }

    /// The types that can represent every value of this type exactly.
    public var wider: [ValueType] { descriptor.wider() }

    /// The types that can represent only some values of this type exactly, so that each value has to be checked.
    package var narrower: [ValueType] {
        isInteger ? Self.allCases.filter { $0.isInteger && $0 != self && range.contains($0.range.upperBound) } : []
    }

    /// Returns whether values of this type, though possibly not all of them, are converted automatically to another type.
    func canBecome(_ other: ValueType) -> Bool { wider.contains(other) || narrower.contains(other) }
}
