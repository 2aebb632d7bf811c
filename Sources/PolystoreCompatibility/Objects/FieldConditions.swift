public import Polystore

private func condition<F: ComparableField>(_ field: F, _ comparison: Comparison, _ value: F.ComparedValue) -> FieldCondition {
    do throws(StorageError) {
        let constant = try field._constant(value)
        return FieldCondition(predicate: .compare(.path(PropertyPath(field.keyPath)), comparison, .value(constant)), problem: nil)
    } catch {
        return FieldCondition(predicate: .constant(false), problem: error)
    }
}

/// Returns a condition for equality. Two nils are equal.
public func == <F: ComparableField>(field: F, value: F.ComparedValue) -> FieldCondition { condition(field, .equal, value) }
/// Returns a condition for inequality, which is true if one side is nil.
public func != <F: ComparableField>(field: F, value: F.ComparedValue) -> FieldCondition { condition(field, .notEqual, value) }
/// Returns a less-than condition, which is false for nil.
public func < <F: OrderedField>(field: F, value: F.ComparedValue) -> FieldCondition { condition(field, .less, value) }
/// Returns a less-than-or-equal condition, which is false for nil.
public func <= <F: OrderedField>(field: F, value: F.ComparedValue) -> FieldCondition { condition(field, .lessOrEqual, value) }
/// Returns a greater-than condition, which is false for nil.
public func > <F: OrderedField>(field: F, value: F.ComparedValue) -> FieldCondition { condition(field, .greater, value) }
/// Returns a greater-than-or-equal condition, which is false for nil.
public func >= <F: OrderedField>(field: F, value: F.ComparedValue) -> FieldCondition { condition(field, .greaterOrEqual, value) }

extension FieldDeclaring {
    /// Returns a condition on objects of the class: `Dog.where { $0.age < 1 }`.
    public static func `where`(_ condition: (Self) -> FieldCondition) -> Where<Self> {
        let condition = condition(prototype())
        return Where(condition.predicate, problem: condition.problem)
    }

    /// Returns the stored name of a field: `Dog.keyPath { $0.nickname }`.
    public static func keyPath(_ field: (Self) -> FieldBase) -> String { field(prototype()).keyPath }

    /// Returns an ascending order by a field: `Dog.ascending { $0.age }`.
    public static func ascending(_ field: (Self) -> FieldBase) -> OrderBy<Self> { .ascending(field(prototype()).keyPath) }

    /// Returns a descending order by a field: `Dog.descending { $0.age }`.
    public static func descending(_ field: (Self) -> FieldBase) -> OrderBy<Self> { .descending(field(prototype()).keyPath) }
}
