internal import PolystoreObjects

/// A change of a property.
public struct PropertyChange<Value> {
    /// The value before; nil in the call for the initial value, and if a deletion was undone.
    public let oldValue: Value?
    /// The current value; nil if the object was deleted.
    public let newValue: Value?
}

extension PropertyChange {
    /// Returns the objects that were added to a to-many relationship.
    public func inserted<Element>() -> Set<Element> where Value == Set<Element> { (newValue ?? []).subtracting(oldValue ?? []) }

    /// Returns the objects that were removed from a to-many relationship.
    public func removed<Element>() -> Set<Element> where Value == Set<Element> { (oldValue ?? []).subtracting(newValue ?? []) }

    /// Returns the difference between the old and the new order of a to-many relationship, with indexes.
    public func difference<Element: Hashable>() -> CollectionDifference<Element> where Value == [Element] {
        (newValue ?? []).difference(from: oldValue ?? []).inferringMoves()
    }
}
