public import Polystore

/// A condition on a field, made by an operator: `$0.age < 1`.
public struct FieldCondition {
    let predicate: QueryPredicate

    /// Both.
    public static func && (a: FieldCondition, b: FieldCondition) -> FieldCondition { FieldCondition(predicate: a.predicate && b.predicate) }
    /// Either.
    public static func || (a: FieldCondition, b: FieldCondition) -> FieldCondition { FieldCondition(predicate: a.predicate || b.predicate) }
    /// The opposite.
    public static prefix func ! (a: FieldCondition) -> FieldCondition { FieldCondition(predicate: !a.predicate) }
}

private func condition<V: AttributeValue>(_ field: ValueField<V>, _ comparison: Comparison, _ value: V) -> FieldCondition {
    FieldCondition(predicate: .compare(.path(PropertyPath(field.keyPath)), comparison, .value(value.attributeValue)))
}

/// Equality; two nils are equal.
public func == <V: AttributeValue>(field: ValueField<V>, value: V) -> FieldCondition { condition(field, .equal, value) }
/// Inequality; true where one side is nil.
public func != <V: AttributeValue>(field: ValueField<V>, value: V) -> FieldCondition { condition(field, .notEqual, value) }
/// Smaller; false of nil.
public func < <V: AttributeValue>(field: ValueField<V>, value: V) -> FieldCondition { condition(field, .less, value) }
/// Smaller or equal; false of nil.
public func <= <V: AttributeValue>(field: ValueField<V>, value: V) -> FieldCondition { condition(field, .lessOrEqual, value) }
/// Greater; false of nil.
public func > <V: AttributeValue>(field: ValueField<V>, value: V) -> FieldCondition { condition(field, .greater, value) }
/// Greater or equal; false of nil.
public func >= <V: AttributeValue>(field: ValueField<V>, value: V) -> FieldCondition { condition(field, .greaterOrEqual, value) }

extension FieldDeclaring {
    private static var prototype: Self {
        _ = ConstructionFrame.take(nil)
        return Self(_new: 0, 0, ObjectContext._prototypes())
    }

    /// A condition on objects of the class: `Dog.where { $0.age < 1 }`.
    public static func `where`(_ condition: (Self) -> FieldCondition) -> Where<Self> { Where(condition(prototype).predicate) }

    /// The stored name of a field: `Dog.keyPath { $0.nickname }`.
    public static func keyPath(_ field: (Self) -> FieldBase) -> String { field(prototype).keyPath }

    /// Small values first: `Dog.ascending { $0.age }`.
    public static func ascending(_ field: (Self) -> FieldBase) -> OrderBy<Self> { .ascending(field(prototype).keyPath) }

    /// Great values first: `Dog.descending { $0.age }`.
    public static func descending(_ field: (Self) -> FieldBase) -> OrderBy<Self> { .descending(field(prototype).keyPath) }
}
