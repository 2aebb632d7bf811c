internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// A list in sections that is kept up to date exclusively from notifications.
struct ShadowList: Equatable, CustomStringConvertible {
    struct Section: Equatable {
        let name: String
        var keys: [ObjectKey]
    }

    /// The changes from one list to the next, in the format of `ListChanges`, with the objects and the names of insertions.
    struct Edit {
        var deletedSections: [Int] = []
        var insertedSections: [(index: Int, name: String)] = []
        var deleted: [IndexPath] = []
        var inserted: [(path: IndexPath, key: ObjectKey)] = []
        var moved: [(from: IndexPath, to: IndexPath)] = []
    }

    var sections: [Section]

    init(_ sections: [Section]) { self.sections = sections }

    init<Object: ManagedObject>(_ monitor: ListMonitor<Object>) {
        var ids = monitor.objectIDs[...]
        sections = monitor.sections.map { section in
            defer { ids = ids.dropFirst(section.numberOfObjects) }
            return Section(name: section.identifier, keys: ids.prefix(section.numberOfObjects).map(\.key))
        }
    }

    init<Object: ManagedObject>(_ snapshot: ListSnapshot<Object>) {
        sections = snapshot.sections.map { Section(name: $0.name, keys: $0.map(\.key)) }
    }

    var keys: [ObjectKey] { sections.flatMap(\.keys) }

    var description: String { sections.map { "\($0.name)\($0.keys.map(\.key))" }.joined(separator: " ") }

    /// Returns the key at an index path, or nil where there is none.
    subscript(path: IndexPath) -> ObjectKey? {
        guard path.count == 2, sections.indices.contains(path[0]), sections[path[0]].keys.indices.contains(path[1]) else { return nil }
        return sections[path[0]].keys[path[1]]
    }

    /// Applies an edit.
    ///
    /// - Returns: The reason that it cannot be applied, or nil.
    mutating func apply(_ edit: Edit) -> String? {
        var put = edit.inserted
        for move in edit.moved {
            guard let key = self[move.from] else { return "a move from \(Array(move.from))" }
            put.append((move.to, key))
        }
        for path in (edit.deleted + edit.moved.map(\.from)).sorted(by: >) {
            guard self[path] != nil else { return "a deletion at \(Array(path))" }
            sections[path[0]].keys.remove(at: path[1])
        }
        for index in edit.deletedSections.sorted(by: >) {
            guard sections.indices.contains(index), sections[index].keys.isEmpty else { return "a deletion of section \(index)" }
            sections.remove(at: index)
        }
        for (index, name) in edit.insertedSections.sorted(by: { $0.index < $1.index }) {
            guard index <= sections.count else { return "an insertion of section \(index)" }
            sections.insert(Section(name: name, keys: []), at: index)
        }
        for (path, key) in put.sorted(by: { $0.path < $1.path }) {
            guard sections.indices.contains(path[0]), path[1] <= sections[path[0]].keys.count else {
                return "an insertion at \(Array(path))"
            }
            sections[path[0]].keys.insert(key, at: path[1])
        }
        return nil
    }
}
