internal import Polystore

/// A condition on a field, created by an operator: `$0.age < 1`.
public struct FieldCondition {
    let predicate: QueryPredicate

    /// Returns the conjunction of two conditions.
    public static func && (a: FieldCondition, b: FieldCondition) -> FieldCondition { FieldCondition(predicate: a.predicate && b.predicate) }
    /// Returns the disjunction of two conditions.
    public static func || (a: FieldCondition, b: FieldCondition) -> FieldCondition { FieldCondition(predicate: a.predicate || b.predicate) }
    /// Returns the negation of a condition.
    public static prefix func ! (a: FieldCondition) -> FieldCondition { FieldCondition(predicate: !a.predicate) }
}
