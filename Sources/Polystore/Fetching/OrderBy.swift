internal import PolystoreStorage

/// One key of an order: `.ascending(\.name)`.
public struct OrderBy<Object: ManagedObject>: Sendable {
    let descriptor: SortDescriptor
    let problem: StorageError?

    private init<Property>(_ keyPath: KeyPath<Object, Property>, ascending: Bool) {
        do throws(StorageError) {
            descriptor = SortDescriptor(try KeyPathProbe.resolve(keyPath), ascending: ascending)
            problem = nil
        } catch {
            descriptor = SortDescriptor(.object, ascending: ascending)
            problem = error
        }
    }

    private init(_ name: String, ascending: Bool) {
        descriptor = SortDescriptor(PropertyPath(name), ascending: ascending)
        problem = nil
    }

    private init<Value>(_ expression: ValueExpression<Object, Value>, ascending: Bool) {
        descriptor = SortDescriptor(expression.expression, ascending: ascending)
        problem = expression.problem
    }

    /// Small values of something computed first; nil is the smallest.
    public static func ascending<Value>(_ expression: ValueExpression<Object, Value>) -> OrderBy { OrderBy(expression, ascending: true) }

    /// Great values of something computed first; nil is the last.
    public static func descending<Value>(_ expression: ValueExpression<Object, Value>) -> OrderBy { OrderBy(expression, ascending: false) }

    /// Small values first; nil is the smallest.
    public static func ascending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: true)
    }

    /// Great values first; nil is the last.
    public static func descending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: false)
    }
}

extension OrderBy {
    /// Small values of a property first, by its stored name; nil is the smallest.
    public static func ascending(_ name: String) -> OrderBy { OrderBy(name, ascending: true) }

    /// Great values of a property first, by its stored name; nil is the last.
    public static func descending(_ name: String) -> OrderBy { OrderBy(name, ascending: false) }
}
