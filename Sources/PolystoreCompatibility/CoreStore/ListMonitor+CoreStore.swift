public import Foundation
public import Polystore

// `numberOfObjects` and other properties are functions in CoreStore, and the safe forms have other labels.
extension ListMonitor {
    /// Returns whether there are any objects.
    public func hasObjects() -> Bool { hasObjects }
    /// Returns whether a section has any objects; false if there is no such section.
    public func hasObjects(in section: Int) -> Bool { (numberOfObjects(safelyIn: section) ?? 0) > 0 }
    /// Returns whether there are any sections.
    public func hasSections() -> Bool { numberOfSections > 0 }
    /// Returns the number of objects.
    public func numberOfObjects() -> Int { numberOfObjects }
    /// Returns the number of sections.
    public func numberOfSections() -> Int { numberOfSections }
    /// Returns the sections, in order.
    public func sections() -> [ListSectionInfo] { sections }
    /// Returns the titles of an index beside the list, one for each section.
    public func sectionIndexTitles() -> [String] { sectionIndexTitles }
    /// Returns the number of objects of a section; 0 if there is no such section.
    @_disfavoredOverload
    public func numberOfObjects(in section: Int) -> Int { numberOfObjects(safelyIn: section) ?? 0 }
    /// Returns the number of objects of a section; nil if there is no such section.
    public func numberOfObjects(safelyIn section: Int) -> Int? { numberOfObjects(in: section) as Int? }
    /// Returns the information of a section; nil if there is no such section.
    public func sectionInfo(safelyAt section: Int) -> ListSectionInfo? { sectionInfo(at: section) }
    /// Returns the objects of a section, in order; none if there is no such section.
    public func objects(in section: Int) throws(StorageError) -> [Object] { try objects(inSection: section) }
    /// Returns the objects of a section, in order; nil if there is no such section.
    public func objects(safelyIn section: Int) throws(StorageError) -> [Object]? {
        sectionInfo(at: section) == nil ? nil : try objects(inSection: section)
    }

    /// Returns the object at a position of the whole list; nil if there is none.
    public subscript(safeIndex index: Int) -> Object? { self[safe: index] }
    /// Returns the object at an index path; nil if there is none.
    public subscript(safeIndexPath indexPath: IndexPath) -> Object? { self[safe: indexPath] }
    /// Returns the object of a section; nil if there is none.
    public subscript(safeSectionIndex section: Int, safeItemIndex item: Int) -> Object? {
        self[safe: IndexPath(indexes: [section, item])]
    }
}
