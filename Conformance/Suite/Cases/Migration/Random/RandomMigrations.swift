internal import Foundation
internal import Polystore

/// Cases with random changes of random models with random objects, compared with the results of plain Swift code.
enum RandomMigrations {
    static let all: [ConformanceCase] = [
        ConformanceCase("M016.random-models-step-by-step", clause: "M11", needs: [.migrations]) { harness, check in
            for number in 0..<UInt64(IsolationCases.isThorough ? 400 : 12) {
                try run(RandomCases.seed &+ 1_000 &+ number, harness, check) { scratch, model, versions in
                    var scratch = scratch
                    for number in 2...4 {
                        model.step("V\(number)")
                        versions.append(try model.schema("V\(number)"))
                        var scene = MigrationScene(scratch.schema, versions[versions.count - 1])
                        scene.losses = model.losses
                        try scene.migrate(scratch)
                        scratch = Scratch(migrated: scratch, to: try scene.history.currentSchema)
                        try compare(scratch, model, check)
                        if !check.failures.isEmpty { break }
                    }
                    return scratch
                }
                if !check.failures.isEmpty { return }
            }
        },
        ConformanceCase("M016.random-models-in-a-chain", clause: "M11", needs: [.migrations]) { harness, check in
            for number in 0..<UInt64(IsolationCases.isThorough ? 200 : 6) {
                try run(RandomCases.seed &+ 2_000 &+ number, harness, check) { scratch, model, versions in
                    for number in 2...6 {
                        model.step("V\(number)")
                        versions.append(try model.schema("V\(number)"))
                    }
                    var scene = MigrationScene(versions: versions)
                    scene.chain = MigrationChain(versions.map(\.version))
                    scene.losses = model.losses
                    try scene.migrate(scratch)
                    return Scratch(migrated: scratch, to: try scene.history.currentSchema)
                }
                if !check.failures.isEmpty { return }
            }
        },
    ]

    /// Fills a store of a random model, migrates it, and compares. A failure reports the seed and the changes.
    private static func run(
        _ seed: UInt64, _ harness: StoreHarness, _ check: Check, _ migrate: (Scratch, inout RandomModel, inout [Schema]) throws -> Scratch
    ) throws {
        var model = RandomModel(seed: seed), versions = [try model.schema("V1")]
        check.label = "seed \(seed)"
        defer { check.label = "" }
        do {
            try harness.withStore(versions[0]) { scratch in
                try fill(scratch, model)
                let migrated = try migrate(scratch, &model, &versions)
                defer { try? migrated.store.close() }
                try compare(migrated, model, check)
                if !check.failures.isEmpty || !harness.capabilities.contains(.persistent) { return }
                try migrated.reopen()
                try compare(migrated, model, check)
            }
        } catch {
            check.isTrue(false, "\(error) after \(model.log)")
        }
        if !check.failures.isEmpty { check.isTrue(false, "the changes \(model.log)") }
    }

    static func fill(_ scratch: Scratch, _ model: RandomModel) throws {
        for (entity, rows) in model.rows.sorted(by: { $0.key < $1.key }) {
            try scratch.load(entity, rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        }
        for tie in model.ties {
            try scratch.connect(tie.owner, tie.name, members(tie))
            // Both sides of a pair of to-one relationships are stored.
            if tie.cardinality == .toOne, let other = tie.inverse, other.cardinality == .toOne {
                try scratch.connect(tie.destination, other.name, owners(tie))
            }
        }
    }

    private static func members(_ tie: RandomModel.Tie) -> [Int64: [Int64]] {
        let groups = Dictionary(grouping: tie.pairs, by: \.owner).mapValues { $0.map(\.member) }
        return tie.cardinality == .toManyOrdered ? groups : groups.mapValues { $0.sorted() }
    }

    private static func owners(_ tie: RandomModel.Tie) -> [Int64: [Int64]] {
        Dictionary(grouping: tie.pairs, by: \.member).mapValues { $0.map(\.owner).sorted() }
    }

    private static func compare(_ scratch: Scratch, _ model: RandomModel, _ check: Check) throws {
        for root in model.entities where root.parent == nil {
            var expected: [Int64: Row] = [:], found: [Int64: Row] = [:]
            for member in model.family(root.name) {
                for (key, values) in model.rows[member] ?? [:] { expected[key] = Row(key: key, entity: member, version: 0, values: values) }
            }
            for row in try scratch.fetch(ObjectRequest(root.name)) {
                let names = Set(model.attributes(row.entity).map(\.name))
                found[row.key] = Row(key: row.key, entity: row.entity, version: 0, values: row.values.filter { names.contains($0.key) })
            }
            check.equal(found, expected, "objects of \(root.name)")
        }
        for tie in model.ties {
            check.equal(try scratch.members(tie.owner, tie.name), members(tie), "\(tie.owner).\(tie.name)")
            if let other = tie.inverse {
                check.equal(try scratch.members(tie.destination, other.name), owners(tie), "\(tie.destination).\(other.name)")
            }
        }
        for entity in model.entities {
            for name in entity.indexes.flatMap(\.properties) { try compareIndex(entity.name, name, scratch, model, check) }
        }
        try Integrity.check(scratch.store, scratch.schema, check)
    }

    /// Compares the objects that an index finds.
    private static func compareIndex(_ entity: String, _ name: String, _ scratch: Scratch, _ model: RandomModel, _ check: Check) throws {
        var keys: [Value: [Int64]] = [:]
        for member in model.family(entity) {
            for (key, values) in model.rows[member] ?? [:] {
                if let value = values[name], value != .null { keys[value, default: []].append(key) }
            }
        }
        for (value, keys) in keys {
            let predicate = QueryPredicate.compare(.path(PropertyPath(name)), .equal, .value(value))
            check.equal(try scratch.keys(ObjectRequest(entity, where: predicate)), keys.sorted(), "\(entity) where \(name) is \(value)")
        }
    }
}
