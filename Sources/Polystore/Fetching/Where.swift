public import PolystoreStorage

/// A condition on objects of a class, made from key paths and operators: `\.age > 30 && \.name == "Ann"`.
///
/// A value that can be sent: key paths were resolved when it was made. What could not be resolved is thrown by the fetch.
public struct Where<Object: ManagedObject>: Sendable {
    /// The condition.
    public let predicate: QueryPredicate
    let problem: StorageError?

    /// A condition of names.
    public init(_ predicate: QueryPredicate) {
        self.predicate = predicate
        problem = nil
    }

    init(_ predicate: QueryPredicate, problem: StorageError?) {
        self.predicate = predicate
        self.problem = problem
    }

    init<Property>(_ keyPath: KeyPath<Object, Property>, _ make: (PropertyPath) throws(StorageError) -> QueryPredicate) {
        do throws(StorageError) {
            self.init(try make(try KeyPathProbe.resolve(keyPath)))
        } catch {
            self.init(.constant(false), problem: error)
        }
    }

    /// A condition on the value of a property: a stored one, or a computed one that says what it is.
    init<Property>(value keyPath: KeyPath<Object, Property>, _ make: (QueryExpression) -> QueryPredicate) {
        let value = ValueExpression(keyPath)
        self.init(make(value.expression), problem: value.problem)
    }

    /// Both.
    public static func && (a: Where, b: Where) -> Where { Where(a.predicate && b.predicate, problem: a.problem ?? b.problem) }

    /// Either.
    public static func || (a: Where, b: Where) -> Where { Where(a.predicate || b.predicate, problem: a.problem ?? b.problem) }

    /// The opposite.
    public static prefix func ! (a: Where) -> Where { Where(!a.predicate, problem: a.problem) }
}
