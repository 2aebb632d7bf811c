internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// All people as plain values, from a separate fetch. Expected lists are computed from it without any code that lists use.
struct World {
    /// A value that can be compared; nil is the smallest.
    enum Cell: Hashable, Comparable {
        case null
        case number(Int)
        case text([UInt8])

        init(_ number: Int?) { self = number.map(Cell.number) ?? .null }
        init(_ text: String?) { self = text.map { .text(Array($0.utf8)) } ?? .null }

        static func < (a: Cell, b: Cell) -> Bool {
            switch (a, b) {
            case (.null, .null): false
            case (.null, .number), (.null, .text): true
            case (.number(let a), .number(let b)): a < b
            case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
            case (.number, .null), (.number, .text), (.text, .null), (.text, .number): false
            }
        }
    }

    struct Human: Equatable {
        let id: ObjectKey
        /// The position of the object's store in the stack.
        let store: Int
        let version: Int64
        let name: String
        let age: Int
        let room: String?
        let parent: ObjectKey?
        let pets: Int
        let clubs: Set<String>
    }

    let people: [ObjectKey: Human]

    init(_ stack: DataStack, _ stores: [UUID]) throws {
        people = try stack.read(synchronous: { source in
            var pets: [ObjectKey: Int] = [:], clubs: [ObjectKey: Set<String>] = [:], people: [ObjectKey: Human] = [:]
            for pet in try source.fetchAll(From<Pet>()) { if let owner = pet.owner { pets[owner.objectID.key, default: 0] += 1 } }
            for club in try source.fetchAll(From<Club>()) {
                for member in club.members { clubs[member.objectID.key, default: []].insert(club.name) }
            }
            for person in try source.fetchAll(From<Person>()) {
                let id = person.objectID.key
                people[id] = Human(
                    id: id, store: stores.firstIndex(of: id.store) ?? 0, version: person.version, name: person.name, age: person.age,
                    room: person.room, parent: person.parent?.objectID.key, pets: pets[id] ?? 0, clubs: clubs[id] ?? [])
            }
            return people
        })
    }

    func parent(of human: Human) -> Human? { human.parent.flatMap { people[$0] } }
}
