internal import PolystoreStorage

/// What a list holds: the places of its objects in order, cut into sections.
struct ListContents: Sendable, Hashable {
    /// The place of an object: the position of its store in the stack, and its key.
    struct Item: Sendable, Hashable {
        let key: Int64
        let store: Int32
    }

    /// A run of items with one section name.
    struct Section: Sendable, Hashable {
        /// What identifies the section, by its bytes, as a store tells values apart; empty for the only one of a list without sections.
        let id: ExactText
        /// The number of its items.
        var count: Int

        init(name: String, count: Int) {
            id = ExactText(name)
            self.count = count
        }

        /// What identifies the section.
        var name: String { id.text }
    }

    /// All items, section after section.
    var items: ContiguousArray<Item>
    /// The sections in order; their counts add up to the number of items. A list without sections has one, also when it is empty.
    var sections: [Section]

    /// A list without sections.
    init(items: ContiguousArray<Item> = []) {
        self.items = items
        sections = [Section(name: "", count: items.count)]
    }

    /// A list with sections.
    init(items: ContiguousArray<Item>, sections: [Section]) {
        self.items = items
        self.sections = sections
    }
}

extension ListContents {
    /// The same items as one section.
    var withoutSections: ListContents { ListContents(items: items) }

    /// The position of the section with this name.
    func section(named name: String) -> Int? {
        let id = ExactText(name)
        return sections.firstIndex { $0.id == id }
    }

    /// Puts items into a section; the place must exist.
    mutating func insert(_ added: [Item], section: Int, item: Int) {
        items.insert(contentsOf: added, at: sections[..<section].reduce(item) { $0 + $1.count })
        sections[section].count += added.count
    }

    /// Takes the item at a position out of the section that it is in.
    mutating func remove(at position: Int, section: Int) -> Item {
        sections[section].count -= 1
        return items.remove(at: position)
    }
}
