public import PolystoreStorage

/// A new value of an attribute for many objects: `.set(\.age, to: 30)`, `.set(\.age, to: \.age + 1)`.
public struct Assignment<Object: ManagedObject>: Sendable {
    let path: PropertyPath
    let value: QueryExpression
    let problem: StorageError?

    private init<Property>(_ keyPath: ReferenceWritableKeyPath<Object, Property>, _ value: QueryExpression, _ problem: StorageError?) {
        self.value = value
        do throws(StorageError) {
            path = try KeyPathProbe.resolve(keyPath)
            self.problem = problem
        } catch {
            path = .object
            self.problem = error
        }
    }

    /// The same value for all.
    public static func set<V: AttributeValue>(_ keyPath: ReferenceWritableKeyPath<Object, V>, to value: V) -> Assignment {
        Assignment(keyPath, .value(value.attributeValue), nil)
    }

    /// A value that is computed from each object as it was.
    public static func set<V: AttributeValue>(_ keyPath: ReferenceWritableKeyPath<Object, V>, to value: ValueExpression<Object, V>)
        -> Assignment
    {
        Assignment(keyPath, value.expression, value.problem)
    }

    /// The value of another attribute.
    public static func set<V: AttributeValue>(_ keyPath: ReferenceWritableKeyPath<Object, V>, to other: KeyPath<Object, V>) -> Assignment {
        set(keyPath, to: ValueExpression(other))
    }

    private init(_ name: String, _ value: QueryExpression) {
        path = PropertyPath(name)
        self.value = value
        problem = nil
    }

    /// A value for an attribute by its stored name: `.set(named: "age", to: .value(.int(30)))`.
    public static func set(named name: String, to value: QueryExpression) -> Assignment { Assignment(name, value) }
}
