internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

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
    ]
}
