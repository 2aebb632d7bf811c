public import Polystore

extension Value {
    /// The value with its type, so that a test tells 4 from 4.0.
    public var typed: String {
        switch self {
        case .null: "null"
        case .bool(let value): "bool(\(value))"
        case .int(let value): "int(\(value))"
        case .double(let value): "double(\(value))"
        case .decimal(let value): "decimal(\(value))"
        case .string(let value): "string(\(String(reflecting: value)))"
        case .date(let value): "date(\(value))"
        case .uuid(let value): "uuid(\(value))"
        case .data(let value): "data(\(value))"
        }
    }
}
