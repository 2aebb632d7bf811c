internal import PolystoreStorage

/// Equality; two nils are equal.
public func == <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .equal, .value(value.attributeValue)) }
}

/// Inequality; true where one side is nil.
public func != <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .notEqual, .value(value.attributeValue)) }
}

/// Smaller; false of nil.
public func < <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .less, .value(value.attributeValue)) }
}

/// Smaller or equal; false of nil.
public func <= <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .lessOrEqual, .value(value.attributeValue)) }
}

/// Greater; false of nil.
public func > <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .greater, .value(value.attributeValue)) }
}

/// Greater or equal; false of nil.
public func >= <Object: ManagedObject, V: AttributeValue>(keyPath: KeyPath<Object, V>, value: V) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .greaterOrEqual, .value(value.attributeValue)) }
}

/// Whether a to-one relationship leads to an object, or to none.
public func == <Object: ManagedObject, Target: ManagedObject>(keyPath: KeyPath<Object, Target?>, target: Target?) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .equal, .value(target.map { .int($0._key) } ?? .null)) }
}

/// Whether a to-one relationship does not lead to an object, or to none.
public func != <Object: ManagedObject, Target: ManagedObject>(keyPath: KeyPath<Object, Target?>, target: Target?) -> Where<Object> {
    Where(keyPath) { .compare(.path($0), .notEqual, .value(target.map { .int($0._key) } ?? .null)) }
}

extension KeyPath where Root: ManagedObject, Value: AttributeValue {
    /// Whether the value is one of a list.
    public func isIn(_ values: some Sequence<Value>) -> Where<Root> {
        Where(self) { .isIn($0, values.map(\.attributeValue)) }
    }

    /// Whether the value lies in a range, both ends included; false of nil.
    public func isBetween(_ low: Value, _ high: Value) -> Where<Root> {
        Where(self) { .between($0, low.attributeValue, high.attributeValue) }
    }
}

extension KeyPath where Root: ManagedObject, Value == String {
    /// Whether the text begins with another, byte by byte.
    public func beginsWith(_ text: String) -> Where<Root> { Where(self) { .text($0, .beginsWith, text) } }

    /// Whether the text ends with another, byte by byte.
    public func endsWith(_ text: String) -> Where<Root> { Where(self) { .text($0, .endsWith, text) } }

    /// Whether the text contains another, byte by byte.
    public func contains(_ text: String) -> Where<Root> { Where(self) { .text($0, .contains, text) } }
}

extension KeyPath where Root: ManagedObject, Value == String? {
    /// Whether the text begins with another, byte by byte; false of nil.
    public func beginsWith(_ text: String) -> Where<Root> { Where(self) { .text($0, .beginsWith, text) } }

    /// Whether the text ends with another, byte by byte; false of nil.
    public func endsWith(_ text: String) -> Where<Root> { Where(self) { .text($0, .endsWith, text) } }

    /// Whether the text contains another, byte by byte; false of nil.
    public func contains(_ text: String) -> Where<Root> { Where(self) { .text($0, .contains, text) } }
}
