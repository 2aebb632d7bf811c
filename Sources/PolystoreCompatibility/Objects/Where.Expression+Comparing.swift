public import Polystore

extension Where.Expression where Result: AttributeValue {
    /// Returns a condition for equality. Two nils are equal.
    public static func == (a: Self, b: Result) -> Where<Object> { a.compare(.equal, b.attributeValue) }
    /// Returns a condition for inequality, which is true if one side is nil.
    public static func != (a: Self, b: Result) -> Where<Object> { a.compare(.notEqual, b.attributeValue) }
    /// Returns a less-than condition, which is false for nil.
    public static func < (a: Self, b: Result) -> Where<Object> { a.compare(.less, b.attributeValue) }
    /// Returns a less-than-or-equal condition, which is false for nil.
    public static func <= (a: Self, b: Result) -> Where<Object> { a.compare(.lessOrEqual, b.attributeValue) }
    /// Returns a greater-than condition, which is false for nil.
    public static func > (a: Self, b: Result) -> Where<Object> { a.compare(.greater, b.attributeValue) }
    /// Returns a greater-than-or-equal condition, which is false for nil.
    public static func >= (a: Self, b: Result) -> Where<Object> { a.compare(.greaterOrEqual, b.attributeValue) }

    /// Returns a condition for whether a sequence contains the value.
    public static func ~= (values: some Sequence<Result>, a: Self) -> Where<Object> {
        a.condition { .isIn($0, values.map(\.attributeValue)) }
    }
}

extension Where.Expression where Result: ComparableField {
    /// Returns the stored form of a value.
    private func constant(_ value: Result.ComparedValue) throws(StorageError) -> Value {
        guard let field = field() as? Result else {
            throw StorageError(.invalidPredicate, "\(names.joined(separator: ".")) is not a field of a CoreStoreObject")
        }
        return try field._constant(value)
    }

    private func compare(_ comparison: Comparison, _ value: Result.ComparedValue) -> Where<Object> {
        condition { expression throws(StorageError) in .compare(expression, comparison, .value(try constant(value))) }
    }

    /// Returns a condition for equality. Two nils are equal.
    public static func == (a: Self, b: Result.ComparedValue) -> Where<Object> { a.compare(.equal, b) }
    /// Returns a condition for inequality, which is true if one side is nil.
    public static func != (a: Self, b: Result.ComparedValue) -> Where<Object> { a.compare(.notEqual, b) }

    /// Returns a condition for whether a sequence contains the value.
    public static func ~= (values: some Sequence<Result.ComparedValue>, a: Self) -> Where<Object> {
        a.condition { expression throws(StorageError) in
            var constants: [Value] = []
            for value in values { constants.append(try a.constant(value)) }
            return .isIn(expression, constants)
        }
    }
}

extension Where.Expression where Result: OrderedField {
    /// Returns a less-than condition, which is false for nil.
    public static func < (a: Self, b: Result.ComparedValue) -> Where<Object> { a.compare(.less, b) }
    /// Returns a less-than-or-equal condition, which is false for nil.
    public static func <= (a: Self, b: Result.ComparedValue) -> Where<Object> { a.compare(.lessOrEqual, b) }
    /// Returns a greater-than condition, which is false for nil.
    public static func > (a: Self, b: Result.ComparedValue) -> Where<Object> { a.compare(.greater, b) }
    /// Returns a greater-than-or-equal condition, which is false for nil.
    public static func >= (a: Self, b: Result.ComparedValue) -> Where<Object> { a.compare(.greaterOrEqual, b) }
}
