public import PolystoreFoundation
public import PolystoreObjects

// A program can edit a list, for example to show an object before it is stored. Each edit is atomic: if it throws, nothing changes.

extension ListSnapshot {
    /// Appends objects to a section, by default to the last one.
    ///
    /// - Throws: `notFound` without such a section, `alreadyExists` for an object that is in the list or comes twice.
    public mutating func appendItems(
        withIDs ids: some Collection<ObjectID<Object>>, toSectionWithID name: String? = nil
    ) throws(StorageError) {
        let section: Int
        if let name { section = try self.section(name) } else { section = contents.sections.count - 1 }
        guard contents.sections.indices.contains(section) else {
            throw StorageError(.notFound, "the list has no sections; append one first")
        }
        try insert(ids, section: section, item: contents.sections[section].count)
    }

    /// Inserts objects before another.
    ///
    /// - Throws: `notFound` if the other is not in the list, `alreadyExists` for an object that is in the list or comes twice.
    public mutating func insertItems(
        withIDs ids: some Collection<ObjectID<Object>>, beforeItemID other: ObjectID<Object>
    ) throws(StorageError) {
        let place = try place(other)
        try insert(ids, section: place.section, item: place.item)
    }

    /// Inserts objects after another.
    ///
    /// - Throws: `notFound` if the other is not in the list, `alreadyExists` for an object that is in the list or comes twice.
    public mutating func insertItems(
        withIDs ids: some Collection<ObjectID<Object>>, afterItemID other: ObjectID<Object>
    ) throws(StorageError) {
        let place = try place(other)
        try insert(ids, section: place.section, item: place.item + 1)
    }

    /// Inserts objects so that the first is at an index path, which may be the end of a section.
    ///
    /// - Throws: `notFound` if there is no such position, `alreadyExists` for an object that is in the list or comes twice.
    public mutating func insertItems(withIDs ids: some Collection<ObjectID<Object>>, at path: IndexPath) throws(StorageError) {
        guard path.count == 2, contents.sections.indices.contains(path[0]), 0...contents.sections[path[0]].count ~= path[1] else {
            throw Self.nothing(at: path)
        }
        try insert(ids, section: path[0], item: path[1])
    }

    /// Removes objects from the list. Sections stay, even if they become empty.
    ///
    /// - Throws: `notFound` for an object that is not in the list.
    public mutating func deleteItems(withIDs ids: some Collection<ObjectID<Object>>) throws(StorageError) {
        remove(try positions(ids))
    }

    /// Removes the objects at index paths from the list. Sections stay, even if they become empty.
    ///
    /// - Throws: `notFound` for an index path without an object.
    public mutating func deleteItems(at paths: some Collection<IndexPath>) throws(StorageError) {
        remove(try positions(at: paths))
    }

    /// Removes all objects from the list. The empty sections stay.
    public mutating func deleteAllItems() {
        updated = []
        contents = ListContents(items: [], sections: contents.sections.map { ListContents.Section(name: $0.name, count: 0) })
    }

    /// Moves an object before another.
    ///
    /// - Throws: `notFound` if one of them is not in the list.
    public mutating func moveItem(withID id: ObjectID<Object>, beforeItemID other: ObjectID<Object>) throws(StorageError) {
        try move(id, behind: 0, other)
    }

    /// Moves an object after another.
    ///
    /// - Throws: `notFound` if one of them is not in the list.
    public mutating func moveItem(withID id: ObjectID<Object>, afterItemID other: ObjectID<Object>) throws(StorageError) {
        try move(id, behind: 1, other)
    }

    /// Moves an object; `to` is its index path in the list after the move.
    ///
    /// - Throws: `notFound` for an index path that is invalid before or after the move.
    public mutating func moveItem(at from: IndexPath, to: IndexPath) throws(StorageError) {
        guard let position = starts.position(of: from) else { throw Self.nothing(at: from) }
        var changed = contents
        let item = changed.remove(at: position, section: from[0])
        guard to.count == 2, changed.sections.indices.contains(to[0]), 0...changed.sections[to[0]].count ~= to[1] else {
            throw Self.nothing(at: to)
        }
        changed.insert([item], section: to[0], item: to[1])
        contents = changed
    }

    /// Marks objects as updated.
    ///
    /// - Throws: `notFound` for an object that is not in the list.
    public mutating func reloadItems(withIDs ids: some Collection<ObjectID<Object>>) throws(StorageError) {
        for position in try positions(ids) { updated.insert(contents.items[position]) }
    }

    /// Marks the objects at index paths as updated.
    ///
    /// - Throws: `notFound` for an index path without an object.
    public mutating func reloadItems(at paths: some Collection<IndexPath>) throws(StorageError) {
        for position in try positions(at: paths) { updated.insert(contents.items[position]) }
    }
}

// MARK: Steps

extension ListSnapshot {
    private mutating func insert(_ ids: some Collection<ObjectID<Object>>, section: Int, item: Int) throws(StorageError) {
        var known: Set<ObjectID<Object>> = [], adopted = stores, items: [ListContents.Item] = []
        for id in ids {
            guard !contains(id), known.insert(id).inserted else {
                throw StorageError(
                    .alreadyExists, "\(id.key.root) \(id.key.key) is already in the list; move it instead",
                    details: StorageError.Details(keys: [id.key.key]))
            }
            items.append(try adopted.adopt(id.key))
        }
        stores = adopted
        contents.insert(items, section: section, item: item)
    }

    private mutating func move(_ id: ObjectID<Object>, behind distance: Int, _ other: ObjectID<Object>) throws(StorageError) {
        let from = try place(id)
        var goal = try place(other)
        if id == other { return }
        // The removal of an object before the destination shifts it.
        if from.section == goal.section, from.item < goal.item { goal.item -= 1 }
        var changed = contents
        let item = changed.remove(at: starts.range(from.section).lowerBound + from.item, section: from.section)
        changed.insert([item], section: goal.section, item: goal.item + distance)
        contents = changed
    }

    private mutating func remove(_ positions: Set<Int>) {
        var changed = ListContents(items: [], sections: contents.sections)
        for section in contents.sections.indices {
            let kept = starts.range(section).filter { !positions.contains($0) }
            changed.items += kept.map { contents.items[$0] }
            changed.sections[section].count = kept.count
        }
        for position in positions { updated.remove(contents.items[position]) }
        contents = changed
    }

    private func place(_ id: ObjectID<Object>) throws(StorageError) -> (section: Int, item: Int) {
        guard let position = index(of: id) else { throw Self.missing(id) }
        let section = starts.section(at: position)
        return (section, position - starts.range(section).lowerBound)
    }

    private func positions(_ ids: some Collection<ObjectID<Object>>) throws(StorageError) -> Set<Int> {
        var positions: Set<Int> = []
        for id in ids {
            guard let position = index(of: id) else { throw Self.missing(id) }
            positions.insert(position)
        }
        return positions
    }

    private func positions(at paths: some Collection<IndexPath>) throws(StorageError) -> Set<Int> {
        var positions: Set<Int> = []
        for path in paths {
            guard let position = starts.position(of: path) else { throw Self.nothing(at: path) }
            positions.insert(position)
        }
        return positions
    }

    private static func missing(_ id: ObjectID<Object>) -> StorageError {
        StorageError(.notFound, "\(id.key.root) \(id.key.key) is not in the list", details: StorageError.Details(keys: [id.key.key]))
    }

    private static func nothing(at path: IndexPath) -> StorageError {
        StorageError(.notFound, "the list has no item at index path [\(path.map(String.init).joined(separator: ", "))]")
    }
}
