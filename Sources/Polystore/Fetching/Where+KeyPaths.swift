internal import PolystoreStorage

/// Equality; two nils are equal.
public func == <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) == value
}

/// Inequality; true where one side is nil.
public func != <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) != value
}

/// Smaller; false of nil.
public func < <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) < value
}

/// Smaller or equal; false of nil.
public func <= <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) <= value
}

/// Greater; false of nil.
public func > <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) > value
}

/// Greater or equal; false of nil.
public func >= <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    ValueExpression(keyPath) >= value
}

extension ManagedObject {
    /// What stands for the object in a condition. What was deleted is nothing to compare with.
    final func comparedIdentity() throws(StorageError) -> Value {
        if !isDeletedObject { return _context.objectKey(of: self).constant }
        throw StorageError(
            .invalidPredicate,
            "a condition compares with an object of \(entityName) that was deleted; use nil, or its id to look for nothing",
            details: .init(entity: entityName))
    }
}

/// Whether a to-one relationship leads to an object, or to none. An object that was deleted is `invalidPredicate`.
public func == <Object: ManagedObject, Target: ManagedObject>(keyPath: KeyPath<Object, Target?>, target: Target?) -> Where<Object> {
    Where(keyPath) { path throws(StorageError) in .compare(.path(path), .equal, .value(try target?.comparedIdentity() ?? .null)) }
}

/// Whether a to-one relationship does not lead to an object, or to none. An object that was deleted is `invalidPredicate`.
public func != <Object: ManagedObject, Target: ManagedObject>(keyPath: KeyPath<Object, Target?>, target: Target?) -> Where<Object> {
    Where(keyPath) { path throws(StorageError) in .compare(.path(path), .notEqual, .value(try target?.comparedIdentity() ?? .null)) }
}

/// Equality of two properties; two nils are equal.
public func == <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .equal, b)
}

/// Inequality of two properties; true where one side is nil.
public func != <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .notEqual, b)
}

/// Smaller than another property; false of nil.
public func < <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .less, b)
}

/// Smaller than another property or equal; false of nil.
public func <= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .lessOrEqual, b)
}

/// Greater than another property; false of nil.
public func > <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .greater, b)
}

/// Greater than another property or equal; false of nil.
public func >= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> Where<Object> {
    compare(a, .greaterOrEqual, b)
}

private func compare<Object: ManagedObject, V: AttributeValue>(
    _ a: KeyPath<Object, V>, _ comparison: Comparison, _ b: KeyPath<Object, V>
) -> Where<Object> {
    ValueExpression(a).compare(comparison, ValueExpression(b))
}

extension KeyPath where Root: ManagedObject {
    /// Whether a to-one relationship leads to the object with an id, or to none.
    public func isObject<Target: ManagedObject>(_ id: ObjectID<Target>?) -> Where<Root> where Value == Target? {
        Where(self) { .compare(.path($0), .equal, .value(id?.key.constant ?? .null)) }
    }

    /// Whether a to-one relationship leads to the object that a snapshot, a publisher or a monitor stands for.
    public func isObject<Target: ManagedObject>(_ representation: some ObjectRepresentation<Target>) -> Where<Root>
    where Value == Target? {
        isObject(Optional(representation.objectID))
    }
}

extension KeyPath where Root: ManagedObject, Value: AttributeValue {
    /// Whether the value is one of a list.
    public func isIn(_ values: some Sequence<Value>) -> Where<Root> {
        ValueExpression(self).isIn(values)
    }

    /// Whether the value lies in a range, both ends included; false of nil.
    public func isBetween(_ low: Value, _ high: Value) -> Where<Root> {
        Where(value: self) { .between($0, .value(low.attributeValue), .value(high.attributeValue)) }
    }
}

/// A text, or one that can be missing: what conditions on texts apply to.
public protocol TextAttribute: AttributeValue {}
extension String: TextAttribute {}
extension Optional: TextAttribute where Wrapped == String {}

extension KeyPath where Root: ManagedObject, Value: TextAttribute {
    private func text(_ match: TextMatch, _ needle: String, _ options: TextOptions) -> Where<Root> {
        Where(value: self) { .text($0.folded(options), match, needle) }
    }

    /// Whether the text begins with another; false of nil.
    public func beginsWith(_ text: String, options: TextOptions = []) -> Where<Root> { self.text(.beginsWith, text, options) }

    /// Whether the text ends with another; false of nil.
    public func endsWith(_ text: String, options: TextOptions = []) -> Where<Root> { self.text(.endsWith, text, options) }

    /// Whether the text contains another; false of nil.
    public func contains(_ text: String, options: TextOptions = []) -> Where<Root> { self.text(.contains, text, options) }

    /// Whether the whole text is like a pattern: `*` stands for any run of characters, `?` for one; false of nil.
    public func like(_ pattern: String, options: TextOptions = []) -> Where<Root> { text(.like, pattern, options) }

    /// Whether a regular expression matches the whole text; false of nil.
    public func matches(_ pattern: String, options: TextOptions = []) -> Where<Root> { text(.matches, pattern, options) }

    /// Whether the text has the words that a query asks for, such as `"swift sql* -java"`: all of them, in any order, whatever their case
    /// and diacritics; false of nil. `SearchQuery` says what a query can be; a full-text index finds the objects by their words.
    public func search(_ query: String) -> Where<Root> { text(.search, query, []) }

    /// Whether the text is the same as another as the options see it.
    public func equal(to text: String, options: TextOptions) -> Where<Root> {
        Where(value: self) { .compare($0.folded(options), .equal, QueryExpression.value(.string(text)).folded(options)) }
    }

    /// Whether the text is not the same as another as the options see it; true of nil.
    public func notEqual(to text: String, options: TextOptions) -> Where<Root> { !equal(to: text, options: options) }
}
