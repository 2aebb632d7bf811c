internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases about references into other stores, of which a detached transaction and another one change one end each.
extension DetachedCases {
    static let elsewhere: [ConformanceCase] = [
        ConformanceCase("L039.a-reference-to-what-is-deleted-there", clause: "W20") { harness, check in
            for rule in [DeleteRule.nullify, .cascade, .deny] {
                try refer(harness, check, "assigned; \(rule)", back: rule) { sides in
                    try sides.point(at: sides.rights[0])
                } there: { sides in
                    try sides.transaction.delete(sides.rights[0])
                } then: { _ in
                    .committed(left: 1, reference: nil, rights: [20])
                }
                try refer(harness, check, "assigned again; \(rule)", back: .nullify, isReferring: true) { sides in
                    try sides.point(at: sides.rights[1])
                } there: { sides in
                    try sides.transaction.delete(sides.rights)
                } then: { _ in
                    .committed(left: 1, reference: nil, rights: [])
                }
            }
        },
        ConformanceCase("L039.a-deletion-of-what-is-referred-to-there", clause: "W20") { harness, check in
            for rule in [DeleteRule.nullify, .cascade, .deny] {
                try refer(harness, check, "\(rule)", back: rule) { sides in
                    try sides.transaction.delete(sides.rights[0])
                } there: { sides in
                    try sides.point(at: sides.rights[0])
                } then: { isTheirs in
                    if isTheirs { return .committed(left: 1, reference: 10, rights: [10, 20]) }
                    return switch rule {
                    case .nullify: .committed(left: 1, reference: nil, rights: [20])
                    case .cascade: .committed(left: nil, reference: nil, rights: [20])
                    case .deny: .denied
                    }
                }
            }
            try refer(harness, check, "both assign", back: .nullify) { sides in
                try sides.point(at: sides.rights[0])
                try sides.transaction.delete(sides.rights[1])
            } there: { sides in
                try sides.point(at: sides.rights[1])
            } then: { isTheirs in
                .committed(left: 1, reference: isTheirs ? 20 : 10, rights: isTheirs ? [10, 20] : [10])
            }
        },
        ConformanceCase("L039.a-deletion-whose-effects-are-given-up", clause: "W20") { harness, check in
            for rule in [DeleteRule.nullify, .cascade] {
                try refer(harness, check, "\(rule)", back: rule, isReferring: true) { sides in
                    try sides.transaction.delete(sides.rights[0])
                } there: { sides in
                    try sides.left.setValue(.int(5), for: "x")
                } then: { isTheirs in
                    if isTheirs { return .committed(left: 5, reference: 10, rights: [10, 20]) }
                    return .committed(left: rule == .nullify ? 5 : nil, reference: nil, rights: [20])
                }
            }
            try refer(harness, check, "its own rule", own: .cascade, isReferring: true) { sides in
                try sides.transaction.delete(sides.left)
            } there: { sides in
                try sides.left.setValue(.int(5), for: "x")
            } then: { isTheirs in
                isTheirs ? .committed(left: 5, reference: 10, rights: [10, 20]) : .committed(left: nil, reference: nil, rights: [20])
            }
        },
        ConformanceCase("L039.a-deletion-follows-the-references-that-are-added-there", clause: "W20") { harness, check in
            for rule in [DeleteRule.nullify, .cascade, .deny] {
                try refer(harness, check, "\(rule)", own: rule) { sides in
                    try sides.transaction.delete(sides.left)
                } there: { sides in
                    try sides.point(at: sides.rights[1])
                } then: { isTheirs in
                    if isTheirs { return .committed(left: 1, reference: 20, rights: [10, 20]) }
                    return switch rule {
                    case .nullify: .committed(left: nil, reference: nil, rights: [10, 20])
                    case .cascade: .committed(left: nil, reference: nil, rights: [10])
                    case .deny: .denied
                    }
                }
            }
        },
        ConformanceCase("L039.a-deletion-follows-the-references-that-were-assigned-before-it", clause: "W20") { harness, check in
            for rule in [DeleteRule.nullify, .cascade] {
                // The destination that was replaced here before the deletion is not deleted, whatever else was changed there. The one that
                // replaced it was deleted here, and this deletion is in no conflict.
                let rights: [Int64] = rule == .cascade ? [10] : [10, 20]
                try refer(harness, check, "\(rule)", own: rule, isReferring: true) { sides in
                    try sides.point(at: sides.rights[1])
                    try sides.transaction.delete(sides.left)
                } there: { sides in
                    try sides.left.setValue(.int(5), for: "x")
                } then: { isTheirs in
                    isTheirs
                        ? .committed(left: 5, reference: 10, rights: rights) : .committed(left: nil, reference: nil, rights: rights)
                }
                try refer(harness, check, "both assign; \(rule)", own: rule) { sides in
                    try sides.point(at: sides.rights[1])
                    try sides.transaction.delete(sides.left)
                } there: { sides in
                    try sides.point(at: sides.rights[0])
                } then: { isTheirs in
                    isTheirs
                        ? .committed(left: 1, reference: 10, rights: rights) : .committed(left: nil, reference: nil, rights: rights)
                }
            }
        },
    ]

    /// The result of a commit by a policy.
    private enum Outcome: Equatable {
        /// The deletion is denied, and nothing is written.
        case denied
        /// The value of the only left object, that of the object to which it refers, and those of all right objects.
        case committed(left: Int64?, reference: Int64?, rights: [Int64])
    }

    /// The kind of reference from left objects to right ones.
    private enum Form: CaseIterable {
        /// By a reference into the same store, or into another one.
        case sameStore, otherStore
        /// By a relationship, whose inverse is to-many.
        case relationship
    }

    private static func schema(_ form: Form, _ own: DeleteRule, _ back: DeleteRule) throws -> Schema {
        let number = Attribute("x", .int64, isOptional: true)
        if form == .relationship {
            return try Schema(
                version: "1",
                entities: [
                    Entity(
                        "Left", attributes: [number],
                        relationships: [Relationship("to", to: "Right", .toOne, inverse: "from", deleteRule: own)]),
                    Entity(
                        "Right", attributes: [number],
                        relationships: [Relationship("from", to: "Left", .toMany, inverse: "to", deleteRule: back)]),
                ])
        }
        let reference = CrossReference(to: "Right", deleteRule: own, inverseDeleteRule: back)
        return try Schema(
            version: "1",
            entities: [
                Entity("Left", attributes: [number, Attribute("to", .string, isOptional: true, crossReference: reference)]),
                Entity("Right", attributes: [number]),
            ], configurations: form == .sameStore ? [:] : ["Lefts": ["Left"], "Rights": ["Right"]])
    }

    /// The objects that a transaction sees.
    private struct Sides {
        let transaction: BaseTransaction
        let form: Form
        let left: DynamicObject
        let rights: [DynamicObject]

        init(_ transaction: BaseTransaction, _ form: Form) throws {
            self.transaction = transaction
            self.form = form
            left = try transaction.fetchAll(From<DynamicObject>(entity: "Left"))[0]
            rights = try transaction.fetchAll(From<DynamicObject>(entity: "Right").orderBy(.ascending("x")))
        }

        func point(at right: DynamicObject) throws { try DetachedCases.point(left, right, form) }
    }

    private static func point(_ left: DynamicObject, _ right: DynamicObject, _ form: Form) throws {
        if form == .relationship { return try left.setObject(right, for: "to") }
        try left.setValue(.string(right.objectID.description), for: "to")
    }

    /// Returns the value of the object to which a left object refers; -1 if the object does not exist.
    private static func reference(_ left: DynamicObject, _ rights: [DynamicObject], _ form: Form) throws -> Int64? {
        if form == .relationship { return try left.object("to").flatMap { try numbers([$0 as? DynamicObject].compactMap { $0 }).first } }
        guard case .string(let id) = try left.value("to") else { return nil }
        return try rights.first { $0.objectID.description == id }.map { try numbers([$0])[0] } ?? -1
    }

    private static func numbers(_ objects: [DynamicObject]) throws -> [Int64] {
        try objects.compactMap { if case .int(let number) = try $0.value("x") { number } else { nil } }
    }

    private static func stored(_ entity: String, _ stack: DataStack) throws -> [DynamicObject] {
        try stack.fetchAll(From<DynamicObject>(entity: entity).orderBy(.ascending("x")))
    }

    /// Changes one left object, with the value 1, and two right ones, with the values 10 and 20, in a detached transaction and in another
    /// one, and commits the detached one by each policy.
    private static func refer(
        _ harness: StoreHarness, _ check: Check, _ name: String, own: DeleteRule = .nullify, back: DeleteRule = .nullify,
        isReferring: Bool = false, here: (Sides) throws -> Void, there: (Sides) throws -> Void, then expected: (_ isTheirs: Bool) -> Outcome
    ) throws {
        for form in Form.allCases {
            for policy in [MergePolicy.mine, .theirs] {
                let places = [try harness.place()] + (form == .otherStore ? [try harness.place()] : [])
                defer { for place in places { place.remove() } }
                let stack = try DataStack(schema: schema(form, own, back))
                if form == .otherStore {
                    let stores = [try places[0].store("Lefts"), try places[1].store("Rights")]
                    for store in stores { try stack.addStorageAndWait(store) }
                    if !StorePair(stack: stack, first: stores[0], second: stores[1]).commitsTogether {
                        for store in stores { try store.close() }
                        continue
                    }
                } else {
                    try stack.addStorageAndWait(try places[0].store(nil))
                }
                defer { for store in stack.storages { try? store.close() } }
                try stack.write { transaction in
                    let left = try transaction.create(Into<DynamicObject>(entity: "Left"))
                    try left.setValue(.int(1), for: "x")
                    for number in [10, 20] as [Int64] {
                        let right = try transaction.create(Into<DynamicObject>(entity: "Right"))
                        try right.setValue(.int(number), for: "x")
                        if number == 10, isReferring { try point(left, right, form) }
                    }
                }
                let work = stack.beginUnsafe(), sides = try Sides(work, form)
                try here(sides)
                try stack.write { try there(Sides($0, form)) }
                check.throwing(.staleObject, "without a policy; \(name), \(form)") { try work.commit() }
                let isTheirs = if case .theirs = policy { true } else { false }
                let found: Outcome
                do {
                    try work.commit(merging: policy)
                    let lefts = try stored("Left", stack), remaining = try stored("Right", stack)
                    found = .committed(
                        left: try numbers(lefts).first, reference: try lefts.first.flatMap { try reference($0, remaining, form) },
                        rights: try numbers(remaining))
                    check.isTrue(!work.hasChanges, "nothing is left to commit; \(name), \(form), \(policy)")
                } catch let error as StorageError where error.code == .deleteDenied {
                    found = .denied
                }
                check.equal(found, expected(isTheirs), "\(name), \(form), \(policy)")
                check.equal(try stack.checkReferences().count, 0, "dangling; \(name), \(form), \(policy)")
                withExtendedLifetime(sides) {}
            }
        }
    }
}
