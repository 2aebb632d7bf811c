public import Foundation
public import Polystore

extension From {
    /// Returns the request sorted by Foundation's sort descriptors, after the keys given before: `.orderBy([SortDescriptor(\.age)])`.
    ///
    /// Stores order texts by their bytes. A comparator that depends on a locale is `invalidPredicate`, which the fetch throws; on Apple's
    /// platforms that is the default for texts, and `SortDescriptor(\.name, comparator: .lexical)` the order of stores.
    @_disfavoredOverload
    public func orderBy(_ descriptors: [SortDescriptor<Object>]) -> From {
        var copy = self
        for descriptor in descriptors {
            do throws(StorageError) { copy.sort.append(try OrderTerm(descriptor)) } catch { copy.problem = copy.problem ?? error }
        }
        return copy
    }
}

extension OrderTerm {
    fileprivate init<Object: ManagedObject>(_ descriptor: SortDescriptor<Object>) throws(StorageError) {
        guard let keyPath = descriptor.keyPath else { throw Self.refusal(Object.self, "has no key path of the class") }
        if var comparator = descriptor.stringComparator {
            comparator.order = .forward
            guard comparator == .lexical else {
                throw Self.refusal(Object.self, "compares texts in a locale; use comparator: .lexical, or orderBy with a folded text")
            }
        }
        func expression<Property>(_ type: Property.Type) -> Result<QueryExpression, StorageError>? {
            guard let keyPath = keyPath as? KeyPath<Object, Property> else { return nil }
            return Result { () throws(StorageError) in try KeyPathProbe.expression(keyPath) }
        }
        guard let found = _openExistential(type(of: keyPath).valueType, do: expression) else {
            throw Self.refusal(Object.self, "has no key path of the class")
        }
        self.init(try found.get(), ascending: descriptor.order == .forward)
    }

    private static func refusal<Object>(_ type: Object.Type, _ reason: String) -> StorageError {
        StorageError(.invalidPredicate, "a sort descriptor of \(type) cannot be translated for a store: it \(reason)")
    }
}
