import Foundation

@testable import PolystoreObjects
@testable import PolystoreObservation

/// The contract of `ListChanges`, done as it is written, with everything checked that can be wrong.
struct ListApplication {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private let old: ListContents
    private let new: ListContents
    private let changes: ListChanges

    /// The list that comes out when the changes are made in `old`; only names of inserted sections and inserted items are read from `new`.
    static func apply(_ changes: ListChanges, to old: ListContents, from new: ListContents) throws -> ListContents {
        try ListApplication(old: old, new: new, changes: changes).result()
    }

    private func result() throws -> ListContents {
        try check()
        var rows = Self.rows(old)
        var carried: [IndexPath: ListContents.Item] = [:]
        for move in changes.moved { carried[move.to] = try Self.item(rows, move.from) }
        // From the last to the first, so that the places before stay what they were.
        for path in (changes.deleted + changes.moved.map(\.from)).sorted(by: >) { rows[path[0]].items.remove(at: path[1]) }
        for section in changes.deletedSections.reversed() {
            guard rows[section].items.isEmpty else { throw Failure("section \(section) is deleted with an item in it") }
            rows.remove(at: section)
        }
        let target = Self.rows(new)
        for section in changes.insertedSections {
            guard section <= rows.count else { throw Failure("section \(section) is inserted behind the end") }
            rows.insert((target[section].name, []), at: section)
        }
        for path in changes.inserted { carried[path] = try Self.item(target, path) }
        for path in carried.keys.sorted() {
            guard path[0] < rows.count, path[1] <= rows[path[0]].items.count else { throw Failure("\(path) is behind the end") }
            carried[path].map { rows[path[0]].items.insert($0, at: path[1]) }
        }
        return ListContents(
            items: ContiguousArray(rows.flatMap(\.items)), sections: rows.map { .init(name: $0.name, count: $0.items.count) })
    }

    private func check() throws {
        try Self.ascending(changes.deletedSections, below: old.sections.count)
        try Self.ascending(changes.insertedSections, below: new.sections.count)
        let before = Self.rows(old), after = Self.rows(new)
        for paths in [changes.deleted, changes.updated] {
            try Self.ascending(paths)
            for path in paths { _ = try Self.item(before, path) }
        }
        for paths in [changes.inserted, changes.moved.map(\.to)] {
            try Self.ascending(paths)
            for path in paths { _ = try Self.item(after, path) }
        }
        let gone = Set(changes.deleted)
        guard gone.isDisjoint(with: changes.moved.map(\.from)), Set(changes.moved.map(\.from)).count == changes.moved.count,
            gone.isDisjoint(with: changes.updated), Set(changes.inserted).isDisjoint(with: changes.moved.map(\.to))
        else { throw Failure("an item has two fates") }
        for path in changes.deleted where new.items.contains(try Self.item(before, path)) { throw Failure("\(path) is not gone") }
        for path in changes.inserted where old.items.contains(try Self.item(after, path)) { throw Failure("\(path) is not new") }
    }

    private static func ascending<Value: Comparable>(_ values: [Value]) throws {
        for (first, second) in zip(values, values.dropFirst()) where first >= second { throw Failure("\(values) does not ascend") }
    }

    private static func ascending(_ sections: [Int], below count: Int) throws {
        try ascending(sections)
        if let first = sections.first, first < 0 { throw Failure("section \(first)") }
        if let last = sections.last, last >= count { throw Failure("section \(last) of \(count)") }
    }

    private static func item(_ rows: [(name: String, items: [ListContents.Item])], _ path: IndexPath) throws -> ListContents.Item {
        guard path.count == 2, rows.indices.contains(path[0]), rows[path[0]].items.indices.contains(path[1]) else {
            throw Failure("nothing is at \(path)")
        }
        return rows[path[0]].items[path[1]]
    }

    private static func rows(_ list: ListContents) -> [(name: String, items: [ListContents.Item])] {
        var start = 0
        return list.sections.map { section in
            defer { start += section.count }
            return (section.name, Array(list.items[start..<start + section.count]))
        }
    }
}
