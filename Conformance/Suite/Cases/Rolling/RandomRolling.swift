internal import Foundation
internal import Polystore

/// Cases with random online migrations of random models while programs of the older version write, compared with an ordinary migration of a
/// store with the same writes.
enum RandomRolling {
    static let all: [ConformanceCase] = [
        RollingCases.rollingCase("M027.random-models-side-by-side", "M11") { harness, check in
            var taken = 0
            for number in 0..<UInt64(IsolationCases.isThorough ? 300 : 30) {
                if try run(RandomCases.seed &+ 3_000 &+ number, harness, check) { taken += 1 }
                if !check.failures.isEmpty { return }
            }
            // Some steps cannot be performed online, but among many some always can.
            check.isTrue(taken > 3, "only \(taken) steps were taken")
        }
    ]

    /// Performs one step. Returns false if it cannot be performed online.
    private static func run(_ seed: UInt64, _ harness: StoreHarness, _ check: Check) throws -> Bool {
        var model = RandomModel(seed: seed), random = SplitMix(seed: seed), newest: Int64 = 1_000_000
        let before = try model.schema("V1"), filled = model
        model.step("V2")
        let after = try model.schema("V2")
        if before.hash == after.hash { return false }
        check.label = "seed \(seed)"
        defer { check.label = "" }
        do {
            return try harness.withStore(before) { plain in
                try RandomMigrations.fill(plain, filled)
                var isTaken = true
                try RollingScene.run(harness, before, after, fill: { try RandomMigrations.fill($0, filled) }) { scene in
                    do { try scene.expand() } catch let error as StorageError where error.code == .unsupported {
                        isTaken = false
                        return
                    }
                    try write([scene.old, plain], &random, &newest)
                    var step = MigrationScene(before, after)
                    step.losses = model.losses
                    do { try scene.phases.backfill(BackfillPace(batchSize: 2)) } catch let error as StorageError
                        where error.code == .uniqueConstraintViolated
                    {
                        check.throwing(.uniqueConstraintViolated, "the ordinary migration") { try step.migrate(plain) }
                        return
                    }
                    let next = try Scratch(beside: scene.old, after)
                    defer { try? next.store.close() }
                    try write([scene.old, plain], &random, &newest)
                    let contents = try contents(next)
                    try scene.phases.contract(acceptingLosses: model.losses, timeout: 10)
                    try step.migrate(plain)
                    let migrated = Scratch(migrated: plain, to: after)
                    check.equal(contents, try self.contents(migrated), "before the end of the step")
                    check.equal(try self.contents(next), try self.contents(migrated), "after it")
                    try Integrity.check(next.store, after, check)
                    try next.reopen()
                    check.equal(try self.contents(next), try self.contents(migrated), "opened again")
                }
                return isTaken
            }
        } catch {
            check.isTrue(false, "\(error) after \(model.log)")
        }
        if !check.failures.isEmpty { check.isTrue(false, "the changes \(model.log)") }
        return true
    }

    /// Performs the same random changes in several stores: values of existing objects, and similar new objects.
    private static func write(_ stores: [Scratch], _ random: inout SplitMix, _ newest: inout Int64) throws {
        let schema = stores[0].schema
        for entity in schema.descriptions where !entity.isAbstract && Bool.random(using: &random) {
            let rows = try stores[0].fetch(ObjectRequest(entity.name)).filter { $0.entity == entity.name }.sorted { $0.key < $1.key }
            let free = entity.slots.filter { slot in
                slot.attribute != nil && !entity.uniqueConstraints.contains { $0.slots.contains(entity.slot(slot.name) ?? -1) }
            }
            guard let row = rows.randomElement(using: &random), let other = rows.randomElement(using: &random) else { continue }
            var values: [String: Value] = [:]
            for slot in free where Bool.random(using: &random) { values[slot.name] = other.values[slot.name] }
            for slot in free where slot.attribute?.isOptional == true && Int.random(in: 0..<4, using: &random) == 0 {
                values[slot.name] = .null
            }
            let required = Set(entity.slots.filter { $0.destination == nil && $0.attribute?.isOptional == false }.map(\.name))
            let copy = row.values.filter { name, _ in free.contains { $0.name == name } }
            let isWhole = required.isSubset(of: copy.keys)
            newest += 1
            if !values.isEmpty { try same(stores) { try $0.update(entity.name, row.key, values) } }
            if isWhole { try same(stores) { try $0.load(entity.name, [(newest, copy)]) } }
        }
    }

    /// Performs a change in all stores, or in none: a constraint of the newer version also applies to the first store.
    private static func same(_ stores: [Scratch], _ change: (Scratch) throws -> Void) throws {
        do { try change(stores[0]) } catch let error as StorageError where error.code == .uniqueConstraintViolated { return }
        for store in stores.dropFirst() { try change(store) }
    }

    /// Returns all objects by root, and all pairs.
    private static func contents(_ scratch: Scratch) throws -> [String] {
        var lines: [String] = []
        for root in scratch.schema.roots {
            for row in try scratch.fetch(ObjectRequest(scratch.schema.entities[root].name)).sorted(by: { $0.key < $1.key }) {
                lines.append("\(row.entity) \(row.key) \(row.values.sorted { $0.key < $1.key })")
            }
        }
        for link in scratch.schema.links {
            let pairs = try scratch.links(link.name, .owner, nil).map { ($0.owner, $0.rank, $0.member) }.sorted(by: <)
            lines.append("\(link.name) \(pairs)")
        }
        return lines
    }
}
