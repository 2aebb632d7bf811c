public import PolystoreFoundation
public import PolystoreStorage

/// Support for generated code: types under names that no class of a program has, and steps whose types are inferred.
///
/// Each step has an unconstrained overload that is never executed. With it, the code compiles even for a property of an unsupported type,
/// so that the compiler reports the error only once, in the setter.
extension ManagedObject {
    /// An alias of `Entity`.
    public typealias _Entity = Entity
    /// An alias of `Attribute`.
    public typealias _Attribute = Attribute
    /// An alias of `AttributeRules`.
    public typealias _AttributeRules = AttributeRules
    /// An alias of `CrossReference`.
    public typealias _CrossReference = CrossReference
    /// An alias of `Relationship`.
    public typealias _Relationship = Relationship
    /// An alias of `Index`.
    public typealias _Index = Index
    /// An alias of `UniqueConstraint`.
    public typealias _UniqueConstraint = UniqueConstraint
    /// An alias of `EntityIndex`.
    public typealias _EntityIndex = EntityIndex
    /// An alias of `RowView`.
    public typealias _RowView = RowView
    /// An alias of `RowBatch`.
    public typealias _RowBatch = RowBatch
    /// An alias of `Cell`.
    public typealias _Cell = Cell
    /// An alias of `ObjectContext`.
    public typealias _ObjectContext = ObjectContext
    /// An alias of `AttributeValue`.
    public typealias _AttributeValue = AttributeValue
    /// An alias of `ObjectID`.
    public typealias _ObjectID<Object: ManagedObject> = ObjectID<Object>

    /// A type as an argument, in a position where an expression would resolve to a property of the same name.
    public enum _Type<Value> {}

    /// Returns the stored name of the entity of a class.
    public static func _entityName<Object: ManagedObject>(_ type: _Type<Object>.Type) -> String { Object._entityName }

    /// Returns the stored name of the relationship at the end of a key path, which can differ from its name in Swift.
    public static func _inverse<Object: ManagedObject, Value>(_ keyPath: KeyPath<Object, Value>) -> String {
        (try? KeyPathProbe.names(readBy: keyPath))?.description ?? "\(keyPath)"
    }

    /// Returns the declaration of an attribute with a Swift type.
    public static func _attribute<V: AttributeValue>(
        _ name: String, _ type: _Type<V>.Type, defaultValue: V? = nil, rules: AttributeRules = AttributeRules(),
        crossReference: CrossReference? = nil, history: AttributeHistory = .recorded, originalName: String? = nil
    ) -> Attribute {
        let value = defaultValue?.attributeValue ?? .null
        return Attribute(
            name, V.valueType, isOptional: V.isOptionalAttribute, defaultValue: value.isNull ? nil : value, allowedValues: V.allowedValues,
            coder: V.coderName, rules: rules, crossReference: crossReference, history: history, originalName: originalName)
    }

    /// Decodes the value of a slot. For a malformed cell, returns the placeholder and records the error in the context.
    @inlinable @inline(__always)
    public static func _decode<V: AttributeValue>(_ row: borrowing RowView, _ slot: Int, _ context: borrowing ObjectContext) -> V {
        if let value = V._decode(row[slot]) { return value }
        context._undecodable(row, slot, V._decodingError(row[slot]))
        return V.placeholder
    }

    /// Encodes a value as a cell.
    @inlinable @inline(__always)
    public static func _cell(_ value: some AttributeValue, _ batch: RowBatch) -> Cell { value._encode(batch) }

    /// Returns the value of an attribute without an initial value.
    @inlinable @inline(__always)
    public static func _placeholder<V: AttributeValue>() -> V { V.placeholder }

    /// Returns the id of a to-one relationship's destination, without loading the object.
    public final func _target<T: ManagedObject>(_ key: Int64?, _ slot: Int) -> ObjectID<T>? {
        key.map { ObjectID(_context.objectKey(at: self, slot, $0)) }
    }
}

/// Initial values that are not literals. They were checked when the code was generated.
extension ManagedObject {
    /// Returns a number of this type, such as infinity.
    public static func _float(_ number: Float) -> Float { number }
    /// Returns a number of this type, such as infinity.
    public static func _double(_ number: Double) -> Double { number }
    /// Parses a decimal number.
    public static func _decimal(_ text: String) -> Decimal { Decimal(string: text) ?? 0 }
    /// Returns a date from its microseconds since 1970.
    public static func _date(_ microseconds: Int64) -> Date { Microseconds.date(microseconds) }
    /// Parses a UUID.
    public static func _uuid(_ text: String) -> UUID { UUID(uuidString: text) ?? .placeholder }
    /// Parses a URL.
    public static func _url(_ text: String) -> URL { URL(string: text) ?? .placeholder }
    /// Decodes base64 data.
    public static func _data(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
}

extension ManagedObject {
    /// Ends the process. Called only in classes that do not compile.
    public static func _broken() -> Never { fatalError("a class with compile errors was run") }

    /// An unconstrained overload that is never executed.
    @_disfavoredOverload
    public static func _attribute<V>(
        _ name: String, _ type: _Type<V>.Type, defaultValue: V? = nil, rules: AttributeRules = AttributeRules(),
        crossReference: CrossReference? = nil, history: AttributeHistory = .recorded, originalName: String? = nil
    ) -> Attribute { _broken() }

    /// An unconstrained overload that is never executed.
    @_disfavoredOverload
    public static func _decode<V>(_ row: borrowing RowView, _ slot: Int, _ context: borrowing ObjectContext) -> V { _broken() }

    /// An unconstrained overload that is never executed.
    @_disfavoredOverload
    public static func _cell<V>(_ value: V, _ batch: RowBatch) -> Cell { _broken() }

    /// An unconstrained overload that is never executed.
    @_disfavoredOverload
    public static func _placeholder<V>() -> V { _broken() }

    /// A diagnostic for a type that cannot be assigned.
    @available(
        *, unavailable,
        message: """
            the type of this property is not an attribute type: conform an enum to AttributeValue and CaseIterable, or another type, with a \
            static placeholder, to CodedAttributeValue, or mark a property that is not stored with @Transient
            """
    )
    @_disfavoredOverload
    public final func _accept<V>(_ value: V, _ slot: Int) -> V? { Self._broken() }

    /// A diagnostic for a type that cannot be assigned.
    @available(*, unavailable, message: "a property that refers to an object needs @Relationship and must be optional")
    public final func _accept<T: ManagedObject>(_ value: T?, _ slot: Int) -> T?? { Self._broken() }

    /// A diagnostic for a type that cannot be assigned.
    @available(*, unavailable, message: "a property that refers to an object needs @Relationship and must be optional")
    public final func _accept<T: ManagedObject>(_ value: T, _ slot: Int) -> T? { Self._broken() }

    /// A diagnostic for a type that cannot be assigned.
    @available(*, unavailable, message: "a property that refers to objects needs @Relationship")
    public final func _accept<T: ManagedObject>(_ value: [T], _ slot: Int) -> [T]? { Self._broken() }
}
