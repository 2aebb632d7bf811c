/// A section of a list.
public struct ListSectionInfo: Sendable, Hashable {
    /// The text of the value that its objects share; empty for nil, and for the only section of a list without sections.
    public let identifier: String
    /// The title: the result of the closure of `SectionBy` for the identifier, otherwise the identifier.
    public let name: String
    /// The number of its objects.
    public let numberOfObjects: Int

    /// Creates a section of a list.
    public init(identifier: String, name: String, numberOfObjects: Int) {
        self.identifier = identifier
        self.name = name
        self.numberOfObjects = numberOfObjects
    }

    /// The first letter of the name in upper case, for an index beside the list.
    public var indexTitle: String { name.prefix(1).uppercased() }
}
