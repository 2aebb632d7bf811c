public import PolystoreFoundation

// On platforms with UIKit or AppKit, index paths already have these members.

#if !canImport(UIKit) && !canImport(AppKit)
extension IndexPath {
    /// Creates the index path of an item in a section.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// Creates the index path of a row in a section.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The section. The path must have two indexes.
    public var section: Int { self[0] }
    /// The position in the section. The path must have two indexes.
    public var item: Int { self[1] }
    /// The position in the section. The path must have two indexes.
    public var row: Int { self[1] }
}
#endif
