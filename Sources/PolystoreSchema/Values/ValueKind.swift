/// The kind of a value: the case of `Value` that it is. Types can have values of one kind, as whole numbers of all widths have.
///
/// Values of different kinds are ordered as the kinds are listed.
package enum ValueKind: Int, Sendable, Hashable, CaseIterable {
    case null, bool, int, double, decimal, string, date, uuid, data

    /// The type of a constant of this kind; nil counts as a whole number until it is known better.
    package var type: ValueType {
        switch self {
        case .null, .int: .int64
        case .bool: .bool
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .uuid: .uuid
        case .data: .data
        }
    }

    /// The noun for a value in error messages.
    package var noun: String {
        switch self {
        case .null: "nil"
        case .bool: "a bool"
        case .int: "an integer"
        case .double: "a floating-point number"
        case .decimal: "a decimal number"
        case .string: "a string"
        case .date: "a date"
        case .uuid: "a UUID"
        case .data: "data"
        }
    }

    /// The word before the quoted text of a constant in the text form of predicates; nil for constants that are written without.
    package var literalWord: String? {
        switch self {
        case .null, .bool, .int, .double, .string: nil
        case .date, .uuid, .data, .decimal: type.rawValue.uppercased()
        }
    }
}

extension Value {
    /// The kind of the value.
    package var kind: ValueKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .int: .int
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .uuid: .uuid
        case .data: .data
        }
    }

    /// The number of bytes of a text or of data; nil for values that are as large as all others of their type.
    package var byteCount: Int? {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .null, .bool, .int, .double, .decimal, .date, .uuid: nil
        }
    }
}
