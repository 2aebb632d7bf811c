public import Polystore

extension ListSnapshot {
    /// Returns whether there are any items.
    public func hasItems() -> Bool { !isEmpty }
    /// Returns whether a section has any items; false if there is no such section.
    public func hasItems(inSectionIndex section: Int) -> Bool { numberOfItems(inSectionIndex: section) > 0 }
    /// Returns whether a section has any items; false if there is no such section.
    public func hasItems(inSectionWithID name: String) -> Bool { numberOfItems(inSectionWithID: name) > 0 }
    /// Returns whether there are any sections.
    public func hasSections() -> Bool { numberOfSections > 0 }
    /// Returns the number of items of a section; 0 if there is no such section.
    public func numberOfItems(inSectionIndex section: Int) -> Int { items(inSectionAt: section)?.count ?? 0 }
    /// Returns the number of items of a section; 0 if there is no such section.
    public func numberOfItems(inSectionWithID name: String) -> Int { items(inSectionWithID: name)?.count ?? 0 }
    /// Returns the ids of the items of a section, in order; none if there is no such section.
    public func itemIDs(inSectionWithID name: String) -> [ObjectID<Object>] { items(inSectionWithID: name)?.itemIDs ?? [] }
    /// Returns the position of an item; nil if the list does not contain it.
    public func indexOfItem(withID id: ObjectID<Object>) -> Int? { index(of: id) }
}
