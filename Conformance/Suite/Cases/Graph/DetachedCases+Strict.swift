internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases about strict loading: what was prefetched stays readable, whatever discards the loaded members.
extension DetachedCases {
    static let strict: [ConformanceCase] = [
        boxes("R059.strict-loading-keeps-what-was-prefetched-in-a-merge", "R7") { stack, check in
            for (name, policy) in [("mine", MergePolicy.mine), ("theirs", .theirs)] {
                for property in ["number", "whole"] {
                    try stack.write { transaction in
                        try object("Box", 0, in: transaction).setObjects(items([0, 1], in: transaction), for: "tags")
                        try object("Item", 0, in: transaction).setObject(object("Box", 0, in: transaction), for: "whole")
                    }
                    stack.relationships = .strict
                    let work = stack.beginUnsafe(), box = try work.fetchAll(allBoxes)[0], all = try work.fetchAll(allItems)
                    try change(property, box, all[0])
                    stack.relationships = .lazy
                    try stack.write { transaction in
                        let box = try object("Box", 0, in: transaction)
                        try change(property, box, object("Item", 0, in: transaction))
                        try box.setObjects(items([2, 0], in: transaction), for: "tags")
                    }
                    try work.commit(merging: policy)
                    check.equal(try numbers(box, "tags"), [2, 0], "members, \(name), \(property)")
                    // A conflict of attributes alone leaves the other objects as they were read.
                    check.equal(try all[1].objects("tagged").count, property == "whole" ? 0 : 1, "the other end, \(name), \(property)")
                    check.equal(try all[1].object("whole"), box, "a to-one, \(name), \(property)")
                    check.equal(box.loadError?.code, nil, "error, \(name), \(property)")
                }
            }
        },
        boxes("R060.strict-loading-keeps-what-was-prefetched-in-a-view", "R7") { stack, check in
            try stack.write { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.int(1), for: "number") }
            stack.relationships = .strict
            let view = stack.makeViewContext(merging: .onDemand), box = try view.fetchAll(allBoxes)[0]
            let item = try view.fetchAll(allItems.limit(1))[0]
            check.equal(try item.object("whole"), box, "before")
            stack.relationships = .lazy
            try stack.write { transaction in
                try object("Box", 0, in: transaction).setObjects(items([3, 0], in: transaction), for: "tags")
                try object("Item", 0, in: transaction).setObject(object("Box", 1, in: transaction), for: "whole")
            }
            try view.merge()
            for reading in ["first", "second"] {
                check.equal(try numbers(box, "tags"), [3, 0], "members, \(reading) reading")
                check.equal(try numbers(box, "parts"), [1], "members that refer to their owner, \(reading) reading")
                check.equal(try (item.object("whole") as? DynamicObject)?.value("number"), .int(1), "a to-one, \(reading) reading")
            }
            check.equal(view.loadError?.code, nil, "error")
            check.throwing(.unplannedLoad, "what was not prefetched") {
                let view = try strict(stack) { $0.makeViewContext(merging: .onDemand) }
                _ = try view.fetchAll(From<DynamicObject>(entity: "Box"))[0].objects("tags")
                if let error = view.loadError { throw error }
            }
        },
        boxes("R061.strict-loading-reads-the-new-destination-of-a-prefetched-to-one", "R7") { stack, check in
            try stack.write { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.int(1), for: "number") }
            func destination(_ item: DynamicObject) throws -> Value? { try (item.object("whole") as? DynamicObject)?.value("number") }
            let steps: [(String, (UnsafeTransaction) throws -> Void)] = [
                ("refresh", { try $0.refresh() }), ("rollback", { try $0.rollback() }),
            ]
            for (name, step) in steps {
                try stack.write { try object("Item", 0, in: $0).setObject(object("Box", 0, in: $0), for: "whole") }
                let work = try strict(stack) { $0.beginUnsafe() }, item = try work.fetchAll(allItems)[0]
                try stack.write { try object("Item", 0, in: $0).setObject(object("Box", 1, in: $0), for: "whole") }
                try step(work)
                check.equal(try destination(item), .int(1), "after \(name)")
                check.equal(item.loadError?.code, nil, "error after \(name)")
            }
            stack.relationships = .strict
            try stack.write { transaction in
                let item = try transaction.fetchAll(allItems)[0]
                do {
                    try transaction.nested {
                        try item.setObject(object("Box", 0, in: transaction), for: "whole")
                        _ = try transaction.fetchAll(allItems)
                        throw GivenUp()
                    }
                } catch is GivenUp {}
                check.equal(try destination(item), .int(1), "after a part that was undone")
            }
        },
        boxes("R062.strict-loading-reads-what-is-no-longer-deleted", "R7") { stack, check in
            stack.relationships = .strict
            for last in ["undo", "rollback"] {
                let work = stack.beginUnsafe(supportsUndo: true), box = try work.fetchAll(allBoxes)[0], all = try work.fetchAll(allItems)
                try work.markUndoPoint()
                try work.delete(box)
                check.isTrue(try work.undo(), "undo")
                check.equal(try numbers(box, "tags"), [0, 1], "after undo")
                check.isTrue(try work.redo(), "redo")
                check.isTrue(box.isDeleted, "after redo")
                if last == "undo" { check.isTrue(try work.undo(), "undo again") } else { try work.rollback() }
                for name in ["items", "tags", "parts", "marks"] {
                    check.equal(Set(try numbers(box, name)), [0, 1], "\(name) after \(last)")
                }
                check.equal(try all[0].object("whole"), box, "a to-one after \(last)")
                check.equal(box.loadError?.code, nil, "error after \(last)")
            }
        },
        boxes("R063.strict-loading-reads-new-objects-in-a-closure", "R7") { stack, check in
            stack.relationships = .strict
            try stack.write { transaction in
                let box = try transaction.create(Into<DynamicObject>(entity: "Box"))
                _ = try transaction.fetchCount(From<DynamicObject>(entity: "Item"))
                check.equal(try numbers(box, "tags"), [], "after a fetch")
                try readNew(in: transaction, check, "in a closure")
            }
        },
        boxes("R063.strict-loading-reads-new-objects-after-an-undo", "R7") { stack, check in
            stack.relationships = .strict
            let work = stack.beginUnsafe(supportsUndo: true), box = try work.create(Into<DynamicObject>(entity: "Box"))
            try box.setObjects(items([2], in: work), for: "tags")
            try work.markUndoPoint()
            try box.setObjects(items([3], in: work), for: "tags")
            check.isTrue(try work.undo(), "undo")
            check.equal(try numbers(box, "tags"), [2], "made before an undo")
            try readNew(in: work, check, "made after an undo")
            try work.commit()
            try work.refresh()
            check.equal(try numbers(box, "tags"), [2], "after a commit")
            check.equal(try numbers(box, "marks"), [], "a set after a commit")
        },
        boxes("R063.strict-loading-reads-new-objects-after-a-merge", "R7") { stack, check in
            stack.relationships = .strict
            let work = stack.beginUnsafe(), item = try object("Item", 0, in: work)
            try item.setObject(nil, for: "whole")
            try stack.write { transaction in
                let box = try transaction.create(Into<DynamicObject>(entity: "Box"))
                try object("Item", 0, in: transaction).setObject(box, for: "whole")
            }
            try work.commit(merging: .mine)
            try readNew(in: work, check, "made after a merge")
        },
        boxes("R064.strict-loading-keeps-paths-of-prefetched-relationships", "R7") { stack, check in
            let request = allBoxes.prefetch(named: ["tags.whole.marks", "parts.tagged"])
            let view = try strict(stack) { $0.makeViewContext(merging: .onDemand) }
            let work = try strict(stack) { $0.beginUnsafe() }
            let boxes = [try view.fetchAll(request)[0], try work.fetchAll(request)[0]]
            try stack.write { transaction in
                let other = try transaction.create(Into<DynamicObject>(entity: "Box")), box = try object("Box", 0, in: transaction)
                try other.setValue(.int(1), for: "number")
                try other.setObjects(items([4, 5], in: transaction), for: "marks")
                try object("Item", 2, in: transaction).setObject(other, for: "whole")
                try box.setObjects(items([2], in: transaction), for: "tags")
                try box.setObjects(items([3], in: transaction), for: "parts")
                try object("Item", 3, in: transaction).setObjects([other, box], for: "tagged")
            }
            try view.merge()
            try work.refresh()
            for (box, what) in zip(boxes, ["a view", "a detached transaction"]) {
                let tags = try box.objects("tags").compactMap { $0 as? DynamicObject }
                check.equal(try tags.map { try $0.value("number") }, [.int(2), .int(3)], "\(what): members")
                let whole = try tags.first?.object("whole") as? DynamicObject
                check.equal(try whole.map { try numbers($0, "marks") }, [4, 5], "\(what): the third step")
                let parts = try box.objects("parts").compactMap { $0 as? DynamicObject }
                check.equal(try parts.map { try $0.objects("tagged").count }, [2], "\(what): the second step")
                check.equal(box.loadError?.code, nil, "\(what): error")
                check.throwing(.unplannedLoad, "\(what): what no path names is refused") { _ = try tags.first?.objects("marked") }
                check.equal(box.loadError?.code, nil, "\(what): an error that was thrown is not recorded")
            }
        },
        boxes("R065.strict-loading-reads-what-was-assigned", "R7") { stack, check in
            stack.relationships = .strict
            let work = stack.beginUnsafe(supportsUndo: true), box = try object("Box", 0, in: work)
            try box.setObjects(items([2, 0], in: work), for: "tags")
            try work.markUndoPoint()
            try box.setObjects([], for: "tags")
            check.isTrue(try work.undo(), "undo")
            check.equal(try numbers(box, "tags"), [2, 0], "after an undo")
            try work.commit()
            check.equal(try numbers(box, "tags"), [2, 0], "after a commit")
            try work.refresh()
            check.equal(try numbers(box, "tags"), [2, 0], "after refresh")
            check.throwing(.unplannedLoad, "what was not assigned is refused") { _ = try box.objects("marks") }
            check.equal(box.loadError?.code, nil, "an error that was thrown is not recorded")
        },
    ]

    /// Reads the relationships of objects that a transaction creates, before and after it has set them.
    private static func readNew(in transaction: some BaseTransaction, _ check: Check, _ what: String) throws {
        let box = try transaction.create(Into<DynamicObject>(entity: "Box"))
        check.equal(try numbers(box, "tags"), [], "\(what): none")
        try box.setObjects(items([1, 0], in: transaction), for: "tags")
        _ = try transaction.fetchCount(From<DynamicObject>(entity: "Box"))
        check.equal(try numbers(box, "tags"), [1, 0], "\(what): a list")
        check.equal(try numbers(box, "marks"), [], "\(what): a set")
        let item = try transaction.create(Into<DynamicObject>(entity: "Item"))
        try item.setObject(transaction.fetchAll(allBoxes).last, for: "whole")
        _ = try transaction.fetchCount(From<DynamicObject>(entity: "Box"))
        check.isTrue(try item.object("whole") != nil, "\(what): a to-one")
        check.equal(box.loadError?.code, nil, "\(what): error")
    }

    private struct GivenUp: Error {}

    /// The boxes and items, each with all of its relationships.
    private static var allBoxes: From<DynamicObject> {
        From<DynamicObject>(entity: "Box").orderBy(.ascending("number")).prefetch(named: ["items", "tags", "parts", "marks"])
    }
    private static var allItems: From<DynamicObject> {
        From<DynamicObject>(entity: "Item").orderBy(.ascending("number")).prefetch(named: ["box", "tagged", "whole", "marked"])
    }

    /// Changes a property of a box, or of an item of it.
    private static func change(_ property: String, _ box: DynamicObject, _ item: DynamicObject) throws {
        if property == "whole" { try item.setObject(nil, for: property) } else { try box.setValue(.int(0), for: property) }
    }

    /// Runs `body` with strict loading. Transactions and contexts keep the loading with which they began.
    private static func strict<R>(_ stack: DataStack, _ body: (DataStack) throws -> R) throws -> R {
        let former = stack.relationships
        stack.relationships = .strict
        defer { stack.relationships = former }
        return try body(stack)
    }
}
