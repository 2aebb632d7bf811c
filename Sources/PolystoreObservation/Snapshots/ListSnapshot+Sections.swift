public import PolystoreObjects

extension ListSnapshot {
    /// A section of a list: its name, and its objects in order.
    public struct SectionInfo: Sendable, Identifiable, RandomAccessCollection {
        /// The identifier of the section in its list; empty for the only one of a list without sections.
        public let name: String
        private let items: ArraySlice<ListContents.Item>
        private let stores: ListStores

        init(name: String, items: ArraySlice<ListContents.Item>, stores: ListStores) {
            self.name = name
            self.items = items
            self.stores = stores
        }

        /// The name.
        public var id: String { name }
        /// The start index, zero.
        public var startIndex: Int { 0 }
        /// The number of objects.
        public var endIndex: Int { items.count }
        /// Returns the object at a position in the section.
        public subscript(position: Int) -> ObjectID<Object> { ObjectID(stores.key(of: items[items.startIndex + position])) }
        /// All objects in order.
        public var itemIDs: [ObjectID<Object>] { Array(self) }
    }

    /// The sections of a list, each created on access.
    public struct Sections: Sendable, RandomAccessCollection {
        let list: ListSnapshot

        /// The start index, zero.
        public var startIndex: Int { 0 }
        /// The number of sections.
        public var endIndex: Int { list.numberOfSections }
        /// Returns the section at a position.
        public subscript(position: Int) -> SectionInfo {
            SectionInfo(
                name: list.contents.sections[position].name, items: list.contents.items[list.starts.range(position)], stores: list.stores)
        }
    }

    /// The sections in order, empty ones included.
    public var sections: Sections { Sections(list: self) }

    /// The names of the sections in order.
    public var sectionIDs: [String] { contents.sections.map(\.name) }

    /// Returns the objects of a section; nil if there is none at that position.
    public func items(inSectionAt section: Int) -> SectionInfo? { sections.indices.contains(section) ? sections[section] : nil }

    /// Returns the objects of the section with a name; nil if there is none.
    public func items(inSectionWithID name: String) -> SectionInfo? { contents.section(named: name).map { sections[$0] } }

    /// Returns the position of a section; nil if there is none with that name.
    public func indexOfSection(withID name: String) -> Int? { contents.section(named: name) }
}
