internal import Foundation

extension Value {
    /// The value in its natural Swift type; nil for nil.
    package var natural: (any Encodable & Sendable)? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .int(let number): Int(number)
        case .double(let number): number
        case .decimal(let number): number
        case .string(let text): text
        case .date(let microseconds): Microseconds.date(microseconds)
        case .uuid(let id): id
        case .data(let data): data
        }
    }

    /// The value of something in a natural Swift type; nil when it has none.
    package init?(natural value: Any?) {
        switch value {
        case nil: self = .null
        case let text as String: self = .string(text)
        case let number as Int: self = .int(Int64(number))
        case let value as Bool: self = .bool(value)
        case let number as Double: self = .double(number)
        case let value as Value: self = value
        case let number as any BinaryInteger:
            guard let whole = Int64(exactly: number) else { return nil }
            self = .int(whole)
        case let number as Float: self = .double(Double(number))
        case let number as Decimal: self = .decimal(number)
        case let url as URL: self = .string(url.absoluteString)
        case let date as Date:
            guard let microseconds = Microseconds.from(date) else { return nil }
            self = .date(microseconds)
        case let id as UUID: self = .uuid(id)
        case let data as Data: self = .data(data)
        case let raw as any RawRepresentable: self.init(natural: raw.rawValue)
        default: return nil
        }
    }
}
