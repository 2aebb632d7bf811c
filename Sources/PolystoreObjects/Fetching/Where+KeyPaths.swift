package import PolystoreStorage

/// Returns a condition for equality. Two nil values are equal.
public func == <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) == value
}

/// Returns a condition for inequality. It is true if one side is nil.
public func != <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) != value
}

/// Returns a "less than" condition. It is false for nil.
public func < <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) < value
}

/// Returns a "less than or equal" condition. It is false for nil.
public func <= <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) <= value
}

/// Returns a "greater than" condition. It is false for nil.
public func > <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) > value
}

/// Returns a "greater than or equal" condition. It is false for nil.
public func >= <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) >= value
}

extension ManagedObject {
    /// Returns the identity constant of the object for a condition. A deleted object is an error.
    package final func comparedIdentity() throws(StorageError) -> Value {
        if !isDeletedObject { return _context.objectKey(of: self).constant }
        throw StorageError(
            .invalidPredicate,
            "a condition compares with a deleted object of \(entityName); compare with nil or with its objectID",
            details: .init(entity: entityName))
    }
}

/// Returns a condition for whether a to-one relationship references an object, or is nil. A deleted object is `invalidPredicate`.
public func == <Object: ManagedObject, Target: ManagedObject>(keyPath: KeyPath<Object, Target?>, target: Target?) -> Where<Object> {
    Where(keyPath) { path throws(StorageError) in .compare(.path(path), .equal, .value(try target?.comparedIdentity() ?? .null)) }
}

/// Returns a condition for whether a to-one relationship does not reference an object, or is not nil. A deleted object is
/// `invalidPredicate`.
public func != <Object: ManagedObject, Target: ManagedObject>(keyPath: KeyPath<Object, Target?>, target: Target?) -> Where<Object> {
    Where(keyPath) { path throws(StorageError) in .compare(.path(path), .notEqual, .value(try target?.comparedIdentity() ?? .null)) }
}

/// Returns a condition for equality of two properties. Two nil values are equal.
public func == <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .equal, b)
}

/// Returns a condition for inequality of two properties. It is true if one side is nil.
public func != <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .notEqual, b)
}

/// Returns a "less than" condition of two properties. It is false for nil.
public func < <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .less, b)
}

/// Returns a "less than or equal" condition of two properties. It is false for nil.
public func <= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .lessOrEqual, b)
}

/// Returns a "greater than" condition of two properties. It is false for nil.
public func > <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .greater, b)
}

/// Returns a "greater than or equal" condition of two properties. It is false for nil.
public func >= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .greaterOrEqual, b)
}

private func compare<Object: ManagedObject, V: AttributeValue>(
    _ a: KeyPath<Object, V>, _ comparison: Comparison, _ b: KeyPath<Object, V>
) -> Where<Object> {
    ValueExpression(a).compare(comparison, ValueExpression(b))
}

extension KeyPath where Root: ManagedObject {
    /// Returns a condition for whether a to-one relationship references the object with an id, or is nil.
    public func isObject<Target: ManagedObject>(_ id: ObjectID<Target>?) -> Where<Root> where Value == Target? {
        Where(self) { .compare(.path($0), .equal, .value(id?.key.constant ?? .null)) }
    }

    /// Returns a condition for whether a to-one relationship references the object that a snapshot, a publisher or a monitor represents.
    public func isObject<Target: ManagedObject>(_ representation: some ObjectRepresentation<Target>) -> Where<Root>
    where Value == Target? {
        isObject(Optional(representation.objectID))
    }
}

extension KeyPath where Root: ManagedObject, Value: AttributeValue {
    /// Returns a condition for whether the value is in a list.
    public func isIn(_ values: some Sequence<Value>) -> Where<Root> {
        ValueExpression(self).isIn(values)
    }

    /// Returns a condition for whether the value is in a range, including both bounds. It is false for nil.
    public func isBetween(_ low: Value, _ high: Value) -> Where<Root> {
        Where(value: self) { .between($0, .value(low.attributeValue), .value(high.attributeValue)) }
    }
}

extension String: TextAttribute {}
extension Optional: TextAttribute where Wrapped == String {}

extension KeyPath where Root: ManagedObject, Value: TextAttribute {
    private func text(_ match: TextMatch, _ needle: String, _ options: TextOptions) -> Where<Root> {
        Where(value: self) { .text($0.folded(options), match, needle) }
    }

    /// Returns a condition for whether the text begins with another text. It is false for nil.
    public func beginsWith(_ text: String, options: TextOptions = []) -> Where<Root> { self.text(.beginsWith, text, options) }

    /// Returns a condition for whether the text ends with another text. It is false for nil.
    public func endsWith(_ text: String, options: TextOptions = []) -> Where<Root> { self.text(.endsWith, text, options) }

    /// Returns a condition for whether the text contains another text. It is false for nil.
    public func contains(_ text: String, options: TextOptions = []) -> Where<Root> { self.text(.contains, text, options) }

    /// Returns a condition for whether the whole text matches a pattern: `*` matches any characters, `?` a single one. It is false for nil.
    public func like(_ pattern: String, options: TextOptions = []) -> Where<Root> { text(.like, pattern, options) }

    /// Returns a condition for whether a regular expression matches the whole text. It is false for nil.
    public func matches(_ pattern: String, options: TextOptions = []) -> Where<Root> { text(.matches, pattern, options) }

    /// Returns a condition for whether the text contains the words of a search query, such as `"swift sql* -java"`: all of them, in any
    /// order, ignoring case and diacritics. It is false for nil. `SearchQuery` describes the syntax; a full-text index finds objects by
    /// their words.
    public func search(_ query: String) -> Where<Root> { text(.search, query, []) }

    /// Returns a condition for whether the text equals another one under the given options.
    public func equal(to text: String, options: TextOptions) -> Where<Root> {
        Where(value: self) { .compare($0.folded(options), .equal, QueryExpression.value(.string(text)).folded(options)) }
    }

    /// Returns a condition for whether the text differs from another one under the given options. It is true for nil.
    public func notEqual(to text: String, options: TextOptions) -> Where<Root> { !equal(to: text, options: options) }
}
