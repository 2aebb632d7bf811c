public import PolystoreFoundation
public import PolystoreStorage

/// A condition on objects of a class, built from key paths and operators: `\.age > 30 && \.name == "Ann"`.
///
/// Conditions are Sendable: key paths are resolved when the condition is created. Errors of the resolution are thrown by the fetch.
public struct Where<Object: ManagedObject>: Sendable, Hashable {
    /// The condition.
    public let predicate: QueryPredicate
    package let problem: StorageError?

    /// Creates a condition from stored names.
    public init(_ predicate: QueryPredicate) {
        self.predicate = predicate
        problem = nil
    }

    package init(_ predicate: QueryPredicate, problem: StorageError?) {
        self.predicate = predicate
        self.problem = problem
    }

    /// Creates a condition on a stored property. The error of the closure is one of the condition.
    package init<Property>(_ keyPath: KeyPath<Object, Property>, _ make: (PropertyPath) throws(StorageError) -> QueryPredicate) {
        do throws(StorageError) {
            self.init(try make(try KeyPathProbe.resolve(keyPath)))
        } catch {
            self.init(.constant(false), problem: error)
        }
    }

    /// Creates a condition on the value of a property, which is stored or a computed one with an expression.
    init<Property>(value keyPath: KeyPath<Object, Property>, _ make: (QueryExpression) -> QueryPredicate) {
        let value = ValueExpression(keyPath)
        self.init(make(value.expression), problem: value.problem)
    }

    /// Returns the conjunction of two conditions.
    public static func && (a: Where, b: Where) -> Where { Where(a.predicate && b.predicate, problem: a.problem ?? b.problem) }

    /// Returns the disjunction of two conditions.
    public static func || (a: Where, b: Where) -> Where { Where(a.predicate || b.predicate, problem: a.problem ?? b.problem) }

    /// Returns the negation of a condition.
    public static prefix func ! (a: Where) -> Where { Where(!a.predicate, problem: a.problem) }
}

extension Where {
    /// Creates a condition from Foundation's `#Predicate`: `Where(#Predicate<Person> { $0.age > 30 && $0.name.contains("x") })`.
    ///
    /// The predicate is translated to the same tree as conditions from key paths, with the same meaning on every store: two-valued logic,
    /// with texts compared by bytes and measured in Unicode scalars. Foundation does not evaluate it. To refer to an object, capture its
    /// `objectID`. A part that cannot be translated, and a captured value that no attribute can have, is `invalidPredicate`, which the
    /// request with the condition throws.
    public init(_ predicate: Predicate<Object>) {
        do throws(StorageError) {
            let lowering = Lowering(variable: predicate.variable.key)
            self.init(try lowering.condition(lowering.lower(predicate.expression)).predicate)
        } catch {
            self.init(.constant(false), problem: error)
        }
    }
}
