internal import PolystoreFoundation

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
        guard let base = value.type else { return value }
        guard base == type.base else { throw refusal(.notStorable, "a value of type \(type.rawValue) is expected") }
        switch (type.descriptor.rule, value) {
        case (.every, _): return value
        case (.range(let range, let sentence), _):
            if value.withCell({ range.contains($0.int) }) { return value }
            throw refusal(.outOfRange, sentence?.description ?? "the number is outside the range of \(type.rawValue)")
        case (.double, .double(let number)): return .double(try finite(number))
        case (.float, .double(let number)):
            let narrow = Double(Float(try finite(number)))
            if narrow.isInfinite && !number.isInfinite { throw refusal(.outOfRange, "the number is outside the range of Float") }
            return .double(narrow == 0 ? 0 : narrow)
        case (.decimal, .decimal(let number)): return .decimal(try digits(number))
        case (.text, .string(let text)): return .string(try withoutNull(text))
        case (.textOfURL, .string(let text)):
            if text.isEmpty { throw refusal(.notStorable, "an empty string is not a valid URL") }
            return .string(try withoutNull(text))
        case (.double, _), (.float, _), (.decimal, _), (.text, _), (.textOfURL, _): return value
        }
    }

    private func refusal(_ reason: ValueError.Reason, _ message: String) -> ValueError {
        ValueError(reason, attribute: name, message)
    }

    private func finite(_ number: Double) throws(ValueError) -> Double {
        if number.isNaN { throw refusal(.notStorable, "NaN cannot be stored") }
        return number == 0 ? 0 : number
    }

    private func digits(_ number: Decimal) throws(ValueError) -> Decimal {
        if number.isNaN { throw refusal(.notStorable, "NaN cannot be stored") }
        let number = DecimalArithmetic.withoutRest(number), parts = DecimalDigits.parts(number).withoutZeros
        guard parts.mantissa < DecimalDigits.limit else {
            throw refusal(.outOfRange, "a decimal can have at most \(DecimalKey.maximumDigits) significant digits")
        }
        return DecimalDigits.decimal(parts.mantissa, parts.exponent, isNegative: parts.isNegative) ?? number
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
