internal import PolystoreFoundation
public import PolystoreObjects

extension ListSnapshot {
    /// Appends empty sections. They replace the only section of an empty list without sections.
    ///
    /// - Throws: `alreadyExists` for a name that is in the list or comes twice.
    public mutating func appendSections(withIDs names: some Collection<String>) throws(StorageError) {
        try insert(names, at: contents.sections.count)
    }

    /// Inserts empty sections before another.
    ///
    /// - Throws: `notFound` if the other is not in the list, `alreadyExists` for a name that is in the list or comes twice.
    public mutating func insertSections(
        withIDs names: some Collection<String>, beforeSectionID other: String
    ) throws(StorageError) {
        try insert(names, at: try section(other))
    }

    /// Inserts empty sections after another.
    ///
    /// - Throws: `notFound` if the other is not in the list, `alreadyExists` for a name that is in the list or comes twice.
    public mutating func insertSections(
        withIDs names: some Collection<String>, afterSectionID other: String
    ) throws(StorageError) {
        try insert(names, at: try section(other) + 1)
    }

    /// Inserts empty sections so that the first is at a position, which may be the end.
    ///
    /// - Throws: `notFound` if there is no such position, `alreadyExists` for a name that is in the list or comes twice.
    public mutating func insertSections(withIDs names: some Collection<String>, at section: Int) throws(StorageError) {
        guard 0...contents.sections.count ~= section else { throw Self.noSection(at: section) }
        try insert(names, at: section)
    }

    /// Removes sections with their objects from the list.
    ///
    /// - Throws: `notFound` for a name that is not in the list.
    public mutating func deleteSections(withIDs names: some Collection<String>) throws(StorageError) {
        try deleteSections(at: try sections(names))
    }

    /// Removes the sections at positions with their objects from the list.
    ///
    /// - Throws: `notFound` for a position without a section.
    public mutating func deleteSections(at sections: some Collection<Int>) throws(StorageError) {
        for section in sections { try check(section) }
        let leaving = Set(sections)
        for section in leaving { updated.subtract(contents.items[starts.range(section)]) }
        arrange(contents.sections.indices.filter { !leaving.contains($0) })
    }

    /// Moves a section with its objects before another.
    ///
    /// - Throws: `notFound` if one of them is not in the list.
    public mutating func moveSection(withID name: String, beforeSectionID other: String) throws(StorageError) {
        let from = try section(name), goal = try section(other)
        try moveSection(at: from, to: from < goal ? goal - 1 : goal)
    }

    /// Moves a section with its objects after another.
    ///
    /// - Throws: `notFound` if one of them is not in the list.
    public mutating func moveSection(withID name: String, afterSectionID other: String) throws(StorageError) {
        let from = try section(name), goal = try section(other)
        try moveSection(at: from, to: from <= goal ? goal : goal + 1)
    }

    /// Moves a section with its objects; `to` is its position in the list after the move.
    ///
    /// - Throws: `notFound` for a position without a section.
    public mutating func moveSection(at from: Int, to: Int) throws(StorageError) {
        try check(from)
        try check(to)
        var order = Array(contents.sections.indices)
        order.insert(order.remove(at: from), at: to)
        arrange(order)
    }

    /// Marks all objects of sections as updated.
    ///
    /// - Throws: `notFound` for a name that is not in the list.
    public mutating func reloadSections(withIDs names: some Collection<String>) throws(StorageError) {
        try reloadSections(at: try sections(names))
    }

    /// Marks all objects of the sections at positions as updated.
    ///
    /// - Throws: `notFound` for a position without a section.
    public mutating func reloadSections(at sections: some Collection<Int>) throws(StorageError) {
        for section in sections { try check(section) }
        for section in sections { updated.formUnion(contents.items[starts.range(section)]) }
    }
}

// MARK: Steps

extension ListSnapshot {
    /// Returns the position of a section. The name may be a stored value, so the error does not contain it.
    func section(_ name: String) throws(StorageError) -> Int {
        guard let section = contents.section(named: name) else { throw StorageError(.notFound, "the list has no section with that name") }
        return section
    }

    private func sections(_ names: some Collection<String>) throws(StorageError) -> [Int] {
        var sections: [Int] = []
        for name in names { sections.append(try section(name)) }
        return sections
    }

    private func check(_ section: Int) throws(StorageError) {
        guard contents.sections.indices.contains(section) else { throw Self.noSection(at: section) }
    }

    private static func noSection(at section: Int) -> StorageError { StorageError(.notFound, "the list has no section \(section)") }

    private mutating func insert(_ names: some Collection<String>, at section: Int) throws(StorageError) {
        // A list without sections has one placeholder section.
        let isPlain = contents.sections == [ListContents.Section(name: "", count: 0)]
        var known = isPlain ? [] : Set(contents.sections.map(\.id))
        for name in names where !known.insert(ExactText(name)).inserted {
            throw StorageError(.alreadyExists, "section names must be unique, but one of the inserted sections is already in the list")
        }
        let added = names.map { ListContents.Section(name: $0, count: 0) }
        if isPlain, !added.isEmpty { contents.sections = added } else { contents.sections.insert(contentsOf: added, at: section) }
    }

    /// Rearranges the list to these of its sections, in this order.
    private mutating func arrange(_ order: [Int]) {
        contents = ListContents(
            items: ContiguousArray(order.flatMap { contents.items[starts.range($0)] }), sections: order.map { contents.sections[$0] })
    }
}
