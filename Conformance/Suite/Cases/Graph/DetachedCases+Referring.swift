internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage
internal import Synchronization

/// Cases about a deletion of a detached transaction, of an object that another transaction relates to others in the meantime.
extension DetachedCases {
    /// Rooms, with the seats that reference them by one relationship of each kind, and with things of their own.
    private static func rooms() throws -> Schema {
        try Schema(
            version: "1",
            entities: [
                Entity(
                    "Room",
                    relationships: [
                        Relationship("seats", to: "Seat", .toMany, inverse: "hall", deleteRule: .cascade),
                        Relationship("pair", to: "Seat", .toOne, inverse: "pair"),
                        Relationship("things", to: "Thing", .toMany, deleteRule: .cascade),
                        Relationship("ranks", to: "Thing", .toManyOrdered),
                    ]),
                Entity(
                    "Seat",
                    relationships: [
                        Relationship("room", to: "Room", .toOne), Relationship("hall", to: "Room", .toOne, inverse: "seats"),
                        Relationship("pair", to: "Room", .toOne, inverse: "pair"),
                    ]),
                Entity("Thing"),
            ])
    }

    private static func only(_ entity: String, _ source: some FetchSource) throws -> DynamicObject {
        guard let object = try source.fetchOne(From<DynamicObject>(entity: entity)) else { throw StorageError(.notFound, "no \(entity)") }
        return object
    }

    /// Deletes the room in a detached transaction that has read everything else, while another one relates them; then commits by each policy.
    private static func delete(
        _ relationship: String, _ harness: StoreHarness, _ check: Check, by relate: (BaseTransaction) throws -> Void,
        then result: (DataStack, DynamicObject, MergePolicy) throws -> Void
    ) throws {
        for policy in [MergePolicy.mine, .theirs] {
            let place = try harness.place(), schema = try rooms(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            try stack.write { transaction in
                for name in ["Room", "Seat", "Thing"] { _ = try transaction.create(Into<DynamicObject>(entity: name)) }
            }
            let work = stack.beginUnsafe(), room = try only("Room", work), seat = try only("Seat", work), thing = try only("Thing", work)
            try work.delete(room)
            try stack.write(relate)
            try stale([room], check) { try work.commit() }
            try work.commit(merging: policy)
            check.isTrue(!work.hasChanges, "nothing is left to commit; \(relationship), \(policy)")
            let isKept = if case .theirs = policy { true } else { false }
            check.equal(try stack.fetchCount(From<DynamicObject>(entity: "Room")), isKept ? 1 : 0, "rooms; \(relationship), \(policy)")
            for store in stack.storages { try Integrity.check(store, schema, check) }
            try result(stack, seat, policy)
            withExtendedLifetime(thing) {}
        }
    }

    static let referring: [ConformanceCase] = [
        ConformanceCase("L037.an-object-that-was-read-references-what-is-deleted", clause: "W20") { harness, check in
            for relationship in ["room", "hall", "pair"] {
                try delete(relationship, harness, check) { transaction in
                    try only("Seat", transaction).setObject(only("Room", transaction), for: relationship)
                } then: { stack, seat, policy in
                    let isKept = if case .theirs = policy { true } else { false }
                    // Its own delete rule applies to the references that the other transaction has added.
                    let seats = isKept || relationship != "hall" ? 1 : 0
                    check.equal(try stack.fetchCount(From<DynamicObject>(entity: "Seat")), seats, "seats; \(relationship), \(policy)")
                    if seats == 0 { return check.isTrue(seat.isDeleted, "the seat in memory; \(policy)") }
                    let stored = try stack.read(synchronous: { try only("Seat", $0).object(relationship) != nil })
                    check.equal(stored, isKept, "stored; \(relationship), \(policy)")
                    if !isKept { check.isTrue(try seat.object(relationship) == nil, "in memory; \(relationship), \(policy)") }
                }
            }
        },
        ConformanceCase("L037.what-is-deleted-has-new-members", clause: "W20") { harness, check in
            for relationship in ["things", "ranks"] {
                try delete(relationship, harness, check) { transaction in
                    try only("Room", transaction).setObjects([only("Thing", transaction)], for: relationship)
                } then: { stack, _, policy in
                    let isKept = if case .theirs = policy { true } else { false }
                    let things = isKept || relationship != "things" ? 1 : 0
                    check.equal(try stack.fetchCount(From<DynamicObject>(entity: "Thing")), things, "things; \(relationship), \(policy)")
                    if !isKept { return }
                    let stored = try stack.read(synchronous: { try only("Room", $0).objects(relationship).count })
                    check.equal(stored, 1, "members; \(relationship), \(policy)")
                }
            }
        },
        ConformanceCase("L038.both-ends-are-deleted-here-and-related-there", clause: "W20") { harness, check in
            for relationship in ["one", "pair", "seats", "list", "guests", "ranks"] {
                try meet(harness, check, relationship) { work in
                    try work.delete(work.seats[0])
                    try work.delete(work.rooms[0])
                } there: { others in
                    try relate(others.rooms[0], others.seats[0], relationship)
                } then: { found, isTheirs in
                    check.equal(found.rooms.count, isTheirs ? 2 : 1, "rooms; \(relationship)")
                    check.equal(found.seats.count, isTheirs ? 2 : 1, "seats; \(relationship)")
                    if isTheirs { check.isTrue(try areRelated(found.rooms[0], found.seats[0], relationship), "restored; \(relationship)") }
                }
            }
        },
        ConformanceCase("L038.a-deletion-here-against-a-reference-that-both-assign", clause: "W20") { harness, check in
            for relationship in ["hall", "row", "pair"] {
                try meet(harness, check, relationship) { work in
                    try work.delete(work.rooms[0])
                    try work.seats[0].setObject(work.rooms[1], for: relationship)
                } there: { others in
                    try others.seats[0].setObject(others.rooms[0], for: relationship)
                } then: { found, isTheirs in
                    check.equal(found.rooms.count, isTheirs ? 2 : 1, "rooms; \(relationship)")
                    let room = try found.seats[0].object(relationship)
                    check.isTrue(room === found.rooms[0], "the room that the policy chooses; \(relationship), theirs: \(isTheirs)")
                }
            }
            try meet(harness, check, "one") { work in
                try work.delete(work.seats[0])
                try work.rooms[0].setObject(work.seats[1], for: "one")
            } there: { others in
                try others.rooms[0].setObject(others.seats[0], for: "one")
            } then: { found, isTheirs in
                check.equal(found.seats.count, isTheirs ? 2 : 1, "seats")
                check.isTrue(try found.rooms[0].object("one") === found.seats[0], "the seat that the policy chooses")
            }
        },
        ConformanceCase("L038.what-is-restored-leaves-the-lists-of-what-stays-deleted", clause: "W20") { harness, check in
            for isSeatFirst in [true, false] {
                try meet(
                    harness, check, "list",
                    before: { others in
                        try others.rooms[0].setObjects([others.seats[0]], for: "list")
                    }
                ) { work in
                    let (room, seat) = (work.rooms[0], work.seats[0])
                    for object in isSeatFirst ? [seat, room] : [room, seat] { try work.delete(object) }
                } there: { others in
                    try others.rooms[1].setObject(others.seats[0], for: "one")
                } then: { found, isTheirs in
                    check.equal(found.rooms.count, 1, "the deletion of the room, which the other transaction has not related")
                    check.equal(found.seats.count, isTheirs ? 2 : 1, "seats")
                    if !isTheirs { return }
                    check.isTrue(try found.rooms[0].object("one") === found.seats[0], "the new reference")
                    check.isTrue(try found.seats[0].object("row") == nil, "the list of the deleted room")
                }
            }
        },
        ConformanceCase("L038.a-deletion-that-cascades-to-a-new-member-sees-its-relationships", clause: "W20") { harness, check in
            try meet(
                harness, check, "guests", guests: .cascade,
                before: { others in
                    try others.rooms[1].setObject(others.seats[0], for: "pair")
                }
            ) { work in
                try work.delete(work.rooms[0])
            } there: { others in
                try others.rooms[1].setObject(others.seats[1], for: "pair")
                try others.seats[0].setObjects([others.rooms[0]], for: "places")
            } then: { found, isTheirs in
                check.equal(found.rooms.count, isTheirs ? 2 : 1, "rooms")
                check.equal(found.seats.count, isTheirs ? 2 : 1, "seats; its delete rule applies to the new member")
                check.isTrue(try found.rooms.last?.object("pair") === found.seats.last, "the pair of the other transaction")
            }
        },
        ConformanceCase("L038.both-ends-of-a-pair-agree-whatever-is-chosen-for-each", clause: "W20") { harness, check in
            // Base, mine and theirs, for each of the two ends and both rooms.
            for choice in 0..<27 {
                let place = try harness.place(), schema = try halls(), stack = try DataStack(schema: schema)
                defer { place.remove() }
                try stack.addStorageAndWait(try place.store(nil))
                defer { for store in stack.storages { try? store.close() } }
                try stack.write { try Ends.create($0) }
                try stack.write { transaction in
                    let ends = try Ends(transaction)
                    try ends.rooms[0].setObject(ends.seats[0], for: "pair")
                }
                let work = stack.beginUnsafe(), ends = try Ends(work)
                try ends.rooms[1].setObject(ends.seats[0], for: "pair")
                try stack.write { transaction in
                    let others = try Ends(transaction)
                    try others.rooms[1].setObject(others.seats[0], for: "pair")
                    if choice % 2 == 0 { try others.rooms[1].setObject(others.seats[1], for: "pair") }
                }
                let choices = Mutex(choice)
                try work.commit(
                    merging: .byAttribute { _, _, base, mine, theirs in
                        choices.withLock { left in
                            defer { left /= 3 }
                            return [base, mine, theirs][left % 3]
                        }
                    })
                for store in stack.storages { try Integrity.check(store, schema, check) }
                let found = try Ends(stack.beginUnsafe())
                for object in found.rooms + found.seats {
                    guard let other = try object.object("pair") as? DynamicObject else { continue }
                    check.isTrue(try other.object("pair") === object, "the other end; choice \(choice)")
                }
                withExtendedLifetime(ends) {}
            }
        },
        ConformanceCase("L038.reads-are-validated-whatever-the-policy", clause: "W20") { harness, check in
            for isReferred in [false, true] {
                for policy in [MergePolicy.error, .mine, .theirs] {
                    let place = try harness.place(), stack = try DataStack(schema: halls())
                    defer { place.remove() }
                    try stack.addStorageAndWait(try place.store(nil))
                    defer { for store in stack.storages { try? store.close() } }
                    try stack.write { try Ends.create($0) }
                    let work = stack.beginUnsafe(), ends = try Ends(work)
                    try work.delete(ends.rooms[0])
                    try stack.write { transaction in
                        let others = try Ends(transaction)
                        try others.seats[0].setValue(.int(7), for: "number")
                        if isReferred { try others.seats[0].setObject(others.rooms[0], for: "hall") }
                    }
                    check.throwing(.staleObject, "the seat was read and has changed; referred: \(isReferred), \(policy)") {
                        try work.commit(merging: policy, validatesReads: true)
                    }
                    check.equal(try stack.fetchCount(From<DynamicObject>(entity: "Room")), 2, "rooms; \(isReferred), \(policy)")
                    check.isTrue(ends.rooms[0].isDeleted, "the deletion stays to be committed")
                    withExtendedLifetime(ends) {}
                }
            }
        },
    ]

    // MARK: Two rooms and two seats

    /// Rooms and seats with relationships of every kind between them.
    private static func halls(guests rule: DeleteRule = .nullify) throws -> Schema {
        try Schema(
            version: "1",
            entities: [
                Entity(
                    "Room", attributes: [Attribute("number", .int64, isOptional: true)],
                    relationships: [
                        Relationship("one", to: "Seat", .toOne), Relationship("pair", to: "Seat", .toOne, inverse: "pair"),
                        Relationship("seats", to: "Seat", .toMany, inverse: "hall"),
                        Relationship("list", to: "Seat", .toManyOrdered, inverse: "row"),
                        Relationship("guests", to: "Seat", .toMany, inverse: "places", deleteRule: rule),
                        Relationship("ranks", to: "Seat", .toManyOrdered),
                    ]),
                Entity(
                    "Seat", attributes: [Attribute("number", .int64, isOptional: true)],
                    relationships: [
                        Relationship("pair", to: "Room", .toOne, inverse: "pair"),
                        Relationship("hall", to: "Room", .toOne, inverse: "seats"),
                        Relationship("row", to: "Room", .toOne, inverse: "list"),
                        Relationship("places", to: "Room", .toMany, inverse: "guests"),
                    ]),
            ])
    }

    /// The rooms and seats that a transaction sees, by their numbers.
    private struct Ends {
        let rooms: [DynamicObject]
        let seats: [DynamicObject]
        private let transaction: BaseTransaction

        init(_ transaction: BaseTransaction) throws {
            func all(_ entity: String) throws -> [DynamicObject] {
                try transaction.fetchAll(From<DynamicObject>(entity: entity).orderBy(.ascending("number")))
            }
            rooms = try all("Room")
            seats = try all("Seat")
            self.transaction = transaction
        }

        static func create(_ transaction: BaseTransaction) throws {
            for entity in ["Room", "Seat"] {
                for number in 1...2 {
                    try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(Int64(number)), for: "number")
                }
            }
        }

        func delete(_ object: DynamicObject) throws { try transaction.delete(object) }
    }

    private static func isToOne(_ relationship: String) -> Bool { ["one", "pair"].contains(relationship) }

    private static func relate(_ room: DynamicObject, _ seat: DynamicObject, _ relationship: String) throws {
        if isToOne(relationship) { try room.setObject(seat, for: relationship) } else { try room.setObjects([seat], for: relationship) }
    }

    private static func areRelated(_ room: DynamicObject, _ seat: DynamicObject, _ relationship: String) throws -> Bool {
        if isToOne(relationship) { return try room.object(relationship) === seat }
        return try room.objects(relationship).map(ObjectIdentifier.init) == [ObjectIdentifier(seat)]
    }

    /// Changes rooms and seats in a detached transaction and in another one, and commits the detached one by each policy.
    private static func meet(
        _ harness: StoreHarness, _ check: Check, _ name: String, guests rule: DeleteRule = .nullify,
        before: (Ends) throws -> Void = { _ in }, here: (Ends) throws -> Void, there: (Ends) throws -> Void,
        then result: (Ends, _ isTheirs: Bool) throws -> Void
    ) throws {
        for policy in [MergePolicy.mine, .theirs] {
            let place = try harness.place(), schema = try halls(guests: rule), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            try stack.write { try Ends.create($0) }
            try stack.write { try before(Ends($0)) }
            let work = stack.beginUnsafe(), ends = try Ends(work)
            try here(ends)
            try stack.write { try there(Ends($0)) }
            check.throwing(.staleObject, "without a policy; \(name)") { try work.commit() }
            try work.commit(merging: policy)
            check.isTrue(!work.hasChanges, "nothing is left to commit; \(name), \(policy)")
            for store in stack.storages { try Integrity.check(store, schema, check) }
            let isTheirs = if case .theirs = policy { true } else { false }
            try result(Ends(stack.beginUnsafe()), isTheirs)
            withExtendedLifetime(ends) {}
        }
    }
}
