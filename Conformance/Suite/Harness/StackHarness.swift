internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The classes of the suite's object graph (`Generated/Graph.json`).
enum Graph {
    static let models: [ManagedObject.Type] = [
        Person.self, Pet.self, Dog.self, Cat.self, Club.self, Song.self, Squad.self, Player.self, Note.self, Entry.self,
    ]
    static let configurations = [
        "People": ["Person", "Pet", "Dog", "Cat", "Club", "Song"], "Rest": ["Squad", "Player", "Note", "Song", "Entry"],
    ]

    static func stack() throws -> DataStack { try DataStack(models: models, configurations: configurations) }
}

/// A stack over two stores, with the information that a case needs about them.
struct StorePair {
    let stack: DataStack
    let first: any StorageInterface
    let second: any StorageInterface

    /// Whether one transaction can write to both stores. If both commits can still be refused, this requires that both stores can prepare
    /// commits.
    var commitsTogether: Bool {
        let stores = [first, second]
        if !stores.allSatisfy({ $0.capabilities.supported.isSuperset(of: [.persistent, .concurrentWriters]) }) { return true }
        return stores.allSatisfy { (try? $0.ability((any PreparedCommitStorage).self)?.keepsPreparedCommits()) == true }
    }

    /// Throws if one transaction cannot write to both stores.
    func needsCommonCommits() throws {
        if !commitsTogether { throw NothingToCheck("one transaction cannot write to both stores") }
    }
}

extension StoreHarness {
    /// Runs `body` over a stack with one new store of all entities.
    func withStack(_ body: (DataStack) throws -> Void) throws {
        try withStack(configuration: nil, body)
    }

    /// Runs `body` over a stack with one new store of a configuration.
    func withStack(configuration: String?, _ body: (DataStack) throws -> Void) throws {
        let place = try place(), stack = try Graph.stack()
        defer { place.remove() }
        let store = try place.store(configuration)
        try stack.addStorageAndWait(store)
        defer { try? store.close() }
        try body(stack)
    }

    /// Runs `body` over a stack with two new stores: the one under test and each possible companion. A pair that gives `body` nothing to check
    /// is skipped; `NothingToCheck` is thrown if no pair was checked.
    func withPairs(
        _ firstConfiguration: String?, _ secondConfiguration: String?, _ check: Check,
        through wrapping: (any StorageInterface) -> any StorageInterface = { $0 }, _ body: (StorePair) throws -> Void
    ) throws {
        let start = check.count
        var reason: NothingToCheck?
        for companion in [self] + companions {
            check.label = "\(name) and \(companion.name)"
            let firstPlace = try place()
            defer { firstPlace.remove() }
            let secondPlace = try companion.place()
            defer { secondPlace.remove() }
            let stack = try Graph.stack()
            let first = wrapping(try firstPlace.store(firstConfiguration)), second = wrapping(try secondPlace.store(secondConfiguration))
            try stack.addStorageAndWait(first)
            defer { try? first.close() }
            try stack.addStorageAndWait(second)
            defer { try? second.close() }
            do {
                try body(StorePair(stack: stack, first: first, second: second))
            } catch let nothing as NothingToCheck {
                reason = nothing
            }
        }
        check.label = ""
        if let reason, check.count == start { throw reason }
    }
}

extension ConformanceCase {
    /// Returns a case over a stack with one new store of all entities.
    static func graph(
        _ id: String, _ clause: String, needs: Set<StorageCapabilities.Capability> = [],
        needsAbsent: Set<StorageCapabilities.Capability> = [], _ body: @escaping @Sendable (DataStack, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause, needs: needs, needsAbsent: needsAbsent) { harness, check in
            try harness.withStack { stack in
                try body(stack, check)
                for store in stack.storages { try Integrity.check(store, stack.schema, check) }
            }
        }
    }

    /// Returns a case over every pair of stores, each with a configuration; nil contains all entities.
    static func pairs(
        _ id: String, _ clause: String, _ first: String?, _ second: String?,
        _ body: @escaping @Sendable (StorePair, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in try harness.withPairs(first, second, check) { try body($0, check) } }
    }
}

extension StorageInterface {
    /// Returns the history entry of an author, after a short wait if necessary: a store with concurrent writers shows a commit only when no
    /// transaction that began before it is open.
    func entry(by author: String) throws -> HistoryEntry? {
        for _ in 0..<1_000 {
            let reader = try OpenStore(opened: self, .empty).beginRead()
            defer { reader.end() }
            if let entry = try reader.history(since: nil, limit: 10).last(where: { $0.author == author }) { return entry }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return nil
    }
}

extension DataStack {
    /// Runs a write transaction; a shorter name for use in cases.
    @discardableResult
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R { try perform(synchronous: body) }

    /// Returns the names of all people, in their order.
    func names() throws -> [String] { try fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.name) }

    /// Adds people with names.
    func add(_ names: String...) throws {
        try write { transaction in for name in names { try transaction.create(Person.self).name = name } }
    }
}

/// Returns the person with a name, from a source.
func person(_ name: String, in source: some FetchSource) throws -> Person {
    guard let person = try source.fetchOne(From<Person>().where(\.name == name)) else {
        throw StorageError(.notFound, "no person \(name)")
    }
    return person
}

/// A check of the rows of every store after any changes through a stack: every reference must have its destination.
enum Integrity {
    static func check(_ store: any StorageInterface, _ schema: Schema, _ check: Check) throws {
        try self.check(OpenStore(opened: store, schema), schema, check)
    }

    static func check(_ store: OpenStore, _ schema: Schema, _ check: Check) throws {
        for problem in try problems(store, schema) { check.isTrue(false, problem) }
    }

    /// Returns a sentence for each reference and pair of a store whose objects are missing.
    static func problems(_ store: OpenStore, _ schema: Schema) throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        var problems: [String] = [], keys: [EntityIndex: Set<Int64>] = [:], references: [(EntityIndex, String, Int64)] = []
        for root in schema.roots {
            let plan = try ObjectRequest(schema.entities[root].name).plan(in: schema)
            let cursor = try reader.cursor(for: plan)
            let batch = RowBatch(capacity: 256)
            keys[root] = []
            while try cursor.next(into: batch) {
                for index in 0..<batch.count {
                    let row = try batch.checkedRow(index, schema)
                    keys[root]?.insert(row.key)
                    for (slot, description) in schema[row.entity].slots.enumerated() {
                        guard let destination = description.destination, !row[slot].isNull else { continue }
                        references.append(
                            (schema[destination].root, "\(schema.entities[row.entity].name).\(description.name)", row[slot].int))
                    }
                }
            }
        }
        for (root, name, key) in references where keys[root]?.contains(key) != true {
            problems.append("\(name) refers to key \(key), which does not exist")
        }
        for (link, description) in schema.links.enumerated() {
            let owner = schema[description.owner].root, member = schema[description.member].root
            try reader.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
                for pair in pairs where keys[owner]?.contains(pair.owner) != true || keys[member]?.contains(pair.member) != true {
                    problems.append("\(description.name) has a pair (\(pair.owner), \(pair.member)) whose owner or member does not exist")
                }
            }
        }
        return problems
    }
}

extension OpenStore {
    /// Creates the object for a store that a stack has opened.
    convenience init(opened store: any StorageInterface, _ schema: Schema) {
        self.init(store, StorageState(storeID: UUID(), schema: schema, formatVersion: StoreMetadata.currentFormat, wasCreated: false))
    }
}
