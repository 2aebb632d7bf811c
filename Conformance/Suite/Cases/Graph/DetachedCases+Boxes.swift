internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases about detached transactions over boxes with items: what another transaction has changed is read before the commit.
extension DetachedCases {
    static let boxes: [ConformanceCase] = [
        boxes("L048.the-other-end-of-a-list-is-read-first", "W20") { stack, check in
            for isRead in [false, true] {
                try stack.write { try $0.deleteAll(From<DynamicObject>(entity: "Box")) }
                try stack.write { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.int(0), for: "number") }
                let work = stack.beginUnsafe(), box = try object("Box", 0, in: work), item = try object("Item", 0, in: work)
                try box.setObjects([item], for: "tags")
                try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1], in: $0), for: "tags") }
                try work.refresh()
                if isRead { check.equal(try item.objects("tagged").count, 1, "the other end") }
                check.equal(try numbers(box, "tags"), [0, 1], "members; read: \(isRead)")
                try work.commit()
                check.equal(try stored(stack, "tags"), [0, 1], "stored members; read: \(isRead)")
            }
        },
        boxes("L049.undo-and-redo-over-a-list-that-is-read-again", "W19, W20") { stack, check in
            for relationship in ["items", "tags"] {
                func work() throws -> (work: UnsafeTransaction, box: DynamicObject) {
                    try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1], in: $0), for: relationship) }
                    let work = stack.beginUnsafe(supportsUndo: true), box = try object("Box", 0, in: work)
                    try box.setObjects(items([0, 1, 5], in: work), for: relationship)
                    try work.markUndoPoint()
                    try box.setObjects(items([0, 1, 5, 6], in: work), for: relationship)
                    check.isTrue(try work.undo(), "undo")
                    try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1, 2], in: $0), for: relationship) }
                    check.equal(try numbers(box, relationship), [0, 1, 2, 5], "\(relationship) after undo")
                    return (work, box)
                }
                let (one, box) = try work()
                check.isTrue(try one.redo(), "redo, because nothing was changed since")
                check.equal(Set(try numbers(box, relationship)), [0, 1, 2, 5, 6], "\(relationship) after redo")
                let (two, other) = try work()
                check.isTrue(try two.undo(), "undo again")
                check.equal(try numbers(other, relationship), [0, 1, 2], "\(relationship) after the second undo")
                let (three, last) = try work()
                try last.setObjects(items([0], in: three), for: relationship)
                check.isTrue(try !three.redo(), "no redo after a change")
            }
        },
        boxes("L050.numbers-of-members-with-those-of-other-transactions", "W13, W20", limit: 1...3) { stack, check in
            func commit(_ relationship: String, _ policy: MergePolicy, here: [Int], there: [Int]) throws -> Set<Int> {
                try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1], in: $0), for: relationship) }
                let work = stack.beginUnsafe()
                try object("Box", 0, in: work).setObjects(items(here, in: work), for: relationship)
                try stack.write { try object("Box", 0, in: $0).setObjects(items(there, in: $0), for: relationship) }
                check.throwing(.validationFailed, "\(relationship), \(here) and \(there)") { try work.commit(merging: policy) }
                return Set(try stored(stack, relationship))
            }
            for relationship in ["tags", "marks", "items", "parts"] {
                for policy in [MergePolicy.error, .mine] {
                    check.equal(try commit(relationship, policy, here: [0, 1, 2], there: [0, 1, 3]), [0, 1, 3], "too many")
                    check.equal(try commit(relationship, policy, here: [0], there: [1]), [1], "too few")
                }
            }
        },
        boxes("L051.a-reference-that-is-nil-by-a-deletion-is-set-to-nil", "W20") { stack, check in
            try stack.write { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.int(1), for: "number") }
            for isAssigned in [false, true] {
                let work = stack.beginUnsafe()
                try stack.write { try object("Item", 7, in: $0).setObject(object("Box", 0, in: $0), for: "whole") }
                let item = try object("Item", 7, in: work)
                try work.delete(try object("Box", 0, in: work))
                if isAssigned { try item.setObject(nil, for: "whole") }
                try stack.write { try object("Item", 7, in: $0).setObject(object("Box", 1, in: $0), for: "whole") }
                try work.commit(merging: .mine)
                let whole = try stack.read(synchronous: { try object("Item", 7, in: $0).object("whole") == nil })
                check.equal(whole, isAssigned, "the reference is nil; assigned: \(isAssigned)")
                try stack.write { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.int(0), for: "number") }
            }
        },
        boxes("L051.an-abandoned-deletion-restores-nothing-that-was-assigned-since", "W20") { stack, check in
            try stack.write { transaction in
                try transaction.create(Into<DynamicObject>(entity: "Box")).setValue(.int(1), for: "number")
                try object("Item", 7, in: transaction).setObject(object("Box", 0, in: transaction), for: "whole")
            }
            let work = stack.beginUnsafe(), item = try object("Item", 7, in: work)
            let other = try object("Box", 1, in: work)
            try work.delete(try object("Box", 0, in: work))
            try item.setObject(other, for: "whole")
            try work.delete(other)
            try stack.write { try object("Box", 0, in: $0).setObjects(items([2], in: $0), for: "tags") }
            try stack.write { try object("Box", 0, in: $0).setValue(.int(5), for: "number") }
            try work.commit(merging: .theirs)
            try stack.read(synchronous: { source in
                check.equal(try source.fetchCount(From<DynamicObject>(entity: "Box")), 1, "boxes")
                check.isTrue(try object("Item", 7, in: source).object("whole") == nil, "the reference is nil")
            })
        },
        ConformanceCase("L052.what-is-deleted-takes-nothing-that-was-assigned-later", clause: "W20") { harness, check in
            func compare(_ name: String, there: (SerialObjects) throws -> Void) throws {
                let scene = SerialScene(
                    rooms: [Relationship("seat", to: "Seat", inverse: "room")], seats: [Relationship("room", to: "Room", inverse: "seat")])
                let results = try scene.run(harness) { _ in
                } there: {
                    try there($0)
                } here: { objects in
                    try objects.set("Room0", "seat", "Seat1")
                    try objects.delete("Room0")
                    try objects.set("Room1", "seat", "Seat1")
                }
                check.equal(results.merged, results.serial, name)
            }
            try compare("an attribute") { try $0.rename("Room0", 3) }
            try compare("another partner") { objects in
                try objects.rename("Room0", 3)
                try objects.set("Room1", "seat", "Seat0")
            }
        },
        boxes("L084.a-member-that-was-read-before-its-list-is-removed", "R3, W20") { stack, check in
            for relationship in ["parts", "items"] {
                let slot = relationship == "parts" ? "whole" : "box"
                let work = stack.beginUnsafe(), item = try object("Item", 7, in: work)
                check.isTrue(try item.object(slot) == nil, "\(slot) before")
                try stack.write { try object("Item", 7, in: $0).setObject(object("Box", 0, in: $0), for: slot) }
                let box = try object("Box", 0, in: work)
                check.equal(try numbers(box, relationship), [0, 1, 7], "\(relationship) when they are read")
                try box.setObjects(items([0, 1], in: work), for: relationship)
                check.throwing(.staleObject, "the item was read before the other transaction changed it") { try work.commit() }
                try work.commit(merging: .mine)
                check.equal(try stored(stack, relationship), [0, 1], "stored \(relationship)")
            }
        },
        boxes("R057.strict-loading-keeps-what-was-prefetched", "R7") { stack, check in
            stack.relationships = .strict
            let request = From<DynamicObject>(entity: "Box").prefetch(named: ["tags", "marks", "parts"])
            let work = stack.beginUnsafe(), box = try work.fetchAll(request)[0], all = try items(Array(0..<8), in: work)
            try box.setObjects(items([2, 0], in: work), for: "tags")
            try work.commit()
            check.equal(try numbers(box, "tags"), [2, 0], "after a commit")
            try stack.write { transaction in
                let box = try transaction.fetchAll(request)[0]
                try box.setObjects(items([3, 0], in: transaction), for: "tags")
                try box.setObjects(items([0, 2], in: transaction), for: "parts")
            }
            try work.refresh()
            check.equal(try numbers(box, "tags"), [3, 0], "after refresh")
            check.equal(Set(try numbers(box, "parts")), [0, 2], "members that refer to their owner")
            check.equal(all.count, 8, "the members that are in memory")
            try stack.write { transaction in
                let box = try transaction.fetchAll(request)[0]
                _ = try transaction.updateAll(From<DynamicObject>(entity: "Box"), .set(named: "number", to: .value(.int(0))))
                check.equal(try numbers(box, "tags"), [3, 0], "after a batch")
                check.equal(Set(try numbers(box, "marks")), [0, 1], "a set after a batch")
            }
        },
        boxes("R058.prefetching-finds-the-members-that-a-lookup-finds", "R7") { stack, check in
            // What was done to the item before another transaction moves it from box 0 to box 1, and the box it is in then.
            let scenes: [(name: String, work: (DynamicObject) throws -> Void, owner: Int)] = [
                ("read", { _ = try $0.value("number") }, 1), ("changed", { try $0.setValue(.int(20), for: "number") }, 0),
                ("taken out", { try $0.setObject(nil, for: "whole") }, -1),
            ]
            let request = From<DynamicObject>(entity: "Box").orderBy(.ascending("number"))
            try stack.write { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.int(1), for: "number") }
            for (name, change, owner) in scenes {
                for (mode, prefetched) in [("looked up", []), ("prefetched", ["parts"]), ("one prefetched", ["parts"])] {
                    try stack.write { try object("Item", 0, in: $0).setObject(object("Box", 0, in: $0), for: "whole") }
                    let work = stack.beginUnsafe(), item = try object("Item", 0, in: work)
                    try change(item)
                    try stack.write { try object("Item", 0, in: $0).setObject(object("Box", 1, in: $0), for: "whole") }
                    let boxes = try work.fetchAll(request.prefetch(named: prefetched).offset(mode.hasPrefix("one") ? 1 : 0))
                    for box in boxes {
                        guard case .int(let number) = try box.value("number") else { continue }
                        check.equal(try box.objects("parts").contains(item), number == owner, "\(name), \(mode), box \(number)")
                    }
                }
            }
        },
    ]

    /// Cases in which objects and their members stay in memory while another transaction commits.
    static let keptBoxes: [ConformanceCase] = [
        boxes("L060.numbers-of-members-that-are-kept-in-memory", "W13, W20", limit: 1...3) { stack, check in
            func commit(_ relationship: String, _ policy: MergePolicy, here: [Int], there: [Int]) throws {
                try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1], in: $0), for: relationship) }
                let work = stack.beginUnsafe(), box = try object("Box", 0, in: work)
                try box.setObjects(items(here, in: work), for: relationship)
                try stack.write { try object("Box", 0, in: $0).setObjects(items(there, in: $0), for: relationship) }
                check.throwing(.validationFailed, "\(relationship), \(here) and \(there)") { try work.commit(merging: policy) }
                check.equal(Set(try stored(stack, relationship)), Set(there), "\(relationship), \(here) and \(there)")
                check.equal(Set(try numbers(box, relationship)), Set(here), "\(relationship) in memory, \(here) and \(there)")
            }
            for relationship in ["tags", "marks", "items", "parts"] {
                for policy in [MergePolicy.error, .mine] {
                    try commit(relationship, policy, here: [0, 1, 2], there: [0, 1, 3])
                    try commit(relationship, policy, here: [0], there: [1])
                }
            }
        },
        boxes("L061.an-assignment-that-is-undone-does-not-follow-a-deletion", "W19, W20") { stack, check in
            try stack.write { transaction in
                try transaction.create(Into<DynamicObject>(entity: "Box")).setValue(.int(1), for: "number")
                try object("Item", 7, in: transaction).setObject(object("Box", 0, in: transaction), for: "whole")
            }
            let work = stack.beginUnsafe(supportsUndo: true), item = try object("Item", 7, in: work), other = try object("Box", 1, in: work)
            try work.delete(try object("Box", 0, in: work))
            try work.markUndoPoint()
            try item.setObject(other, for: "whole")
            check.isTrue(try work.undo(), "undo")
            try stack.write { try object("Box", 0, in: $0).setValue(.int(5), for: "number") }
            try work.commit(merging: .theirs)
            let whole = try stack.read(synchronous: { try object("Item", 7, in: $0).object("whole") === object("Box", 5, in: $0) })
            check.isTrue(whole, "the abandoned deletion restores the reference")
        },
        boxes("L085.a-commit-that-gives-up-all-changes-begins-a-new-undo-history", "W19, W20") { stack, check in
            for isDeleted in [false, true] {
                for policy in [MergePolicy.theirs, .byAttribute { _, _, _, _, theirs in theirs }] {
                    let number = isDeleted ? 7 : 6
                    try stack.write { try $0.create(Into<DynamicObject>(entity: "Item")).setValue(.int(20), for: "number") }
                    let work = stack.beginUnsafe(supportsUndo: true), item = try object("Item", 20, in: work)
                    try item.setValue(.int(21), for: "number")
                    try work.markUndoPoint()
                    try stack.write { transaction in
                        let item = try object("Item", 20, in: transaction)
                        if isDeleted { try transaction.delete(item) } else { try item.setValue(.int(Int64(number)), for: "number") }
                    }
                    try work.commit(merging: policy)
                    // The commit is the earliest state, which the first one restores.
                    _ = try work.undo()
                    check.isTrue(try !work.undo(), "nothing else to undo; deleted: \(isDeleted)")
                    check.isTrue(item.isDeleted == isDeleted && !work.hasChanges, "as stored; deleted: \(isDeleted)")
                    if !isDeleted { check.equal(try item.value("number"), .int(Int64(number)), "the other value") }
                    try work.commit()
                }
            }
        },
        boxes("L062.a-member-that-is-no-longer-stored-is-added-and-taken-back", "W19, W20") { stack, check in
            for relationship in ["tags", "marks"] {
                for isUndone in [false, true] {
                    try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1], in: $0), for: relationship) }
                    let work = stack.beginUnsafe(supportsUndo: true), box = try object("Box", 0, in: work)
                    try box.setObjects(items([0, 1, 5], in: work), for: relationship)
                    try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1, 5], in: $0), for: relationship) }
                    try work.refresh()
                    check.equal(Set(try numbers(box, relationship)), [0, 1, 5], "\(relationship), both have added")
                    if isUndone { check.isTrue(try work.undo(), "undo") } else { try work.commit() }
                    try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1], in: $0), for: relationship) }
                    try work.refresh()
                    check.equal(Set(try numbers(box, relationship)), [0, 1], "\(relationship), the other has removed")
                    try box.setObjects(items([0, 1, 5, 6], in: work), for: relationship)
                    try box.setObjects(items([0, 1, 6], in: work), for: relationship)
                    try stack.write { try object("Box", 0, in: $0).setObjects(items([0, 1, 5], in: $0), for: relationship) }
                    try work.commit()
                    check.equal(Set(try stored(stack, relationship)), [0, 1, 5, 6], "\(relationship), stored; undone: \(isUndone)")
                }
            }
        },
        boxes("L063.strict-loading-keeps-members-while-changes-are-merged", "R7, W20") { stack, check in
            try stack.write { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.int(1), for: "number") }
            stack.relationships = .strict
            let request = From<DynamicObject>(entity: "Box").prefetch(named: ["parts"]).orderBy(.ascending("number"))
            let work = stack.beginUnsafe(), boxes = try work.fetchAll(request), all = try items(Array(0..<8), in: work)
            try all[2].setObject(boxes[0], for: "whole")
            try stack.write { transaction in
                let boxes = try transaction.fetchAll(request)
                try object("Item", 2, in: transaction).setObject(boxes[1], for: "whole")
            }
            try work.commit(merging: .mine)
            check.equal(Set(try numbers(boxes[0], "parts")), [0, 1, 2], "members")
            check.equal(try numbers(boxes[1], "parts"), [], "members of the other")
            let stored = try stack.read(synchronous: { source in try source.fetchAll(request).map { try Set(numbers($0, "parts")) } })
            check.equal(stored, [[0, 1, 2], []], "stored members")
        },
        boxes("R056.strict-loading-keeps-what-was-prefetched-after-a-statement", "R7, W18", needs: [.rawSQL]) { stack, check in
            stack.relationships = .strict
            let request = From<DynamicObject>(entity: "Box").prefetch(named: ["tags", "marks", "parts"])
            try stack.write { transaction in
                let box = try transaction.fetchAll(request)[0], all = try items(Array(0..<8), in: transaction)
                try transaction.execute(
                    "UPDATE \"Item\" SET \"whole\" = CASE WHEN \"number\" IN (1, 2) THEN (SELECT \"_id\" FROM \"Box\") END")
                check.equal(Set(try numbers(box, "parts")), [1, 2], "members that refer to their owner")
                check.equal(try numbers(box, "tags"), [0, 1], "a list")
                check.equal(Set(try numbers(box, "marks")), [0, 1], "a set")
                check.equal(all.count, 8, "the members that are in memory")
            }
        },
    ]

    /// A case over a box with the items 0 and 1 in each of its relationships, and six more items.
    ///
    /// - Parameter limit: The allowed numbers of members.
    static func boxes(
        _ id: String, _ clause: String, needs: Set<StorageCapabilities.Capability> = [], limit: ClosedRange<Int>? = nil,
        _ body: @escaping @Sendable (DataStack, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause, needs: needs) { harness, check in
            let number = [Attribute("number", .int64, isOptional: true)]
            func members(_ name: String, _ cardinality: Cardinality, inverse: String) -> Relationship {
                Relationship(name, to: "Item", cardinality, inverse: inverse, minCount: limit?.lowerBound, maxCount: limit?.upperBound)
            }
            let schema = try Schema(
                version: "1",
                entities: [
                    Entity(
                        "Box", attributes: number,
                        relationships: [
                            members("items", .toManyOrdered, inverse: "box"), members("tags", .toManyOrdered, inverse: "tagged"),
                            members("parts", .toMany, inverse: "whole"), members("marks", .toMany, inverse: "marked"),
                        ]),
                    Entity(
                        "Item", attributes: number,
                        relationships: [
                            Relationship("box", to: "Box", inverse: "items"), Relationship("whole", to: "Box", inverse: "parts"),
                            Relationship("tagged", to: "Box", .toMany, inverse: "tags"),
                            Relationship("marked", to: "Box", .toMany, inverse: "marks"),
                        ]),
                ])
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            try stack.write { transaction in
                for number in 0..<8 {
                    try transaction.create(Into<DynamicObject>(entity: "Item")).setValue(.int(Int64(number)), for: "number")
                }
                let box = try transaction.create(Into<DynamicObject>(entity: "Box"))
                try box.setValue(.int(0), for: "number")
                for name in ["items", "tags", "parts", "marks"] { try box.setObjects(items([0, 1], in: transaction), for: name) }
            }
            try body(stack, check)
        }
    }
}
