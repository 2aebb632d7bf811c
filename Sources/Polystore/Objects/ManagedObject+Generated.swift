public import Foundation
public import PolystoreStorage

/// What generated code uses: types by names that no class of a program has, and steps whose types are inferred.
///
/// Each step has a twin without constraints, which is never run: it compiles so that a property of a type that cannot be stored is told of
/// once, by its setter.
extension ManagedObject {
    /// An entity.
    public typealias _Entity = Entity
    /// An attribute.
    public typealias _Attribute = Attribute
    /// The rules of an attribute.
    public typealias _AttributeRules = AttributeRules
    /// A reference into another store.
    public typealias _CrossReference = CrossReference
    /// A relationship.
    public typealias _Relationship = Relationship
    /// An index.
    public typealias _Index = Index
    /// A unique constraint.
    public typealias _UniqueConstraint = UniqueConstraint
    /// The position of an entity.
    public typealias _EntityIndex = EntityIndex
    /// A row.
    public typealias _RowView = RowView
    /// Rows.
    public typealias _RowBatch = RowBatch
    /// A cell of a row.
    public typealias _Cell = Cell
    /// The context of an object.
    public typealias _ObjectContext = ObjectContext
    /// An identity.
    public typealias _ObjectID<Object: ManagedObject> = ObjectID<Object>

    /// A type as an argument, where an expression would find a property of the same name.
    public enum _Type<Value> {}

    /// The stored name of the entity of a class.
    public static func _entityName<Object: ManagedObject>(_ type: _Type<Object>.Type) -> String { Object._entityName }

    /// The declaration of an attribute by its Swift type.
    public static func _attribute<V: AttributeValue>(
        _ name: String, _ type: _Type<V>.Type, defaultValue: V? = nil, rules: AttributeRules = AttributeRules(),
        crossReference: CrossReference? = nil, history: AttributeHistory = .recorded, originalName: String? = nil
    ) -> Attribute {
        let value = defaultValue?.attributeValue ?? .null
        return Attribute(
            name, V.valueType, isOptional: V.isOptionalAttribute, defaultValue: value.isNull ? nil : value, allowedValues: V.allowedValues,
            coder: V.coderName, rules: rules, crossReference: crossReference, history: history, originalName: originalName)
    }

    /// The value of a slot; its placeholder, with the reason kept by the context, when the cell is ill-formed.
    @inlinable @inline(__always)
    public static func _decode<V: AttributeValue>(_ row: borrowing RowView, _ slot: Int, _ context: borrowing ObjectContext) -> V {
        if let value = V._decode(row[slot]) { return value }
        context._undecodable(row, slot)
        return V.placeholder
    }

    /// The cell of a value.
    @inlinable @inline(__always)
    public static func _cell(_ value: some AttributeValue, _ batch: RowBatch) -> Cell { value._encode(batch) }

    /// What an attribute without an initial value starts with.
    @inlinable @inline(__always)
    public static func _placeholder<V: AttributeValue>() -> V { V.placeholder }

    /// The id that a to-one relationship leads to, without loading the object.
    public final func _target<T: ManagedObject>(_ key: Int64?, _ slot: Int) -> ObjectID<T>? {
        key.map { ObjectID(_context.objectKey(at: self, slot, $0)) }
    }
}

/// Initial values that are no literals; they were checked when the code was generated.
extension ManagedObject {
    /// A number with a type, such as infinity.
    public static func _float(_ number: Float) -> Float { number }
    /// A number with a type, such as infinity.
    public static func _double(_ number: Double) -> Double { number }
    /// A number from its text.
    public static func _decimal(_ text: String) -> Decimal { Decimal(string: text) ?? 0 }
    /// A date from its microseconds since 1970.
    public static func _date(_ microseconds: Int64) -> Date { Microseconds.date(microseconds) }
    /// A UUID from its text.
    public static func _uuid(_ text: String) -> UUID { UUID(uuidString: text) ?? .placeholder }
    /// A URL from its text.
    public static func _url(_ text: String) -> URL { URL(string: text) ?? .placeholder }
    /// Bytes from their text in base 64.
    public static func _data(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
}

extension ManagedObject {
    /// Where a class does not compile because of one of its properties.
    public static func _broken() -> Never { fatalError("a class that does not compile was run") }

    /// The twin of the above.
    @_disfavoredOverload
    public static func _attribute<V>(
        _ name: String, _ type: _Type<V>.Type, defaultValue: V? = nil, rules: AttributeRules = AttributeRules(),
        crossReference: CrossReference? = nil, history: AttributeHistory = .recorded, originalName: String? = nil
    ) -> Attribute { _broken() }

    /// The twin of the above.
    @_disfavoredOverload
    public static func _decode<V>(_ row: borrowing RowView, _ slot: Int, _ context: borrowing ObjectContext) -> V { _broken() }

    /// The twin of the above.
    @_disfavoredOverload
    public static func _cell<V>(_ value: V, _ batch: RowBatch) -> Cell { _broken() }

    /// The twin of the above.
    @_disfavoredOverload
    public static func _placeholder<V>() -> V { _broken() }

    /// What tells of a type that cannot be assigned.
    @available(
        *, unavailable,
        message: """
            no attribute can have the type of this property: an enum conforms to AttributeValue and CaseIterable, another type of your own to \
            CodedAttributeValue, and what is not stored is @Transient
            """
    )
    @_disfavoredOverload
    public final func _accept<V>(_ value: V, _ slot: Int) -> V? { Self._broken() }

    /// What tells of a type that cannot be assigned.
    @available(*, unavailable, message: "a property that leads to an object needs @Relationship, and is optional")
    public final func _accept<T: ManagedObject>(_ value: T?, _ slot: Int) -> T?? { Self._broken() }

    /// What tells of a type that cannot be assigned.
    @available(*, unavailable, message: "a property that leads to an object needs @Relationship, and is optional")
    public final func _accept<T: ManagedObject>(_ value: T, _ slot: Int) -> T? { Self._broken() }

    /// What tells of a type that cannot be assigned.
    @available(*, unavailable, message: "a property that leads to objects needs @Relationship")
    public final func _accept<T: ManagedObject>(_ value: [T], _ slot: Int) -> [T]? { Self._broken() }
}
