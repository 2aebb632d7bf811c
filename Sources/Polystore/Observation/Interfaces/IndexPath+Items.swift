public import Foundation

// Where a platform has interfaces of its own, its index paths have these names already.

#if !canImport(UIKit) && !canImport(AppKit)
extension IndexPath {
    /// The place of an item in a section.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The place of a row in a section.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The section of the place; the path must have two indexes.
    public var section: Int { self[0] }
    /// The position in the section; the path must have two indexes.
    public var item: Int { self[1] }
    /// The position in the section; the path must have two indexes.
    public var row: Int { self[1] }
}
#endif
