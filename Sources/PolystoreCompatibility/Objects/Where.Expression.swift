public import Polystore

extension Where {
    /// The mark of an expression with one value for each object.
    public enum SingleTarget {}
    /// The mark of an expression with the values of many related objects.
    public enum CollectionTarget {}

    /// A path over relationships, connected by `~`: `(\.master ~ \.name) == "John"`.
    public struct Expression<Target, Result> {
        var names: [String]
        /// The number of names that lead to the objects of the first to-many relationship; nil if there is none, or if they are counted.
        var members: Int?
        var quantifier = Quantifier.any
        var isCount = false
        var problem: StorageError?
        /// Returns the field at the end of the path, of an object that represents no row; nil if the path ends at a value.
        var field: () -> FieldBase? = { nil }

        /// Returns the expression with another result.
        func returning<T, R>(_ type: R.Type, _ change: (inout Where<Object>.Expression<T, R>) -> Void) -> Where<Object>.Expression<T, R> {
            var other = Where<Object>.Expression<T, R>(
                names: names, members: members, quantifier: quantifier, isCount: isCount, problem: problem, field: field)
            change(&other)
            return other
        }

        /// Returns the condition that a test of the value makes.
        func condition(_ test: (QueryExpression) throws(StorageError) -> QueryPredicate) -> Where<Object> {
            do throws(StorageError) {
                if let problem { throw problem }
                if isCount { return Where(try test(.related(RelatedAggregate(.count, PropertyPath(names))))) }
                guard let members else { return Where(try test(.path(PropertyPath(names)))) }
                let path = PropertyPath(Array(names.prefix(members))), rest = Array(names.dropFirst(members))
                return Where(.related(quantifier, path, try test(.path(rest.isEmpty ? .object : PropertyPath(rest)))))
            } catch {
                return Where(.constant(false), problem: error)
            }
        }

        func compare(_ comparison: Comparison, _ value: Value) -> Where<Object> {
            condition { .compare($0, comparison, .value(value)) }
        }

        /// Returns the expression continued by a property of the object at its end.
        func appending<T, D: ManagedObject, R>(_ property: KeyPath<D, R>, isMany: Bool = false) -> Where<Object>.Expression<T, R> {
            returning(R.self) { next in
                if isMany, next.members == nil { next.members = names.count }
                next.field = { (D.self as? CoreStoreObject.Type).flatMap { ($0.prototype() as? D)?[keyPath: property] as? FieldBase } }
                do throws(StorageError) { next.names += try KeyPathProbe.resolve(property).names } catch {
                    next.problem = next.problem ?? error
                }
            }
        }

        /// Returns the expression of a single property.
        static func property(_ property: KeyPath<Object, Result>) -> Where<Object>.Expression<Target, Result> {
            Where<Object>.Expression<Target, Object>(names: []).appending(property)
        }
    }
}
