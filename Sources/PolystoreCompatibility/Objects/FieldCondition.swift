internal import Polystore

/// A condition on a field, created by an operator: `$0.age < 1`.
public struct FieldCondition {
    let predicate: QueryPredicate
    let problem: StorageError?

    /// Returns the conjunction of two conditions.
    public static func && (a: FieldCondition, b: FieldCondition) -> FieldCondition {
        FieldCondition(predicate: a.predicate && b.predicate, problem: a.problem ?? b.problem)
    }

    /// Returns the disjunction of two conditions.
    public static func || (a: FieldCondition, b: FieldCondition) -> FieldCondition {
        FieldCondition(predicate: a.predicate || b.predicate, problem: a.problem ?? b.problem)
    }

    /// Returns the negation of a condition.
    public static prefix func ! (a: FieldCondition) -> FieldCondition { FieldCondition(predicate: !a.predicate, problem: a.problem) }
}
