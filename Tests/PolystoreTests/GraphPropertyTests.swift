import Foundation
import Polystore
import TestStores
import Testing

/// Random edits of a graph beside plain dictionaries that say what must come out.
@Suite struct GraphPropertyTests {
    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// What the graph is: people by number with their partner, dogs with their owner, notes with friends and a ranking.
    private struct Expected {
        var partner: [Int: Int?] = [:]
        var owner: [Int: Int?] = [:]
        var friends: [Int: Set<Int>] = [:]
        var ranking: [Int: [Int]] = [:]

        mutating func pair(_ a: Int, _ b: Int?) {
            for one in [a, b].compactMap({ $0 }) { if let other = partner[one] ?? nil { partner[other] = .some(nil) } }
            partner[a] = .some(b)
            if let b { partner[b] = .some(a) }
        }

        mutating func deletePerson(_ number: Int) {
            pair(number, nil)
            partner[number] = nil
            for (dog, owner) in owner where owner == number { self.owner[dog] = nil }
        }

        mutating func deleteNote(_ number: Int) {
            friends[number] = nil
            ranking[number] = nil
            for key in friends.keys { friends[key]?.remove(number) }
            for key in ranking.keys { ranking[key]?.removeAll { $0 == number } }
        }
    }

    /// The objects of one transaction by number.
    private final class Session {
        var people: [Int: Person] = [:]
        var dogs: [Int: Dog] = [:]
        var notes: [Int: StringEntity] = [:]

        init(_ source: some FetchSource) throws {
            for person in try source.fetchAll(From<Person>()) { people[person.age] = person }
            for dog in try source.fetchAll(From<Dog>()) { dogs[Int(dog.name) ?? -1] = dog }
            for note in try source.fetchAll(From<StringEntity>()) { notes[note.version_] = note }
        }

        func check(_ expected: Expected) {
            #expect(Set(people.keys) == Set(expected.partner.keys))
            #expect(Set(dogs.keys) == Set(expected.owner.keys))
            #expect(Set(notes.keys) == Set(expected.friends.keys))
            for (number, person) in people {
                #expect(person.partner?.age == expected.partner[number] ?? nil)
                let pets = expected.owner.filter { $0.value == number }.map(\.key)
                #expect(Set(person.pets.compactMap { Int($0.name) }) == Set(pets))
            }
            for (number, dog) in dogs { #expect(dog.owner?.age == expected.owner[number] ?? nil) }
            for (number, note) in notes {
                #expect(Set(note.friends.map(\.version_)) == expected.friends[number])
                let fans = expected.friends.filter { $0.value.contains(number) }.map(\.key)
                #expect(Set(note.fans.map(\.version_)) == Set(fans))
                #expect(note.ranking.map(\.version_) == expected.ranking[number])
            }
        }
    }

    private static func edit(
        _ session: Session, _ transaction: BaseTransaction, _ expected: inout Expected, _ next: inout Int, _ random: inout SplitMix
    ) throws {
        let person = session.people.keys.sorted().randomElement(using: &random)
        let other = session.people.keys.sorted().randomElement(using: &random)
        let dog = session.dogs.keys.sorted().randomElement(using: &random)
        let note = session.notes.keys.sorted().randomElement(using: &random)
        let some = session.notes.keys.sorted().shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1:
            let made = try transaction.create(Person.self)
            made.age = next
            session.people[next] = made
            expected.partner[next] = .some(nil)
            next += 1
        case 2, 3:
            let made = try transaction.create(Dog.self)
            made.name = String(next)
            made.owner = person.flatMap { session.people[$0] }
            session.dogs[next] = made
            expected.owner[next] = .some(person)
            next += 1
        case 4, 5:
            let made = try transaction.create(StringEntity.self)
            made.version_ = next
            session.notes[next] = made
            expected.friends[next] = []
            expected.ranking[next] = []
            next += 1
        case 6:
            guard let person, person != other else { return }
            let isApart = Bool.random(using: &random)
            session.people[person]?.partner = isApart ? nil : other.flatMap { session.people[$0] }
            expected.pair(person, isApart ? nil : other)
        case 7:
            guard let dog else { return }
            session.dogs[dog]?.owner = person.flatMap { session.people[$0] }
            expected.owner[dog] = .some(person)
        case 8:
            guard let person else { return }
            let pets = session.dogs.keys.sorted().shuffled(using: &random).prefix(2)
            session.people[person]?.pets = Set(pets.compactMap { session.dogs[$0] })
            for (dog, owner) in expected.owner where owner == person { expected.owner[dog] = .some(nil) }
            for dog in pets { expected.owner[dog] = .some(person) }
        case 9:
            guard let note else { return }
            session.notes[note]?.friends = Set(some.compactMap { session.notes[$0] })
            expected.friends[note] = Set(some)
        case 10:
            guard let note else { return }
            session.notes[note]?.fans = Set(some.compactMap { session.notes[$0] })
            for key in expected.friends.keys {
                if some.contains(key) { expected.friends[key]?.insert(note) } else { expected.friends[key]?.remove(note) }
            }
        case 11:
            guard let note else { return }
            session.notes[note]?.ranking = some.compactMap { session.notes[$0] }
            expected.ranking[note] = Array(some)
        case 12:
            guard let person, let object = session.people.removeValue(forKey: person) else { return }
            try transaction.delete(object)
            for (dog, owner) in expected.owner where owner == person { session.dogs[dog] = nil }
            expected.deletePerson(person)
        default:
            guard let note, let object = session.notes.removeValue(forKey: note) else { return }
            try transaction.delete(object)
            expected.deleteNote(note)
        }
    }

    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(
            Person.self, Animal.self, Dog.self, StringEntity.self, EntityEntity.self, CellEntity.self)
        try stack.addStorageAndWait(store.make())
        return stack
    }

    @Test(arguments: TestStore.all) func aThousandEditsKeepEveryInverse(_ store: TestStore) throws {
        let stack = try stack(store)
        var random = SplitMix(state: 20_261_121), expected = Expected(), next = 1
        for _ in 0..<25 {
            try stack.perform(synchronous: { transaction in
                let session = try Session(transaction)
                for step in 0..<40 {
                    try Self.edit(session, transaction, &expected, &next, &random)
                    // In the middle, with some of the changes brought to the store and some not.
                    if step % 13 == 12 { _ = try transaction.fetchCount(From<Person>()) }
                    if step % 20 == 19 { session.check(expected) }
                }
            })
            try stack.read(synchronous: { read in try Session(read).check(expected) })
        }
    }

    @Test(arguments: TestStore.all) func editsInMemoryKeepEveryInverse(_ store: TestStore) throws {
        let stack = try stack(store)
        var random = SplitMix(state: 7), expected = Expected(), next = 1
        for _ in 0..<10 {
            let transaction = stack.beginUnsafe()
            for _ in 0..<3 {
                let session = try Session(transaction)
                for step in 0..<20 {
                    try Self.edit(session, transaction, &expected, &next, &random)
                    if step % 7 == 6 { session.check(expected) }
                    if step == 10 { try Session(transaction).check(expected) }
                }
                try transaction.commit()
                try stack.read(synchronous: { read in try Session(read).check(expected) })
            }
        }
    }

    @Test(arguments: TestStore.all) func everyChangeCanBeUndoneAndRedone(_ store: TestStore) throws {
        let stack = try stack(store)
        var random = SplitMix(state: 99), expected = Expected(), next = 1
        for _ in 0..<6 {
            let transaction = stack.beginUnsafe(supportsUndo: true)
            var states = [expected]
            let session = try Session(transaction)
            for _ in 0..<6 {
                for _ in 0..<6 { try Self.edit(session, transaction, &expected, &next, &random) }
                states.append(expected)
                if states.count < 7 { try transaction.markUndoPoint() }
            }
            for state in states.dropLast().reversed() {
                #expect(try transaction.undo())
                try Session(transaction).check(state)
            }
            for state in states.dropFirst() {
                #expect(try transaction.redo())
                try Session(transaction).check(state)
            }
            for _ in 0..<2 { try transaction.undo() }
            expected = states[4]
            try transaction.commit()
            try stack.read(synchronous: { read in try Session(read).check(expected) })
        }
    }

    /// 1,000 each for the whole proof; fewer in every run of the tests.
    private static let increments = Int(ProcessInfo.processInfo.environment["POLYSTORE_TEST_INCREMENTS"] ?? "") ?? 60

    @Test(arguments: TestStore.all) func noIncrementIsLost(_ store: TestStore) async throws {
        let stack = try store.stack()
        try await stack.perform { try $0.create(Person.self).name = "counter" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<Self.increments {
                        try await stack.perform { transaction in try transaction.fetchOne(From<Person>())?.age += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try stack.fetchOne(From<Person>())?.age == 8 * Self.increments)
    }
}
