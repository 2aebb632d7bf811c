internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// The rooms and seats that a transaction sees, by entity and number.
struct SerialObjects {
    let transaction: BaseTransaction
    let relationships: [(entity: String, [Relationship])]
    private let objects: [String: DynamicObject]
    private let nameOf: [ObjectIdentifier: String]

    init(_ transaction: BaseTransaction, _ relationships: [(entity: String, [Relationship])]) throws {
        self.transaction = transaction
        self.relationships = relationships
        var objects: [String: DynamicObject] = [:]
        for (entity, _) in relationships {
            for object in try transaction.fetchAll(From<DynamicObject>(entity: entity)) {
                if case .int(let number) = try object.value("number") { objects["\(entity)\(number)"] = object }
            }
        }
        self.objects = objects
        nameOf = Dictionary(uniqueKeysWithValues: objects.map { (ObjectIdentifier($1), $0) })
    }

    /// The names of the objects that are not deleted.
    var names: Set<String> { Set(objects.keys.filter { object($0) != nil }) }

    /// Returns an object that is not deleted.
    private func object(_ name: String) -> DynamicObject? { objects[name].flatMap { $0.isDeleted ? nil : $0 } }

    func set(_ name: String, _ relationship: String, _ target: String?) throws {
        try object(name)?.setObject(target.flatMap(object), for: relationship)
    }

    /// Adds a member to a to-many relationship.
    func include(_ name: String, _ relationship: String, _ target: String) throws {
        guard let owner = object(name), let member = object(target) else { return }
        let members = try owner.objects(relationship)
        if !members.contains(where: { $0 === member }) { try owner.setObjects(members + [member], for: relationship) }
    }

    /// Inserts or moves a member of an ordered to-many relationship, behind another one or to the beginning.
    func insert(_ name: String, _ relationship: String, _ target: String, after other: String?) throws {
        guard let owner = object(name), let member = object(target) else { return }
        var members = try owner.objects(relationship).filter { $0 !== member }
        let position = other.flatMap(object).flatMap { other in members.firstIndex { $0 === other } }
        members.insert(member, at: position.map { $0 + 1 } ?? 0)
        try owner.setObjects(members, for: relationship)
    }

    /// Removes a member from a to-many relationship.
    func exclude(_ name: String, _ relationship: String, _ target: String) throws {
        guard let owner = object(name), let member = object(target) else { return }
        try owner.setObjects(owner.objects(relationship).filter { $0 !== member }, for: relationship)
    }

    func rename(_ name: String, _ mark: Int) throws { try object(name)?.setValue(Value.int(Int64(mark)), for: "mark") }

    func delete(_ names: String...) throws { try delete(names) }

    func delete(_ names: [String]) throws { try transaction.delete(names.compactMap { objects[$0] as ManagedObject? }) }

    /// Returns the objects with their marks and relationships as text. Members without an order are sorted by name.
    func text() throws -> String {
        let alive = objects.filter { !$1.isDeleted }.sorted { $0.key < $1.key }
        var texts: [String] = []
        for (name, object) in alive {
            if case .int(let mark) = try object.value("mark") { texts.append("\(name).mark = \(mark)") }
            for relationship in relationships.first(where: { name.hasPrefix($0.entity) })?.1 ?? [] {
                let targets: [ManagedObject]
                if relationship.cardinality == .toOne {
                    targets = try object.object(relationship.name).map { [$0] } ?? []
                } else {
                    targets = try object.objects(relationship.name)
                }
                if targets.isEmpty { continue }
                let names = targets.map { nameOf[ObjectIdentifier($0)] ?? "?" }, isOrdered = relationship.cardinality == .toManyOrdered
                texts.append("\(name).\(relationship.name) = \(isOrdered ? names : names.sorted())")
            }
        }
        return ([alive.map(\.key).joined(separator: " ")] + texts).joined(separator: ", ")
    }
}

/// Two transactions over rooms and seats, of which the second one is detached from the first one or follows it.
struct SerialScene {
    let rooms: [Relationship]
    let seats: [Relationship]
    /// The number of rooms, and of seats.
    var count = 3

    private var relationships: [(entity: String, [Relationship])] { [("Room", rooms), ("Seat", seats)] }

    /// Runs the transactions in both ways, each in a store of its own.
    ///
    /// - Parameters:
    ///   - rehearsal: A closure that is called first, with objects whose changes are discarded.
    ///   - again: A closure that continues the second transaction after it has read the changes of the first one.
    /// - Returns: The objects after the detached transaction was merged by the policy `mine`, and after one followed the other; or the code
    ///   of the error with which the second one failed.
    func run(
        _ harness: StoreHarness, before: (SerialObjects) throws -> Void, rehearsal: (SerialObjects) throws -> Void = { _ in },
        there: (SerialObjects) throws -> Void, here: (SerialObjects) throws -> Void, again: ((SerialObjects) throws -> Void)? = nil
    ) throws -> (merged: String, serial: String) {
        let attributes = ["number", "mark"].map { Attribute($0, .int64, isOptional: true) }
        let schema = try Schema(
            version: "1", entities: relationships.map { Entity($0.entity, attributes: attributes, relationships: $0.1) })
        var texts: [String] = []
        for isDetached in [true, false] {
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            func objects(_ transaction: BaseTransaction) throws -> SerialObjects { try SerialObjects(transaction, relationships) }
            try stack.write { transaction in
                for (entity, _) in relationships {
                    for number in 0..<count {
                        try transaction.create(Into<DynamicObject>(entity: entity)).setValue(Value.int(Int64(number)), for: "number")
                    }
                }
                try before(objects(transaction))
            }
            if isDetached { try rehearsal(objects(stack.beginUnsafe())) }
            let work = stack.beginUnsafe(), mine = try objects(work)
            if isDetached { try here(mine) }
            try stack.write { try there(objects($0)) }
            var failure: String?
            do {
                if isDetached {
                    if let again {
                        try work.refresh()
                        try again(mine)
                    }
                    try work.commit(merging: .mine)
                } else {
                    try stack.write { transaction in
                        let objects = try objects(transaction)
                        try here(objects)
                        try again?(objects)
                    }
                }
            } catch let error as StorageError {
                failure = "\(error.code)"
            }
            texts.append(try failure ?? objects(stack.beginUnsafe()).text())
            withExtendedLifetime(mine) {}
        }
        return (texts[0], texts[1])
    }
}
