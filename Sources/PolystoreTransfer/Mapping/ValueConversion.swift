internal import Foundation
internal import PolystoreStorage

/// The conversion of values to another type.
struct ValueConversion: Sendable {
    /// The value of the other type.
    enum Result: Sendable, Hashable {
        /// The same value.
        case exact(Value)
        /// The nearest value, which is another one.
        case nearest(Value)
        /// The type has neither the same value nor a near one.
        case none
    }

    private let type: ValueType
    private let other: ValueType

    /// Creates the conversion between two types; nil if the values of one have no meaning as values of the other, and for the same type.
    init?(from type: ValueType, to other: ValueType) {
        let areNumbers = [type, other].allSatisfy { $0.isNumeric || $0 == .bool }, areBytes = Set([type, other]) == [.uuid, .data]
        let isText = type == .string || other == .string
        if type == other || !areNumbers && !areBytes && !isText { return nil }
        self.type = type
        self.other = other
    }

    /// Returns a value in the other type. Nil stays nil.
    func convert(_ value: Value) -> Result {
        if value.isNull { return .exact(value) }
        switch other {
        case .bool: return bool(value)
        case .int16, .int32, .int64: return integer(value)
        case .float: return float(value)
        case .double: return double(value)
        case .decimal: return decimal(value)
        case .string: return .exact(.string(text(value)))
        case .date, .url, .uuid, .data: return parsed(value)
        }
    }

    // MARK: Numbers

    /// A number, which may be infinite.
    private enum Number {
        case finite(DecimalNumber)
        case infinite(isNegative: Bool)
    }

    /// Returns the number of a value; nil for a text that is no number.
    private func number(_ value: Value) -> Number? {
        switch value {
        case .bool(let value): .finite(DecimalNumber([value ? 1 : 0], exponent: 0, isNegative: false))
        case .int(let value): DecimalNumber("\(value)").map(Number.finite)
        case .double(let value): value.isInfinite ? .infinite(isNegative: value < 0) : digits(value).map(Number.finite)
        case .decimal(let value): .finite(DecimalNumber(value))
        case .string("inf"): .infinite(isNegative: false)
        case .string("-inf"): .infinite(isNegative: true)
        case .string(let text): DecimalNumber(text).map(Number.finite)
        case .null, .date, .uuid, .data: nil
        }
    }

    /// Returns the full digits of an integer, and the shortest digits of another number.
    private func digits(_ number: Double) -> DecimalNumber? {
        if let whole = UInt128(exactly: abs(number)), String(whole).count <= 38 {
            return DecimalNumber((number < 0 ? "-" : "") + String(whole))
        }
        return DecimalNumber(shortest(number))
    }

    /// Returns the shortest text of a number of the type.
    private func shortest(_ number: Double) -> String { type == .float ? Float(number).description : number.description }

    private func integer(_ value: Value) -> Result {
        // Most values need no digits.
        if let whole = Self.whole(value), other.range.contains(whole) { return .exact(.int(whole)) }
        let nearest: Int64, isExact: Bool
        switch number(value) {
        case .finite(let number):
            let whole = number.integer
            nearest = min(max(whole, other.range.lowerBound), other.range.upperBound)
            isExact = DecimalNumber("\(nearest)") == number
        case .infinite(let isNegative): (nearest, isExact) = (isNegative ? other.range.lowerBound : other.range.upperBound, false)
        case nil: return .none
        }
        return isExact ? .exact(.int(nearest)) : .nearest(.int(nearest))
    }

    private static func whole(_ value: Value) -> Int64? {
        switch value {
        case .int(let number): number
        case .double(let number): Int64(exactly: number)
        case .bool, .decimal, .string, .date, .uuid, .data, .null: nil
        }
    }

    private func bool(_ value: Value) -> Result {
        if case .string(let text) = value { return ValueText.value(text, as: .bool).map(Result.exact) ?? .none }
        switch number(value) {
        case .finite(let number):
            let isTrue = number.integer >= 1
            return DecimalNumber(isTrue ? "1" : "0") == number ? .exact(.bool(isTrue)) : .nearest(.bool(isTrue))
        case .infinite(let isNegative): return .nearest(.bool(!isNegative))
        case nil: return .none
        }
    }

    private func double(_ value: Value) -> Result {
        if case .double = value { return .exact(value) }
        if case .int(let whole) = value, Int64(exactly: Double(whole)) == whole { return .exact(.double(Double(whole))) }
        switch number(value) {
        case .finite(let number):
            guard let nearest = Double(number.text) else { return .none }
            if nearest.isInfinite { return .nearest(.double(nearest < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)) }
            return number.isForm(of: nearest, shortest: nearest.description, isWhole: Self.isInteger(value))
                ? .exact(.double(nearest)) : .nearest(.double(nearest))
        case .infinite(let isNegative): return .exact(.double(isNegative ? -.infinity : .infinity))
        case nil: return .none
        }
    }

    private func float(_ value: Value) -> Result {
        if case .double(let number) = value {
            let nearest = Float(number)
            if nearest.isInfinite, number.isFinite { return .nearest(.double(Self.greatest(isNegative: number < 0))) }
            return Double(nearest) == number ? .exact(value) : .nearest(.double(Double(nearest)))
        }
        switch number(value) {
        case .finite(let number):
            guard let nearest = Float(number.text) else { return .none }
            if nearest.isInfinite { return .nearest(.double(Self.greatest(isNegative: nearest < 0))) }
            let wide = Double(nearest)
            return number.isForm(of: wide, shortest: nearest.description, isWhole: Self.isInteger(value))
                ? .exact(.double(wide)) : .nearest(.double(wide))
        case .infinite(let isNegative): return .exact(.double(isNegative ? -.infinity : .infinity))
        case nil: return .none
        }
    }

    /// Whether a value is an integer, of which every digit counts.
    private static func isInteger(_ value: Value) -> Bool { if case .int = value { true } else { false } }

    private static func greatest(isNegative: Bool) -> Double {
        Double(isNegative ? -Float.greatestFiniteMagnitude : Float.greatestFiniteMagnitude)
    }

    private func decimal(_ value: Value) -> Result {
        guard case .finite(let number)? = number(value), let nearest = number.decimal else { return .none }
        return DecimalNumber(nearest) == number ? .exact(.decimal(nearest)) : .nearest(.decimal(nearest))
    }

    // MARK: Texts and bytes

    private func text(_ value: Value) -> String {
        switch value {
        case .bool(let value): value ? "true" : "false"
        case .double(let number): number.isInfinite ? (number < 0 ? "-inf" : "inf") : shortest(number)
        case .int, .decimal, .string, .date, .uuid, .data, .null:
            switch ValueText.json(value) {
            case .string(let text), .number(let text): text
            case .null, .bool, .array, .object: ""
            }
        }
    }

    private func parsed(_ value: Value) -> Result {
        switch (other, value) {
        case (.url, .string(let text)): return text.isEmpty ? .none : .exact(value)
        case (.date, .string(let text)):
            guard let microseconds = ISO8601.microseconds(text), Microseconds.contains(microseconds) else { return .none }
            return Self.isFiner(text) ? .nearest(.date(microseconds)) : .exact(.date(microseconds))
        case (.uuid, .data(let bytes)):
            guard bytes.count == 16 else { return .none }
            return .exact(.uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }))
        case (.data, .uuid(let id)): return .exact(.data(withUnsafeBytes(of: id.uuid) { Data($0) }))
        case (_, .string(let text)): return ValueText.value(text, as: other).map(Result.exact) ?? .none
        default: return .none
        }
    }

    /// Returns whether the text of a date has parts of microseconds.
    static func isFiner(_ text: String) -> Bool {
        let fraction = text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst().prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return fraction.dropFirst(6).contains { $0 != UInt8(ascii: "0") }
    }
}
