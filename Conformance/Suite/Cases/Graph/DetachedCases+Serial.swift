internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases in which a merge by the policy `mine` must give what this transaction gives after the other one.
extension DetachedCases {
    static let serial: [ConformanceCase] = [
        ConformanceCase("L040.a-partner-is-taken-from-what-is-deleted", clause: "W20") { harness, check in
            for rule in [DeleteRule.cascade, .nullify] {
                let pair = Relationship("pair", to: "Seat", .toOne, inverse: "pair", deleteRule: rule)
                try scene(
                    harness, check, "reached by a delete rule; \(rule)",
                    rooms: [pair, Relationship("seats", to: "Seat", .toMany, inverse: "hall")],
                    seats: [pairOfSeat, Relationship("hall", to: "Room", .toOne, inverse: "seats", deleteRule: .cascade)]
                ) { _ in
                } there: { objects in
                    try objects.set("Seat0", "pair", "Room2")
                    try objects.set("Seat2", "hall", "Room1")
                } here: { objects in
                    try objects.set("Room0", "pair", "Seat0")
                    try objects.set("Seat2", "hall", "Room2")
                    try objects.delete("Seat2")
                }
                try scene(
                    harness, check, "of an ordered list; \(rule)",
                    rooms: [pair, Relationship("list", to: "Seat", .toManyOrdered, inverse: "row", deleteRule: .cascade)],
                    seats: [pairOfSeat, Relationship("row", to: "Room", .toOne, inverse: "list")]
                ) { _ in
                } there: { objects in
                    try objects.set("Seat0", "pair", "Room2")
                } here: { objects in
                    try objects.set("Room0", "pair", "Seat0")
                    try objects.set("Seat2", "row", "Room2")
                    try objects.delete("Room2")
                }
                try scene(
                    harness, check, "two deletions; \(rule)",
                    rooms: [
                        pair, Relationship("next", to: "Room", .toOne, inverse: "former"),
                        Relationship("former", to: "Room", .toOne, inverse: "next"),
                    ], seats: [pairOfSeat]
                ) { _ in
                } there: { objects in
                    try objects.set("Seat0", "pair", "Room2")
                    try objects.set("Room1", "next", "Room2")
                } here: { objects in
                    try objects.set("Room0", "pair", "Seat0")
                    try objects.delete("Room2")
                    try objects.delete("Room1")
                }
            }
        },
        ConformanceCase("L041.what-a-change-only-entails-gives-way", clause: "W20") { harness, check in
            func moves(_ name: String, _ rooms: [Relationship], _ seats: [Relationship], _ property: String) throws {
                try scene(harness, check, name, rooms: rooms, seats: seats) { objects in
                    try objects.set("Seat0", property, "Room2")
                } there: { objects in
                    try objects.set("Seat0", property, "Room1")
                } here: { objects in
                    try objects.delete("Room2")
                }
            }
            try moves(
                "a deletion of the former owner", [Relationship("seats", to: "Seat", .toMany, inverse: "hall")],
                [Relationship("hall", to: "Room", .toOne, inverse: "seats")], "hall")
            try moves(
                "in an ordered list", [Relationship("list", to: "Seat", .toManyOrdered, inverse: "row")],
                [Relationship("row", to: "Room", .toOne, inverse: "list")], "row")
            try moves("of the former partner", [pairOfRoom], [pairOfSeat], "pair")
            try moves("of the former destination", [], [Relationship("room", to: "Room", .toOne)], "room")
            try scene(harness, check, "a new partner of the former partner", rooms: [pairOfRoom], seats: [pairOfSeat]) { objects in
                try objects.set("Seat1", "pair", "Room2")
            } there: { objects in
                try objects.set("Room2", "pair", "Seat2")
            } here: { objects in
                try objects.set("Room0", "pair", "Seat1")
            }
            try scene(harness, check, "what is assigned remains", rooms: [pairOfRoom], seats: [pairOfSeat]) { objects in
                try objects.set("Seat1", "pair", "Room2")
            } there: { objects in
                try objects.set("Room2", "pair", "Seat2")
            } here: { objects in
                try objects.set("Room2", "pair", nil)
            }
        },
    ]

    private static let pairOfRoom = Relationship("pair", to: "Seat", .toOne, inverse: "pair")
    private static let pairOfSeat = Relationship("pair", to: "Room", .toOne, inverse: "pair")

    /// The three rooms and three seats that a transaction sees, by entity and number.
    private struct Objects {
        let transaction: BaseTransaction
        private(set) var objects: [String: DynamicObject] = [:]

        init(_ transaction: BaseTransaction) throws {
            self.transaction = transaction
            for entity in ["Room", "Seat"] {
                for object in try transaction.fetchAll(From<DynamicObject>(entity: entity)) {
                    if case .int(let number) = try object.value("number") { objects["\(entity)\(number)"] = object }
                }
            }
        }

        func set(_ name: String, _ relationship: String, _ target: String?) throws {
            try objects[name]?.setObject(target.flatMap { objects[$0] }, for: relationship)
        }

        func delete(_ name: String) throws { if let object = objects[name] { try transaction.delete(object) } }

        /// Returns the objects with their relationships as text.
        func text(_ relationships: [(entity: String, [Relationship])]) throws -> String {
            let names = Dictionary(uniqueKeysWithValues: objects.map { (ObjectIdentifier($1), $0) })
            var texts: [String] = []
            for (name, object) in objects.sorted(by: { $0.key < $1.key }) {
                for relationship in relationships.first(where: { name.hasPrefix($0.entity) })?.1 ?? [] {
                    let targets: [ManagedObject]
                    if relationship.cardinality == .toOne {
                        targets = try object.object(relationship.name).map { [$0] } ?? []
                    } else {
                        targets = try object.objects(relationship.name)
                    }
                    texts.append("\(name).\(relationship.name) = \(targets.map { names[ObjectIdentifier($0)] ?? "?" }.sorted())")
                }
                if relationships.isEmpty { texts.append(name) }
            }
            return ([objects.keys.sorted().joined(separator: " ")] + texts).joined(separator: ", ")
        }
    }

    /// Runs one transaction after the other in one store, and detached from the other in a second store, and compares the results.
    private static func scene(
        _ harness: StoreHarness, _ check: Check, _ name: String, rooms: [Relationship], seats: [Relationship],
        before: (Objects) throws -> Void, there: (Objects) throws -> Void, here: (Objects) throws -> Void
    ) throws {
        let number = Attribute("number", .int64, isOptional: true), relationships = [("Room", rooms), ("Seat", seats)]
        let schema = try Schema(
            version: "1", entities: relationships.map { Entity($0.0, attributes: [number], relationships: $0.1) })
        var texts: [String] = []
        for isDetached in [false, true] {
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            try stack.write { transaction in
                for entity in ["Room", "Seat"] {
                    for number in 0..<3 {
                        try transaction.create(Into<DynamicObject>(entity: entity)).setValue(Value.int(Int64(number)), for: "number")
                    }
                }
                try before(Objects(transaction))
            }
            let work = stack.beginUnsafe(), objects = try Objects(work)
            if isDetached { try here(objects) }
            try stack.write { try there(Objects($0)) }
            if isDetached { try work.commit(merging: .mine) } else { try stack.write { try here(Objects($0)) } }
            texts.append(try Objects(stack.beginUnsafe()).text(relationships))
            withExtendedLifetime(objects) {}
        }
        check.equal(texts[1], texts[0], name)
    }
}
