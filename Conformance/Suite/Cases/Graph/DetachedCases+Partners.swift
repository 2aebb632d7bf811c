internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases about detached transactions over rooms with one seat each: both ends of a relationship change together.
extension DetachedCases {
    static let partners: [ConformanceCase] = [
        rooms("L080.partners-that-were-read-at-different-times", "R3, W20") { stack, check in
            /// Work that reads an object first, work of another transaction, and work that follows it; and the pairs after a merge.
            struct Scene {
                let name: String
                let first: String
                let there: (Rooms) throws -> Void
                let here: (Rooms, DynamicObject) throws -> Void
                let mine: [Int: Int]
                let theirs: [Int: Int]
            }
            let scenes = [
                Scene(
                    name: "the former partner has another one", first: "Room0", there: { try $0.pair("Room2", "Seat0") },
                    here: { try $1.setObject($0.object("Seat2"), for: "pair") }, mine: [0: 2, 2: 0], theirs: [2: 0]),
                Scene(
                    name: "the former partner has another one, and none follows", first: "Room0", there: { try $0.pair("Room2", "Seat0") },
                    here: { try $1.setObject(nil, for: "pair") }, mine: [2: 0], theirs: [2: 0]),
                Scene(
                    name: "the former owner has another partner", first: "Seat0", there: { try $0.pair("Seat1", "Room0") },
                    here: { try $0.object("Room2").setObject($1, for: "pair") }, mine: [0: 1, 2: 0], theirs: [0: 1]),
                Scene(
                    name: "the former owner was read before", first: "Seat0", there: { try $0.pair("Seat0", "Room1") },
                    here: { rooms, _ in try rooms.object("Seat2").setObject(rooms.object("Room1"), for: "pair") }, mine: [1: 2],
                    theirs: [1: 0]),
            ]
            for scene in scenes {
                for (policy, expected) in [(MergePolicy.mine, scene.mine), (.theirs, scene.theirs)] {
                    try stack.write { transaction in
                        let rooms = Rooms(transaction)
                        for number in 0..<4 { try rooms.pair("Room\(number)", nil) }
                        try rooms.pair("Room0", "Seat0")
                    }
                    let work = stack.beginUnsafe(), rooms = Rooms(work), first = try rooms.object(scene.first)
                    try stack.write { try scene.there(Rooms($0)) }
                    try scene.here(rooms, first)
                    try work.commit(merging: policy)
                    let (pairs, inverses) = try Rooms(stack.beginUnsafe()).pairs()
                    check.equal(pairs, expected, "\(scene.name), \(policy)")
                    check.equal(inverses, expected, "\(scene.name), \(policy), the other end")
                }
            }
        },
        rooms("L081.a-commit-during-the-resolution-of-a-conflict", "W20") { stack, check in
            try stack.write { try Rooms($0).pair("Seat1", "Room0") }
            let work = stack.beginUnsafe(), rooms = Rooms(work)
            try rooms.object("Room1").setValue(.int(1), for: "mark")
            try rooms.pair("Seat2", "Room0")
            try stack.write { transaction in
                try Rooms(transaction).object("Room1").setValue(.int(2), for: "mark")
                try Rooms(transaction).pair("Room3", "Seat1")
            }
            let third = Once { try stack.write { try Rooms($0).pair("Seat3", "Room3") } }
            try work.commit(
                merging: .byAttribute { _, _, _, mine, _ in
                    third.run()
                    return mine
                })
            try third.check()
            let (pairs, inverses) = try Rooms(stack.beginUnsafe()).pairs()
            check.equal(pairs, [0: 2, 3: 3], "partners of the rooms")
            check.equal(inverses, [0: 2, 3: 3], "partners of the seats")
        },
        rooms("L082.a-deletion-that-is-repeated-twice", "W20", deleteRule: .cascade) { stack, check in
            try stack.write { try Rooms($0).pair("Seat3", "Room2") }
            let work = stack.beginUnsafe(), rooms = Rooms(work)
            try rooms.object("Room0").setValue(.int(1), for: "mark")
            try rooms.pair("Room3", "Seat3")
            try work.delete(rooms.object("Seat1"))
            try work.delete(rooms.object("Seat2"))
            try stack.write { transaction in
                for name in ["Seat1", "Room0"] { try Rooms(transaction).object(name).setValue(.int(2), for: "mark") }
            }
            let third = Once { try stack.write { try Rooms($0).pair("Room2", "Seat2") } }
            try work.commit(
                merging: .byAttribute { _, _, _, mine, _ in
                    third.run()
                    return mine
                })
            try third.check()
            // The seat takes its room of the other transaction with it.
            let rest = Rooms(stack.beginUnsafe()), (pairs, inverses) = try rest.pairs()
            check.equal(pairs, [3: 3], "partners of the rooms")
            check.equal(inverses, [3: 3], "partners of the seats")
            check.equal(try rest.numbers("Room"), [0, 1, 3], "rooms")
            check.equal(try rest.numbers("Seat"), [0, 3], "seats")
        },
        ConformanceCase("L083.a-member-of-a-given-up-change-is-in-one-list", clause: "W20") { harness, check in
            let number = [Attribute("number", .int64, isOptional: true)]
            let schema = try Schema(
                version: "1",
                entities: [
                    Entity("Row", attributes: number, relationships: [Relationship("seats", to: "Seat", .toManyOrdered, inverse: "row")]),
                    Entity("Seat", attributes: number, relationships: [Relationship("row", to: "Row", inverse: "seats")]),
                ])
            let place = try harness.place(), stack = try DataStack(schema: schema), writes = PrecededWrites()
            defer { place.remove() }
            try stack.addStorageAndWait(writes.store(place.store(nil)))
            defer { for store in stack.storages { try? store.close() } }
            let row = From<DynamicObject>(entity: "Row").orderBy(.ascending("number"))
            try stack.write { transaction in
                for entity in ["Row", "Row", "Row", "Seat"] {
                    let count = try transaction.fetchCount(From<DynamicObject>(entity: entity))
                    try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(Int64(count)), for: "number")
                }
            }
            @Sendable func move(to number: Int) throws {
                try stack.write { transaction in
                    let seat = try transaction.fetchAll(From<DynamicObject>(entity: "Seat"))[0]
                    try seat.setObject(transaction.fetchAll(row)[number], for: "row")
                }
            }
            let work = stack.beginUnsafe(), seat = try work.fetchAll(From<DynamicObject>(entity: "Seat"))[0]
            try seat.setObject(work.fetchAll(row)[1], for: "row")
            // The change of another object is written after the resolution.
            try work.fetchAll(row)[0].setValue(.int(-1), for: "number")
            try move(to: 1)
            let third = Once { try move(to: 2) }
            writes.arm(after: 1) { third.run() }
            try work.commit(merging: .theirs)
            try third.check()
            try stack.read(synchronous: { source in
                check.equal(try source.fetchAll(row).map { try $0.objects("seats").count }, [0, 0, 1], "members of the rows")
            })
        },
    ]

    /// Work of a third transaction that runs once, where it cannot throw.
    private final class Once: Sendable {
        private let outcome = SharedValue<Result<Void, any Error>?>(nil)
        private let work: @Sendable () throws -> Void

        init(_ work: @escaping @Sendable () throws -> Void) { self.work = work }

        func run() {
            if outcome.withLock({ $0 != nil }) { return }
            let result = Result { try work() }
            outcome.withLock { $0 = result }
        }

        /// Throws the error of the work, or one if it did not run.
        func check() throws {
            let result = outcome.withLock { $0 }
            guard let result else { throw StorageError(.notFound, "the third transaction did not run") }
            try result.get()
        }
    }

    /// The rooms and seats that a source has, by entity and number.
    private struct Rooms {
        private let source: any FetchSource

        init(_ source: any FetchSource) { self.source = source }

        func object(_ name: String) throws -> DynamicObject {
            try DetachedCases.object(String(name.dropLast()), Int(String(name.suffix(1))) ?? -1, in: source)
        }

        func pair(_ name: String, _ other: String?) throws { try object(name).setObject(other.map(object), for: "pair") }

        func numbers(_ entity: String) throws -> [Int] {
            try source.fetchAll(From<DynamicObject>(entity: entity)).compactMap { try DetachedCases.number($0) }.sorted()
        }

        /// Returns the number of the partner.
        private func partner(_ object: DynamicObject) throws -> Int? {
            try (object.object("pair") as? DynamicObject).flatMap(DetachedCases.number)
        }

        /// Returns the pairs by the number of the room, as the rooms have them and as the seats have them.
        func pairs() throws -> ([Int: Int], [Int: Int]) {
            var pairs: [Int: Int] = [:], inverses: [Int: Int] = [:]
            for room in try source.fetchAll(From<DynamicObject>(entity: "Room")) {
                if let seat = try partner(room), let number = try DetachedCases.number(room) { pairs[number] = seat }
            }
            for seat in try source.fetchAll(From<DynamicObject>(entity: "Seat")) {
                if let room = try partner(seat) { inverses[room] = try DetachedCases.number(seat) }
            }
            return (pairs, inverses)
        }
    }

    /// A case over four rooms and four seats.
    private static func rooms(
        _ id: String, _ clause: String, deleteRule: DeleteRule = .nullify,
        _ body: @escaping @Sendable (DataStack, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in
            let attributes = ["number", "mark"].map { Attribute($0, .int64, isOptional: true) }
            let schema = try Schema(
                version: "1",
                entities: [
                    Entity("Room", attributes: attributes, relationships: [Relationship("pair", to: "Seat", inverse: "pair")]),
                    Entity(
                        "Seat", attributes: attributes,
                        relationships: [Relationship("pair", to: "Room", inverse: "pair", deleteRule: deleteRule)]),
                ])
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            try stack.write { transaction in
                for number in 0..<4 {
                    for entity in ["Room", "Seat"] {
                        try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(Int64(number)), for: "number")
                    }
                }
            }
            try body(stack, check)
        }
    }
}
