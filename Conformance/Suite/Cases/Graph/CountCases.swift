internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases of group L about the numbers of members of boxes with items: what is counted, and when.
enum CountCases: NumberedCases {
    static let all: [ConformanceCase] = [
        boxes("L070.a-new-object-with-too-few-members", "W13", needs: [.savepoints], ["parts": 1...3]) { stack, check in
            let ways: [(name: String, work: (WriteTransaction, DynamicObject) throws -> Void)] = [
                ("not written before", { _, _ in }),
                ("written once", { transaction, _ in _ = try items(transaction) }),
                (
                    "written twice",
                    { transaction, box in
                        _ = try items(transaction)
                        try box.setValue(.int(1), for: "mark")
                        _ = try items(transaction)
                    }
                ),
                (
                    "written and changed",
                    { transaction, box in
                        _ = try items(transaction)
                        try box.setValue(.int(1), for: "mark")
                    }
                ),
                (
                    "in parts",
                    { transaction, box in
                        for mark in 1...2 { try transaction.nested { try box.setValue(.int(Int64(mark)), for: "mark") } }
                    }
                ),
                (
                    "in a batch",
                    { transaction, _ in
                        _ = try transaction.updateAll(From<DynamicObject>(entity: "Box"), .set(named: "mark", to: .value(.int(1))))
                    }
                ),
            ]
            for (name, work) in ways {
                for end in ["empty", "filled", "deleted"] {
                    func make() throws {
                        try stack.write { transaction in
                            let box = try transaction.create(Into<DynamicObject>(entity: "Box"))
                            try box.setValue(.int(9), for: "number")
                            try work(transaction, box)
                            if end == "filled" { try box.setObjects([object("Item", 7, in: transaction)], for: "parts") }
                            if end == "deleted" { try transaction.delete(box) }
                        }
                    }
                    if end == "empty" { check.throwing(.validationFailed, name) { try make() } } else { try make() }
                    let found = try stack.fetchCount(From<DynamicObject>(entity: "Box")) - 2
                    check.equal(found, end == "filled" ? 1 : 0, "new boxes: \(name), \(end)")
                    if end == "filled" { try stack.write { try $0.delete(object("Box", 9, in: $0)) } }
                }
            }
        },
        boxes("L071.deleted-members-of-a-relationship-without-inverse", "W13", ["seen": 1...2, "list": 1...2]) { stack, check in
            for relationship in ["seen", "list"] {
                for isDetached in [false, true] {
                    func change(_ stored: [Int], _ body: (BaseTransaction, DynamicObject) throws -> Void) throws {
                        try stack.write { transaction in
                            for number in stored where try !exists("Item", number, in: transaction) {
                                try transaction.create(Into<DynamicObject>(entity: "Item")).setValue(.int(Int64(number)), for: "number")
                            }
                            try object("Box", 0, in: transaction).setObjects(items(stored, in: transaction), for: relationship)
                        }
                        if !isDetached { return try stack.write { try body($0, object("Box", 0, in: $0)) } }
                        let work = stack.beginUnsafe()
                        try body(work, try object("Box", 0, in: work))
                        try work.commit()
                    }
                    let name = "\(relationship), detached: \(isDetached)"
                    var known: [DynamicObject] = []
                    check.throwing(.validationFailed, "the only member is deleted, \(name)") {
                        try change([0]) { transaction, box in
                            known.append(box)
                            check.equal(try numbers(box, relationship), [0], "members, \(name)")
                            try transaction.delete(object("Item", 0, in: transaction))
                            check.equal(try numbers(box, relationship), [], "members after the deletion, \(name)")
                        }
                    }
                    check.equal(try stored(stack, relationship), [0], "stored members, \(name)")
                    try change([0, 1]) { transaction, box in
                        known.append(box)
                        try box.setObjects(items([0, 1, 2], in: transaction), for: relationship)
                        try transaction.delete(object("Item", 0, in: transaction))
                    }
                    check.equal(try stored(stack, relationship).sorted(), [1, 2], "stored members after an addition, \(name)")
                }
            }
        },
        ConformanceCase("L072.a-cascade-along-a-pair-that-was-added-before", clause: "W20") { harness, check in
            for kind in [Cardinality.toMany, .toManyOrdered] {
                for isAdded in [true, false] {
                    let scene = SerialScene(
                        rooms: [
                            Relationship("next", to: "Room", inverse: "former", deleteRule: .cascade),
                            Relationship("former", to: "Room", .toMany, inverse: "next"),
                            Relationship("seats", to: "Seat", .toMany, inverse: "room", deleteRule: .cascade),
                        ],
                        seats: [
                            Relationship("room", to: "Room", inverse: "seats"),
                            Relationship("seen", to: "Room", kind, deleteRule: .cascade),
                        ])
                    let results = try scene.run(harness) { objects in
                        try objects.set("Room0", "next", "Room1")
                        try objects.set("Seat1", "room", "Room1")
                        if !isAdded { try objects.include("Seat1", "seen", "Room1") }
                    } there: {
                        try $0.rename("Room2", 3)
                    } here: { objects in
                        try objects.include("Seat1", "seen", "Room1")
                        try objects.delete("Room0")
                    }
                    check.equal(results.merged, results.serial, "\(kind), added: \(isAdded)")
                    check.equal(results.serial, "Room2 Seat0 Seat2, Room2.mark = 3", "what remains, \(kind), added: \(isAdded)")
                }
            }
        },
        boxes("L073.a-failed-part-leaves-no-rule-to-check", "W5, W13", needs: [.savepoints], ["parts": 1...3], least: 1) { stack, check in
            // Item 0 and box 1 have violated the rules since before there were any.
            let parts: [(name: String, work: (WriteTransaction) throws -> Void)] = [
                ("an assignment", { try object("Item", 0, in: $0).setValue(.int(5), for: "number") }),
                (
                    "an assignment that is written",
                    { transaction in
                        try object("Item", 0, in: transaction).setValue(.int(5), for: "number")
                        _ = try items(transaction)
                    }
                ),
                (
                    "a batch",
                    { transaction in
                        _ = try transaction.updateAll(From<DynamicObject>(entity: "Item"), .set(named: "mark", to: .value(.int(1))))
                    }
                ),
                ("a member", { try object("Box", 1, in: $0).setObjects([object("Item", 2, in: $0)], for: "parts") }),
                (
                    "a part",
                    { transaction in
                        try transaction.nested { try object("Item", 0, in: transaction).setValue(.int(5), for: "number") }
                    }
                ),
            ]
            for (index, (name, work)) in parts.enumerated() {
                try stack.write { transaction in
                    let item = try object("Item", 3, in: transaction)
                    try? transaction.nested {
                        try work(transaction)
                        throw NothingToCheck("the part fails")
                    }
                    try item.setValue(.int(Int64(index + 1)), for: "mark")
                }
                let mark = try stack.read(synchronous: { try object("Item", 3, in: $0).value("mark") })
                check.equal(mark, .int(Int64(index + 1)), name)
                if ["a member", "a batch"].contains(name) { continue }
                check.throwing(.validationFailed, "\(name) without a failure") {
                    try stack.write { transaction in try transaction.nested { try work(transaction) } }
                }
            }
        },
        boxes("L074.an-object-that-another-transaction-has-deleted-is-not-counted", "W13, W20", ["parts": 1...3]) { stack, check in
            let ways: [(name: String, work: (UnsafeTransaction) throws -> Void)] = [
                ("a member leaves", { try object("Item", 0, in: $0).setObject(object("Box", 1, in: $0), for: "whole") }),
                ("an attribute", { try object("Box", 0, in: $0).setValue(.int(5), for: "mark") }),
                (
                    "the members that remain are known",
                    { transaction in
                        check.equal(try numbers(object("Box", 0, in: transaction), "parts").sorted(), [0, 1], "members")
                        try object("Item", 0, in: transaction).setObject(object("Box", 1, in: transaction), for: "whole")
                    }
                ),
            ]
            for (name, work) in ways {
                for (policy, isMine) in [(MergePolicy.mine, true), (.theirs, false)] {
                    try stack.write { transaction in
                        if try !exists("Box", 0, in: transaction) {
                            try transaction.create(Into<DynamicObject>(entity: "Box")).setValue(.int(0), for: "number")
                        }
                        try object("Box", 0, in: transaction).setObjects(items([0, 1], in: transaction), for: "parts")
                    }
                    let transaction = stack.beginUnsafe(), boxes = try transaction.fetchAll(From<DynamicObject>(entity: "Box"))
                    try work(transaction)
                    try stack.write { try $0.delete(object("Box", 0, in: $0)) }
                    check.throwing(.staleObject, "\(name), \(policy)") { try transaction.commit() }
                    try transaction.commit(merging: policy)
                    let found = try stack.read(synchronous: { try numbers(object("Box", 1, in: $0), "parts").sorted() })
                    let moves = name != "an attribute" && isMine
                    check.equal(found, moves ? [0, 2, 3] : [2, 3], "members of the other box, \(name), \(policy)")
                    check.equal(boxes.count, 2, "boxes in memory")
                }
            }
        },
    ]

    /// A case over two boxes and eight items. Box 0 has the items 0 and 1 in each relationship, and box 1 has the items 2 and 3.
    ///
    /// - Parameters:
    ///   - limits: The allowed numbers of members, by relationship.
    ///   - least: The least mark of an item. If there is one, box 1 has no members and item 0 the mark 0, both of which the rules do not
    ///     allow.
    private static func boxes(
        _ id: String, _ clause: String, needs: Set<StorageCapabilities.Capability> = [], _ limits: [String: ClosedRange<Int>],
        least: Int? = nil, _ body: @escaping @Sendable (DataStack, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause, needs: needs) { harness, check in
            let place = try harness.place(), store = try place.store(nil)
            defer {
                try? store.close()
                place.remove()
            }
            let state = try store.open(OpenRequest(schema: schema([:], least: nil)))
            func stack(_ limits: [String: ClosedRange<Int>], least: Int?) throws -> DataStack {
                let stack = try DataStack(schema: schema(limits, least: least))
                try stack.addStorageAndWait(RuledStore(store, state))
                return stack
            }
            func fill(_ stack: DataStack) throws {
                try stack.write { transaction in
                    for number in 0..<8 {
                        let item = try transaction.create(Into<DynamicObject>(entity: "Item"))
                        try item.setValue(.int(Int64(number)), for: "number")
                        try item.setValue(.int(Int64(number)), for: "mark")
                    }
                    for number in 0..<2 {
                        let box = try transaction.create(Into<DynamicObject>(entity: "Box"))
                        try box.setValue(.int(Int64(number)), for: "number")
                        if number == 1, least != nil { continue }
                        let members = try items([2 * number, 2 * number + 1], in: transaction)
                        for name in ["parts", "seen", "list"] { try box.setObjects(members, for: name) }
                    }
                }
            }
            // The rules of a model are not part of the stored schema.
            try fill(try stack(least == nil ? limits : [:], least: nil))
            try body(try stack(limits, least: least), check)
        }
    }

    private static func schema(_ limits: [String: ClosedRange<Int>], least: Int?) throws -> Schema {
        func members(_ name: String, _ cardinality: Cardinality, inverse: String? = nil) -> Relationship {
            let limit = limits[name]
            return Relationship(
                name, to: "Item", cardinality, inverse: inverse, minCount: limit?.lowerBound, maxCount: limit?.upperBound)
        }
        let number = Attribute("number", .int64, isOptional: true), mark = Attribute("mark", .int64, isOptional: true)
        var limited = mark
        limited.rules.minimum = least.map { .int(Int64($0)) }
        return try Schema(
            version: "1",
            entities: [
                Entity(
                    "Box", attributes: [number, mark],
                    relationships: [
                        members("parts", .toMany, inverse: "whole"), members("seen", .toMany), members("list", .toManyOrdered),
                    ]),
                Entity(
                    "Item", attributes: [number, limited], relationships: [Relationship("whole", to: "Box", inverse: "parts")]),
            ])
    }

    private static func exists(_ entity: String, _ number: Int, in source: some FetchSource) throws -> Bool {
        try source.fetchAll(From<DynamicObject>(entity: entity)).contains { try $0.value("number") == .int(Int64(number)) }
    }

    /// Returns all items, after the changes of the transaction were written.
    private static func items(_ source: some FetchSource) throws -> [DynamicObject] {
        try source.fetchAll(From<DynamicObject>(entity: "Item"))
    }
}

/// A store that is open already, for several stacks whose models have other rules.
private final class RuledStore: ForwardingStore {
    static let storeType = "ruled"

    let base: any StorageInterface
    private let state: StorageState

    init(_ base: any StorageInterface, _ state: StorageState) {
        self.base = base
        self.state = state
    }

    func open(_ request: OpenRequest) throws(StorageError) -> StorageState { state }

    func close() throws(StorageError) {}
}
