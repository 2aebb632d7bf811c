internal import PolystoreStorage

/// An aggregate over the objects of a request: `.sum(\.age)`, `.count()`.
public struct Select<Object: ManagedObject>: Sendable {
    let aggregate: Aggregate
    let problem: StorageError?

    private init<Property>(_ function: AggregateFunction, _ keyPath: KeyPath<Object, Property>) {
        do throws(StorageError) {
            aggregate = Aggregate(function, try KeyPathProbe.resolve(keyPath))
            problem = nil
        } catch {
            aggregate = Aggregate(.count)
            problem = error
        }
    }

    private init(_ aggregate: Aggregate) {
        self.aggregate = aggregate
        problem = nil
    }

    /// The number of objects.
    public static func count() -> Select { Select(Aggregate(.count)) }

    /// The number of values that are not nil.
    public static func count<Property>(_ keyPath: KeyPath<Object, Property>) -> Select { Select(.count, keyPath) }

    /// The total; 0 of nothing.
    public static func sum<Property>(_ keyPath: KeyPath<Object, Property>) -> Select { Select(.sum, keyPath) }

    /// The mean; nil of nothing.
    public static func average<Property>(_ keyPath: KeyPath<Object, Property>) -> Select { Select(.average, keyPath) }

    /// The smallest value; nil of nothing.
    public static func minimum<Property>(_ keyPath: KeyPath<Object, Property>) -> Select { Select(.minimum, keyPath) }

    /// The greatest value; nil of nothing.
    public static func maximum<Property>(_ keyPath: KeyPath<Object, Property>) -> Select { Select(.maximum, keyPath) }
}

/// A request for one value.
public struct ValueQuery<Object: ManagedObject, Result: AttributeValue>: Sendable {
    let from: From<Object>
    let select: Select<Object>
}

extension From {
    /// A request for one value over the objects: `From<Person>().select(Int.self, .maximum(\.age))`.
    public func select<Result: AttributeValue>(_ type: Result.Type, _ select: Select<Object>) -> ValueQuery<Object, Result> {
        ValueQuery(from: self, select: select)
    }
}
