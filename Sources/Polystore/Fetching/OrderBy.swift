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

    /// Small values first; nil is the smallest.
    public static func ascending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: true)
    }

    /// Great values first; nil is the last.
    public static func descending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: false)
    }
}
