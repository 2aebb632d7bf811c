public import Polystore

precedencegroup ConnectionPrecedence {
    associativity: left
    higherThan: MultiplicationPrecedence
}

/// The connection of key paths to a path over relationships: `\.master ~ \.name`.
infix operator ~ : ConnectionPrecedence

/// Returns the path to a property of the object that a to-one relationship references.
public func ~ <O: ManagedObject, D: ManagedObject, V>(a: KeyPath<O, D?>, b: KeyPath<D, V>) -> Where<O>.Expression<Where<O>.SingleTarget, V>
{
    Where<O>.Expression<Where<O>.SingleTarget, D?>.property(a).appending(b)
}

/// Returns the path to a property of the object that a to-one relationship references.
public func ~ <O: CoreStoreObject, F: ToOneField, V>(
    a: KeyPath<O, F>, b: KeyPath<F.Destination, V>
) -> Where<O>.Expression<Where<O>.SingleTarget, V> {
    Where<O>.Expression<Where<O>.SingleTarget, F>.property(a).appending(b)
}

/// Returns the path to a property of the objects that a to-many relationship references: `(\.pets ~ \.name).any() == "Rex"`.
public func ~ <O: ManagedObject, C: RelatedObjects, V>(
    a: KeyPath<O, C>, b: KeyPath<C.Member, V>
) -> Where<O>.Expression<Where<O>.CollectionTarget, V> {
    Where<O>.Expression<Where<O>.CollectionTarget, C>.property(a).appending(b, isMany: true)
}

/// Returns the path to a property of the objects that a to-many relationship references: `(\.$pets ~ \.$name).any() == "Rex"`.
public func ~ <O: CoreStoreObject, F: ToManyField, V>(
    a: KeyPath<O, F>, b: KeyPath<F.Destination, V>
) -> Where<O>.Expression<Where<O>.CollectionTarget, V> {
    Where<O>.Expression<Where<O>.CollectionTarget, F>.property(a).appending(b, isMany: true)
}

/// Returns the path continued by a property of the object at its end.
public func ~ <O: ManagedObject, T, D: ManagedObject, V>(a: Where<O>.Expression<T, D?>, b: KeyPath<D, V>) -> Where<O>.Expression<T, V> {
    a.appending(b)
}

/// Returns the path continued by a property of the object at its end.
public func ~ <O: CoreStoreObject, T, F: ToOneField, V>(
    a: Where<O>.Expression<T, F>, b: KeyPath<F.Destination, V>
) -> Where<O>.Expression<T, V> {
    a.appending(b)
}

/// Returns the path continued by a property of the objects at its end.
public func ~ <O: ManagedObject, T, C: RelatedObjects, V>(
    a: Where<O>.Expression<T, C>, b: KeyPath<C.Member, V>
) -> Where<O>.Expression<Where<O>.CollectionTarget, V> {
    a.appending(b, isMany: true)
}

/// Returns the path continued by a property of the objects at its end.
public func ~ <O: CoreStoreObject, T, F: ToManyField, V>(
    a: Where<O>.Expression<T, F>, b: KeyPath<F.Destination, V>
) -> Where<O>.Expression<Where<O>.CollectionTarget, V> {
    a.appending(b, isMany: true)
}

extension Where.Expression {
    private func quantified(_ quantifier: Quantifier) -> Self {
        var copy = self
        copy.quantifier = quantifier
        return copy
    }

    /// Returns the expression for conditions that at least one related object satisfies.
    public func any() -> Where<Object>.Expression<Target, Result> { quantified(.any) }

    /// Returns the expression for conditions that every related object satisfies.
    public func all() -> Where<Object>.Expression<Target, Result> { quantified(.all) }

    /// Returns the expression for conditions that no related object satisfies.
    public func none() -> Where<Object>.Expression<Target, Result> { quantified(.none) }

    private var counted: Where<Object>.Expression<Target, Int> {
        returning(Int.self) { next in
            next.isCount = true
            next.field = { nil }
        }
    }

    /// Returns the number of related objects.
    public func count() -> Where<Object>.Expression<Target, Int> where Result: RelatedObjects { counted }

    /// Returns the number of related objects.
    public func count() -> Where<Object>.Expression<Target, Int> where Result: ToManyField { counted }
}

extension KeyPath where Root: ManagedObject {
    /// Returns the number of related objects: `(\.pets).count() > 1`.
    public func count() -> Where<Root>.Expression<Where<Root>.CollectionTarget, Int> where Value: RelatedObjects {
        Where<Root>.Expression<Where<Root>.CollectionTarget, Value>.property(self).count()
    }

    /// Returns the number of related objects: `(\.$pets).count() > 1`.
    public func count() -> Where<Root>.Expression<Where<Root>.CollectionTarget, Int> where Value: ToManyField {
        Where<Root>.Expression<Where<Root>.CollectionTarget, Value>.property(self).count()
    }
}

extension String {
    /// Creates the stored names along a path, separated by dots.
    public init<O: ManagedObject, T, V>(keyPath: Where<O>.Expression<T, V>) { self = keyPath.names.joined(separator: ".") }
}
