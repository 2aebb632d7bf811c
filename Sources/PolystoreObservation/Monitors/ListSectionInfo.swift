/// A section of a list.
public struct ListSectionInfo: Sendable, Hashable {
    /// The text of the value that its objects share; empty for nil, and for the only section of a list without sections.
    public let identifier: String
    /// The title: the result of the closure of `SectionBy` for the identifier, otherwise the identifier.
    public let name: String
    /// The number of its objects.
    public let numberOfObjects: Int
    /// The title in an index beside the list; nil for the first letter of the name.
    package var ownIndexTitle: String?

    /// Creates a section of a list.
    public init(identifier: String, name: String, numberOfObjects: Int) {
        self.identifier = identifier
        self.name = name
        self.numberOfObjects = numberOfObjects
    }

    /// The title in an index beside the list: the first letter of the name in upper case.
    public var indexTitle: String { ownIndexTitle ?? name.prefix(1).uppercased() }
}
