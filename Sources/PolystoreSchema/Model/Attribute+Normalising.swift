internal import Foundation

extension Attribute {
    /// Returns the value in the normalised form in which every store keeps it. Nil is accepted, because required attributes are checked at
    /// commit.
    ///
    /// - Throws: `ValueError`, which names the attribute, if some store could not represent the value exactly.
    public func normalise(_ value: Value) throws(ValueError) -> Value {
        let normal = try typed(value)
        if !allowedValues.isEmpty, !normal.isNull, !allowedValues.contains(normal) {
            throw refusal(.notStorable, "the value is not one of the \(allowedValues.count) allowed values")
        }
        return normal
    }

    private func typed(_ value: Value) throws(ValueError) -> Value {
        switch (type, value) {
        case (_, .null), (.bool, .bool), (.int64, .int), (.uuid, .uuid), (.data, .data): return value
        case (.int16, .int(let number)): return try bounded(number, Int64(Int16.min)...Int64(Int16.max))
        case (.int32, .int(let number)): return try bounded(number, Int64(Int32.min)...Int64(Int32.max))
        case (.double, .double(let number)): return .double(try finite(number))
        case (.float, .double(let number)):
            let narrow = Double(Float(try finite(number)))
            if narrow.isInfinite && !number.isInfinite { throw refusal(.outOfRange, "the number is outside the range of Float") }
            return .double(narrow == 0 ? 0 : narrow)
        case (.decimal, .decimal(let number)): return .decimal(try digits(number))
        case (.string, .string(let text)): return .string(try withoutNull(text))
        case (.url, .string(let text)):
            if text.isEmpty { throw refusal(.notStorable, "an empty string is not a valid URL") }
            return .string(try withoutNull(text))
        case (.date, .date(let microseconds)):
            guard microseconds >= Microseconds.minimum, microseconds <= Microseconds.maximum else {
                throw refusal(.outOfRange, "the date is outside the years 1 to 9999")
            }
            return value
        default: throw refusal(.notStorable, "a value of type \(type.rawValue) is expected")
        }
    }

    private func refusal(_ reason: ValueError.Reason, _ message: String) -> ValueError {
        ValueError(reason, attribute: name, message)
    }

    private func bounded(_ number: Int64, _ range: ClosedRange<Int64>) throws(ValueError) -> Value {
        guard range.contains(number) else { throw refusal(.outOfRange, "the number is outside the range of \(type.rawValue)") }
        return .int(number)
    }

    private func finite(_ number: Double) throws(ValueError) -> Double {
        if number.isNaN { throw refusal(.notStorable, "NaN cannot be stored") }
        return number == 0 ? 0 : number
    }

    private func digits(_ number: Decimal) throws(ValueError) -> Decimal {
        if number.isNaN { throw refusal(.notStorable, "NaN cannot be stored") }
        let number = DecimalArithmetic.withoutRest(number), (digits, exponent) = DecimalDigits.split(number)
        guard digits.count <= DecimalKey.maximumDigits else {
            throw refusal(.outOfRange, "a decimal can have at most \(DecimalKey.maximumDigits) significant digits")
        }
        if digits.isEmpty { return 0 }
        let mantissa = digits.reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        return DecimalDigits.decimal(mantissa, exponent - digits.count + 1, isNegative: number < 0) ?? number
    }

    private func withoutNull(_ text: String) throws(ValueError) -> String {
        if text.utf8.contains(0) { throw refusal(.notStorable, "a string with U+0000 cannot be stored") }
        return text
    }
}

extension EntityDescription {
    /// The maximum number of bytes of an indexed or unique string, URL, or data value. PostgreSQL's index rows and LMDB's keys allow no
    /// more.
    public static let maximumIndexedBytes = 1024

    /// Returns the value of a slot in the normalised form in which every store keeps it, after checking its limits.
    ///
    /// - Throws: `ValueError`, which names the entity and the attribute.
    public func normalise(_ value: Value, slot: Int) throws(ValueError) -> Value {
        do throws(ValueError) {
            let attribute = slots[slot].attribute ?? Attribute(slots[slot].name, .int64)
            let normal = try attribute.normalise(value)
            if isIndexed(slot), normal.byteCount ?? 0 > Self.maximumIndexedBytes {
                throw ValueError(.tooLarge, "an indexed or unique value can have at most \(Self.maximumIndexedBytes) bytes")
            }
            return normal
        } catch {
            var named = error
            named.entity = name
            named.attribute = slots[slot].name
            throw named
        }
    }

    /// Returns whether a slot is part of an index or a unique constraint.
    public func isIndexed(_ slot: Int) -> Bool {
        indexes.contains { $0.contains(slot) } || uniqueConstraints.contains { $0.slots.contains(slot) }
    }
}
