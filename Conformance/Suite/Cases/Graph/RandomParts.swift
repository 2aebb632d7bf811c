internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// A random script of nested parts, some of which fail, beside a model of plain values. After each part the objects must equal the model.
final class RandomParts {
    private struct Member: Equatable {
        var age = 0
        var parent: Int?
        var clubs: Set<Int> = []
        var songs: [Int] = []
    }

    private struct World: Equatable {
        var people: [Int: Member] = [:]
        var entries: [Int] = []
    }

    private let stack: DataStack
    private let seed: UInt64
    private let check: Check
    private var random: SplitMix
    private var world = World()
    private var people: [Int: Person] = [:]
    private var clubs: [Club] = []
    private var songs: [Song] = []
    private var next = 0

    init(_ stack: DataStack, _ seed: UInt64, _ check: Check) {
        self.stack = stack
        self.seed = seed
        self.check = check
        random = SplitMix(seed: seed)
    }

    func run() throws {
        try stack.write { transaction in
            try transaction.deleteAll(From<Person>())
            try transaction.deleteAll(From<Entry>())
            for _ in 0..<3 {
                _ = try transaction.create(Club.self)
                _ = try transaction.create(Song.self)
            }
            try transaction.create(Person.self).email = "taken"
        }
        for _ in 0..<3 {
            try stack.write { transaction in
                clubs = try transaction.fetchAll(From<Club>())
                songs = try transaction.fetchAll(From<Song>())
                people = [:]
                for person in try transaction.fetchAll(From<Person>().where(\.email == nil)) { people[number(person)] = person }
                try part(transaction, depth: 0)
            }
            try verifyStored()
        }
    }

    private func number(_ person: Person) -> Int { Int(person.name) ?? -1 }

    private func part(_ transaction: WriteTransaction, depth: Int) throws {
        for _ in 0..<Int.random(in: 2...6, using: &random) {
            if depth < 3, Int.random(in: 0..<4, using: &random) == 0 {
                try nested(transaction, depth + 1)
            } else {
                try step(transaction)
            }
        }
        verify("at the end of a part of depth \(depth)")
    }

    private func nested(_ transaction: WriteTransaction, _ depth: Int) throws {
        let before = world, fails = Bool.random(using: &random)
        do {
            try transaction.nested {
                try part(transaction, depth: depth)
                if fails { throw ImportRefused() }
            }
        } catch is ImportRefused {
            for (number, person) in people where before.people[number] == nil && world.people[number] != nil {
                check.isTrue(person.isDeleted, "\(seed): \(number), which the failed part made")
            }
            world = before
            verify("after a failed part of depth \(depth)")
        }
    }

    private func step(_ transaction: WriteTransaction) throws {
        let chosen = world.people.keys.sorted().randomElement(using: &random)
        switch (Int.random(in: 0..<11, using: &random), chosen) {
        case (0...1, _), (2..., nil): try create(transaction)
        case (2, let number?): try delete(number, transaction)
        case (3, let number?):
            let age = Int.random(in: 0..<100, using: &random)
            people[number]?.age = age
            world.people[number]?.age = age
        case (4...5, let number?):
            let parent = Bool.random(using: &random) ? world.people.keys.sorted().randomElement(using: &random) : nil
            people[number]?.parent = parent.flatMap { people[$0] }
            world.people[number]?.parent = parent
        case (6, let number?):
            let members = Set((0..<3).filter { _ in Bool.random(using: &random) })
            people[number]?.clubs = Set(members.map { clubs[$0] })
            world.people[number]?.clubs = members
        case (7, let number?):
            let list = Array((0..<3).shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
            people[number]?.songs = list.map { songs[$0] }
            world.people[number]?.songs = list
        case (8, let number?):
            people[number]?.email = "taken"
            check.throwing(.uniqueConstraintViolated, "\(seed): a flush") { _ = try transaction.fetchCount(From<Person>()) }
            people[number]?.email = nil
        case (9, _): try batch(transaction)
        default: _ = try transaction.fetchCount(From<Person>())
        }
    }

    private func create(_ transaction: WriteTransaction) throws {
        let person = try transaction.create(Person.self)
        person.name = "\(next)"
        people[next] = person
        world.people[next] = Member()
        next += 1
    }

    private func delete(_ number: Int, _ transaction: WriteTransaction) throws {
        guard let person = people[number] else { return }
        try transaction.delete(person)
        var doomed: Set<Int> = [], waiting = [number]
        while let one = waiting.popLast() {
            guard doomed.insert(one).inserted else { continue }
            waiting += world.people.filter { $0.value.parent == one }.keys
        }
        for one in doomed {
            world.people[one] = nil
            check.isTrue(people[one]?.isDeleted == true, "\(seed): \(one), which was deleted")
        }
    }

    private func batch(_ transaction: WriteTransaction) throws {
        let entry = Int.random(in: 0..<3, using: &random)
        if Bool.random(using: &random) {
            _ = try transaction.insertAll(Into<Entry>(), sources: [entry]) { $0.number = $1 }
            world.entries.append(entry)
        } else {
            try transaction.deleteAll(From<Entry>().where(\.number == entry))
            world.entries.removeAll { $0 == entry }
        }
        let stored = try transaction.fetchAll(From<Entry>()).map(\.number).sorted()
        check.equal(stored, world.entries.sorted(), "\(seed): entries")
    }

    private func verify(_ moment: String) {
        for (number, member) in world.people.sorted(by: { $0.key < $1.key }) {
            guard let person = people[number] else { return check.isTrue(false, "\(seed): \(number) \(moment)") }
            check.isTrue(!person.isDeleted, "\(seed): \(number) is alive \(moment)")
            check.equal(person.age, member.age, "\(seed): age of \(number) \(moment)")
            check.isTrue(person.parent === member.parent.flatMap { people[$0] }, "\(seed): parent of \(number) \(moment)")
            let children = Set(world.people.filter { $0.value.parent == number }.keys)
            check.equal(Set(person.children.map(self.number)), children, "\(seed): children of \(number) \(moment)")
            check.equal(person.clubs, Set(member.clubs.map { clubs[$0] }), "\(seed): clubs of \(number) \(moment)")
            check.equal(person.songs, member.songs.map { songs[$0] }, "\(seed): songs of \(number) \(moment)")
        }
        for (place, club) in clubs.enumerated() {
            let members = Set(world.people.filter { $0.value.clubs.contains(place) }.keys)
            check.equal(Set(club.members.map(number)), members, "\(seed): members of club \(place) \(moment)")
        }
    }

    private func verifyStored() throws {
        let found = try stack.fetchAll(From<Person>().where(\.email == nil))
        check.equal(Set(found.map(number)), Set(world.people.keys), "\(seed): stored people")
        for person in found {
            guard let member = world.people[number(person)] else { continue }
            check.equal(person.age, member.age, "\(seed): stored age")
            check.equal(person.parent.map(number), member.parent, "\(seed): stored parent")
            check.equal(person.clubs.count, member.clubs.count, "\(seed): stored clubs")
            check.equal(person.songs.count, member.songs.count, "\(seed): stored songs")
        }
    }
}
