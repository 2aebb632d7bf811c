internal import Foundation
internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases about references to objects that do not exist, into the same store and into another one.
enum ReferenceCases {
    static let all: [ConformanceCase] = [
        ConformanceCase("R052.a-reference-to-nothing-is-refused", clause: "R8") { harness, check in
            try withStacks(harness) { stack, name in
                let gone = try removed(stack)
                func left(_ transaction: WriteTransaction) throws -> DynamicObject {
                    try transaction.fetchAll(From<DynamicObject>(entity: "Left"))[0]
                }
                check.throwing(.validationFailed, "a changed object; \(name)") {
                    try stack.write { try left($0).setValue(gone, for: "to") }
                }
                check.throwing(.validationFailed, "a new object; \(name)") {
                    try stack.write { try $0.create(Into<DynamicObject>(entity: "Left")).setValue(gone, for: "to") }
                }
                check.throwing(.validationFailed, "rows; \(name)") {
                    try stack.write { transaction in
                        _ = try transaction.insertAll(Into<DynamicObject>(entity: "Left"), sources: [gone]) {
                            try $0.setValue($1, for: "to")
                        }
                    }
                }
                check.throwing(.validationFailed, "an upsert; \(name)") {
                    try stack.write { transaction in
                        _ = try transaction.upsertAll(Into<DynamicObject>(entity: "Left"), onNamed: ["x"], sources: [gone]) {
                            try $0.setValue(.int(1), for: "x")
                            try $0.setValue($1, for: "to")
                        }
                    }
                }
                check.throwing(.validationFailed, "all objects; \(name)") {
                    try stack.write { _ = try $0.updateAll(From<DynamicObject>(entity: "Left"), .set(named: "to", to: .value(gone))) }
                }
                try stack.write { try left($0).setValue(gone, for: "note") }
                check.throwing(.validationFailed, "computed values; \(name)") {
                    try stack.write {
                        _ = try $0.updateAll(From<DynamicObject>(entity: "Left"), .set(named: "to", to: .path("note")))
                    }
                }
                check.equal(try stack.fetchCount(From<DynamicObject>(entity: "Left")), 1, "objects; \(name)")
                check.equal(try stack.checkReferences().count, 0, "dangling; \(name)")
                let right = try stack.write { transaction in
                    let id = try transaction.fetchAll(From<DynamicObject>(entity: "Right"))[0].objectID.description
                    try left(transaction).setValue(.string(id), for: "note")
                    return id
                }
                try stack.write {
                    _ = try $0.updateAll(From<DynamicObject>(entity: "Left"), .set(named: "to", to: .path("note")))
                }
                let values = try stack.fetchAll(From<DynamicObject>(entity: "Left")).map { try $0.value("to") }
                check.equal(values, [.string(right)], "a computed destination; \(name)")
            }
        },
        ConformanceCase("R053.a-refused-reference-can-be-corrected", clause: "R8") { harness, check in
            try withStacks(harness) { stack, name in
                let gone = try removed(stack)
                let found = try stack.write { transaction in
                    let left = try transaction.fetchAll(From<DynamicObject>(entity: "Left"))[0]
                    let right = try transaction.fetchAll(From<DynamicObject>(entity: "Right"))[0]
                    try left.setValue(.int(5), for: "x")
                    try left.setValue(gone, for: "to")
                    check.throwing(.validationFailed, "before a fetch; \(name)") {
                        _ = try transaction.fetchCount(From<DynamicObject>(entity: "Left"))
                    }
                    try left.setValue(.string(right.objectID.description), for: "to")
                    return try transaction.fetchCount(From<DynamicObject>(entity: "Left").where(Where(format: "x == %@", arguments: [5])))
                }
                check.equal(found, 1, "the other assignment remains; \(name)")
                // A destination may be created, and may be deleted later, in the same transaction.
                try stack.write { transaction in
                    let left = try transaction.fetchAll(From<DynamicObject>(entity: "Left"))[0]
                    let right = try transaction.create(Into<DynamicObject>(entity: "Right"))
                    try left.setValue(.string(right.objectID.description), for: "to")
                    _ = try transaction.fetchCount(From<DynamicObject>(entity: "Left"))
                    try transaction.delete(right)
                    check.equal(try left.value("to"), .null, "after the deletion; \(name)")
                }
                check.equal(try stack.checkReferences().count, 0, "dangling; \(name)")
            }
        },
        ConformanceCase("R054.a-reference-into-a-store-that-is-not-there", clause: "X4") { harness, check in
            try withStacks(harness) { stack, name in
                // Nothing is known about objects of a store that does not belong to the stack.
                let key = ObjectKey(store: UUID(), root: "Right", key: 7)
                try stack.write { transaction in
                    try transaction.fetchAll(From<DynamicObject>(entity: "Left"))[0].setValue(.string(key.description), for: "to")
                }
                check.equal(try stack.checkReferences().map(\.isCertain), [false], "dangling; \(name)")
            }
        },
    ]

    /// Runs a closure with a stack that holds a left and a right object in the same store, and with one that holds them in two stores.
    private static func withStacks(_ harness: StoreHarness, _ body: (_ stack: DataStack, _ name: String) throws -> Void) throws {
        for configurations in [[], ["Lefts", "Rights"]] {
            let places = try (0..<max(configurations.count, 1)).map { _ in try harness.place() }
            defer { for place in places { place.remove() } }
            let stack = try DataStack(
                schema: Schema(
                    version: "1",
                    entities: [
                        Entity(
                            "Left",
                            attributes: [
                                Attribute("x", .int64, isOptional: true), Attribute("note", .string, isOptional: true),
                                Attribute("to", .string, isOptional: true, crossReference: CrossReference(to: "Right")),
                            ], uniqueConstraints: [UniqueConstraint(["x"])]),
                        Entity("Right", attributes: [Attribute("x", .int64, isOptional: true)]),
                    ], configurations: configurations.isEmpty ? [:] : ["Lefts": ["Left"], "Rights": ["Right"]]))
            for (index, place) in places.enumerated() {
                try stack.addStorageAndWait(place.store(configurations.isEmpty ? nil : configurations[index]))
            }
            defer { for store in stack.storages { try? store.close() } }
            for entity in ["Left", "Right"] {
                try stack.write { transaction in
                    try transaction.create(Into<DynamicObject>(entity: entity)).setValue(Value.int(1), for: "x")
                }
            }
            try body(stack, configurations.isEmpty ? "one store" : "two stores")
        }
    }

    /// Returns the identity of a right object that was deleted.
    private static func removed(_ stack: DataStack) throws -> Value {
        let id = try stack.write { try $0.create(Into<DynamicObject>(entity: "Right")).objectID }
        try stack.write { transaction in
            if let right = try transaction.fetchExisting(id) { try transaction.delete(right) }
        }
        return .string(id.description)
    }
}
