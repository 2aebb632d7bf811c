public import PolystoreStorage

/// The assignment of a new value to an attribute of many objects: `.set(\.age, to: 30)`, `.set(\.age, to: \.age + 1)`.
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

    /// Returns an assignment of the same value to all objects. References are assigned object by object, because their inverses change.
    public static func set<V: AttributeValue>(_ keyPath: ReferenceWritableKeyPath<Object, V>, to value: V) -> Assignment {
        Assignment(keyPath, .value(value.attributeValue), nil)
    }

    /// Returns an assignment of a value that is computed from the previous state of each object.
    public static func set<V: AttributeValue>(_ keyPath: ReferenceWritableKeyPath<Object, V>, to value: ValueExpression<Object, V>)
        -> Assignment
    {
        Assignment(keyPath, value.expression, value.problem)
    }

    /// Returns an assignment of another attribute's value.
    public static func set<V: AttributeValue>(_ keyPath: ReferenceWritableKeyPath<Object, V>, to other: KeyPath<Object, V>) -> Assignment {
        set(keyPath, to: ValueExpression(other))
    }

    private init(_ name: String, _ value: QueryExpression) {
        path = PropertyPath(name)
        self.value = value
        problem = nil
    }

    /// Returns an assignment to an attribute by its stored name: `.set(named: "age", to: .value(.int(30)))`.
    public static func set(named name: String, to value: QueryExpression) -> Assignment { Assignment(name, value) }
}
