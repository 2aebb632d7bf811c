internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The classes of the suite's object graph (`Generated/Graph.json`).
enum Graph {
    static let models: [ManagedObject.Type] = [
        Person.self, Pet.self, Dog.self, Cat.self, Club.self, Song.self, Squad.self, Player.self, Note.self,
    ]
    static let configurations = [
        "People": ["Person", "Pet", "Dog", "Cat", "Club", "Song"], "Rest": ["Squad", "Player", "Note", "Song"],
    ]

    static func stack() throws -> DataStack { try DataStack(models: models, configurations: configurations) }
}

/// A stack over two stores, and what a case needs to know of them.
struct StorePair {
    let stack: DataStack
    let first: any StorageInterface
    let second: any StorageInterface

    /// Whether one transaction can write to both: not where both commits can still be refused.
    var commitsTogether: Bool {
        ![first, second].allSatisfy { $0.capabilities.supported.isSuperset(of: [.persistent, .concurrentWriters]) }
    }
}

extension StoreHarness {
    /// Runs a case's work over a stack with one fresh store of all entities.
    func withStack(_ body: (DataStack) throws -> Void) throws {
        try withStack(configuration: nil, body)
    }

    /// Runs a case's work over a stack with one fresh store of a configuration.
    func withStack(configuration: String?, _ body: (DataStack) throws -> Void) throws {
        let place = try place(), stack = try Graph.stack()
        defer { place.remove() }
        let store = try place.store(configuration)
        try stack.addStorageAndWait(store)
        defer { try? store.close() }
        try body(stack)
    }

    /// Runs a case's work over a stack with two fresh stores, the one under test and each that can stand beside it.
    func withPairs(
        _ firstConfiguration: String?, _ secondConfiguration: String?, _ check: Check, _ body: (StorePair) throws -> Void
    ) throws {
        for companion in [self] + companions {
            check.label = "\(name) and \(companion.name)"
            let firstPlace = try place()
            defer { firstPlace.remove() }
            let secondPlace = try companion.place()
            defer { secondPlace.remove() }
            let stack = try Graph.stack()
            let first = try firstPlace.store(firstConfiguration), second = try secondPlace.store(secondConfiguration)
            try stack.addStorageAndWait(first)
            defer { try? first.close() }
            try stack.addStorageAndWait(second)
            defer { try? second.close() }
            try body(StorePair(stack: stack, first: first, second: second))
        }
        check.label = ""
    }
}

extension ConformanceCase {
    /// A case over a stack with one fresh store of all entities.
    static func graph(
        _ id: String, _ clause: String, needs: Set<StorageCapabilities.Capability> = [],
        _ body: @escaping @Sendable (DataStack, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause, needs: needs) { harness, check in try harness.withStack { try body($0, check) } }
    }

    /// A case over every pair of stores, each with a configuration; nil holds all entities.
    static func pairs(
        _ id: String, _ clause: String, _ first: String?, _ second: String?,
        _ body: @escaping @Sendable (StorePair, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in try harness.withPairs(first, second, check) { try body($0, check) } }
    }
}

extension DataStack {
    /// Runs a write transaction; for cases, a shorter word.
    @discardableResult
    func write<R>(_ body: (Transaction) throws -> R) throws -> R { try perform(synchronous: body) }

    /// The names of all people, in their order.
    func names() throws -> [String] { try fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.name) }

    /// Adds people with names.
    func add(_ names: String...) throws {
        try write { transaction in for name in names { try transaction.create(Person.self).name = name } }
    }
}

/// The person with a name, in a source.
func person(_ name: String, in source: some FetchSource) throws -> Person {
    guard let person = try source.fetchOne(From<Person>().where(\.name == name)) else {
        throw StorageError(.notFound, "no person \(name)")
    }
    return person
}
