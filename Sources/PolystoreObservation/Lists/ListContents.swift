internal import PolystoreObjects

/// The contents of a list: the row locators of its objects in order, divided into sections.
struct ListContents: Sendable, Hashable {
    /// A row locator of an object: the position of its store in the stack, and its key.
    struct Item: Sendable, Hashable {
        let key: Int64
        let store: Int32
    }

    /// A run of items with one section name.
    struct Section: Sendable, Hashable {
        /// The identifier of the section, compared by its bytes, as stores distinguish values; empty for the only one of a list without
        /// sections.
        let id: ExactText
        /// The number of its items.
        var count: Int

        init(name: String, count: Int) {
            id = ExactText(name)
            self.count = count
        }

        /// The identifier of the section as text.
        var name: String { id.text }
    }

    /// All items, section after section.
    var items: ContiguousArray<Item>
    /// The sections in order. Their counts add up to the number of items. A list without sections has one, even if it is empty.
    var sections: [Section]

    /// Creates a list without sections.
    init(items: ContiguousArray<Item> = []) {
        self.items = items
        sections = [Section(name: "", count: items.count)]
    }

    /// Creates a list with sections.
    init(items: ContiguousArray<Item>, sections: [Section]) {
        self.items = items
        self.sections = sections
    }
}

extension ListContents {
    /// The same items as one section.
    var withoutSections: ListContents { ListContents(items: items) }

    /// Returns the position of the section with this name.
    func section(named name: String) -> Int? {
        let id = ExactText(name)
        return sections.firstIndex { $0.id == id }
    }

    /// Inserts items into a section. The position must exist.
    mutating func insert(_ added: [Item], section: Int, item: Int) {
        items.insert(contentsOf: added, at: sections[..<section].reduce(item) { $0 + $1.count })
        sections[section].count += added.count
    }

    /// Removes the item at a position from its section.
    mutating func remove(at position: Int, section: Int) -> Item {
        sections[section].count -= 1
        return items.remove(at: position)
    }
}
