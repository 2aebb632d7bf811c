internal import Foundation
internal import Polystore
internal import Synchronization

/// Cases about the visible effects of a step: before it, while it is in progress, and after it.
enum StepCases {
    static let all: [ConformanceCase] = progress + others + planned + fresh

    private static func migrationCase(
        _ id: String, _ clause: String, needs: Set<StorageCapabilities.Capability> = [.migrations],
        _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: clause, needs: needs, body) }

    private static let a = Attribute("a", .int64)

    private static func note(_ version: String, _ attributes: [Attribute]) throws -> Schema {
        try Schema(version: version, entities: [Entity("Note", attributes: attributes)])
    }

    private static func fill(_ scratch: Scratch, _ count: Int) throws {
        try scratch.load("Note", (1...Int64(count)).map { ($0, ["a": .int($0)]) })
    }

    // MARK: Progress

    /// Returns a scene of two steps that rewrite rows.
    private static func twoSteps(_ second: @escaping CustomSchemaMappingProvider.Transformer) throws -> MigrationScene {
        let b = Attribute("b", .int64, isOptional: true), c = Attribute("c", .int64, isOptional: true)
        var scene = MigrationScene(try note("V1", [a]), try note("V2", [a, b]), try note("V3", [a, b, c]))
        scene.chain = ["V1", "V2", "V3"]
        let copy = CustomSchemaMappingProvider.inferredTransformation
        scene.providers = [("V1", "V2", copy), ("V2", "V3", second)].map { from, to, transformer in
            CustomSchemaMappingProvider(
                from: from, to: to,
                entityMappings: [.transformEntity(sourceEntity: "Note", destinationEntity: "Note", transformer: transformer)])
        }
        return scene
    }

    private static let progress: [ConformanceCase] = [
        migrationCase("M012.progress-grows-to-its-end", "M7") { harness, check in
            let scene = try twoSteps(CustomSchemaMappingProvider.inferredTransformation), count = 10_000
            try harness.withStore(scene.versions[0]) { scratch in
                try fill(scratch, count)
                let progress = MigrationProgress(), queue = DispatchQueue(label: "polystore.progress"), seen = Seen()
                progress.setProgressHandler(on: queue) { seen.add($0.current) }
                let steps = try scene.migrate(scratch, progress)
                queue.sync {}
                check.equal(steps.map(\.isHeavyweightMigration), [true, true], "steps")
                let updates = seen.updates
                check.isTrue(updates.count > 6, "several updates")
                check.isTrue(
                    zip(updates, updates.dropFirst()).allSatisfy { $0.fractionCompleted <= $1.fractionCompleted }, "it never falls")
                let last = progress.current
                check.equal([last.completedSteps, last.totalSteps, last.completedObjects], [2, 2, 2 * count], "at its end")
                check.equal(last.fractionCompleted, 1, "fraction")
                check.equal(progress.localizedDescription, "100% completed", "in words")
            }
        },
        migrationCase("M012.a-cancel-between-batches-leaves-the-version-before", "M7") { harness, check in
            let progress = MigrationProgress(), count = 10_000
            let scene = try twoSteps { source, create in
                if source.key == 5_000 { progress.cancel() }
                create().copyAttributes(from: source)
            }
            try harness.withStore(scene.versions[0]) { scratch in
                try fill(scratch, count)
                check.throwing(.cancelled, "in the second step") { try scene.migrate(scratch, progress) }
                let middle = Scratch(migrated: scratch, to: scene.versions[1])
                check.equal(try middle.keys(ObjectRequest("Note")), Array(1...Int64(count)), "objects of the step that was done")
                check.equal(progress.current.completedSteps, 1, "steps")
                check.isTrue(progress.isCancelled, "cancelled")
                try middle.update("Note", 1, ["b": .int(2)])
            }
        },
        migrationCase("M012.who-cancels-before-it-begins-changes-nothing", "M7") { harness, check in
            let scene = try MigrationScene([a], [a, Attribute("b", .int64, isOptional: true)])
            try harness.withStore(scene.versions[0]) { scratch in
                try fill(scratch, 3)
                let progress = MigrationProgress()
                progress.cancel()
                check.throwing(.cancelled, "the first step") { try scene.migrate(scratch, progress) }
                check.equal(try scratch.keys(ObjectRequest("Note")), [1, 2, 3], "objects")
            }
        },
    ]

    // MARK: Others

    /// Performs a step that adds an attribute, and calls `middle` before its end.
    private static func step(_ scratch: Scratch, _ scene: MigrationScene, middle: () throws -> Void) throws {
        let mapping = SchemaMapping(from: scene.versions[0], to: scene.versions[1])
        let migration = try scratch.store.beginMigration(MigrationStep(mapping), WriteOptions(timeout: 5))
        defer { migration.end() }
        let keys = try MigrationKeys(mapping) { root throws(StorageError) in try migration.source.reserveKeys(root, count: 1).lowerBound }
        let work = try migration.prepare()
        let rows = MigrationRows(MigrationMapping(mapping), keys, from: migration.source, to: migration.destination)
        for root in work.roots { try rows.write(root: root) { _ in } }
        try middle()
        try migration.finish(keys, limits: rows.limits)
        _ = try migration.commit(CommitRecord())
    }

    private static let others: [ConformanceCase] = [
        migrationCase("M013.other-writers-wait", "M8") { harness, check in
            let scene = try MigrationScene([a], [a, Attribute("b", .int64, isOptional: true)])
            try harness.withStore(scene.versions[0]) { scratch in
                try fill(scratch, 3)
                try step(scratch, scene) {
                    check.throwing(.busy, "a writer") { _ = try scratch.store.beginWrite(WriteOptions(timeout: 0.1)) }
                    check.throwing(.busy, "another step") {
                        let mapping = SchemaMapping(from: scene.versions[0], to: scene.versions[1])
                        _ = try scratch.store.beginMigration(MigrationStep(mapping), WriteOptions(timeout: 0.1))
                    }
                }
                let migrated = Scratch(migrated: scratch, to: scene.versions[1])
                try migrated.update("Note", 1, ["b": .int(1)])
                check.equal(try migrated.keys(ObjectRequest("Note")), [1, 2, 3], "objects")
            }
        },
        migrationCase("M013.a-step-that-is-given-up-leaves-everything", "M8") { harness, check in
            struct GivenUp: Error {}
            let scene = try MigrationScene([a], [a, Attribute("b", .int64, isOptional: true)])
            try harness.withStore(scene.versions[0]) { scratch in
                try fill(scratch, 3)
                try? step(scratch, scene) { throw GivenUp() }
                check.equal(try scratch.keys(ObjectRequest("Note")), [1, 2, 3], "objects")
                try scratch.update("Note", 1, ["a": .int(7)])
                try scene.migrate(scratch)
                let migrated = Scratch(migrated: scratch, to: scene.versions[1])
                check.equal(try migrated.fetch(ObjectRequest("Note")).map { $0.values["a"] }, [.int(7), .int(2), .int(3)], "objects of V2")
            }
        },
        migrationCase("M013.a-store-that-is-closed-during-a-step-stays-closed", "M8") { harness, check in
            struct GivenUp: Error {}
            let scene = try MigrationScene([a], [a, Attribute("b", .int64, isOptional: true)])
            for isGivenUp in [true, false] {
                try harness.withStore(scene.versions[0]) { scratch in
                    try fill(scratch, 3)
                    let storage = scratch.store.storage, isKept = harness.capabilities.contains(.persistent)
                    var isMade = false
                    do {
                        try step(scratch, scene) {
                            try scratch.store.close()
                            if isGivenUp { throw GivenUp() }
                        }
                        isMade = true
                    } catch let error as StorageError {
                        check.equal(error.code, .storeClosed, "the step")
                    } catch is GivenUp {}
                    check.throwing(.storeClosed, "a session") { _ = try storage.beginRead(ReadOptions()) }
                    let version = scene.versions[isMade ? 1 : 0], opened = try OpenStore(opening: storage, OpenRequest(schema: version))
                    let found = Scratch(Scratch(migrated: scratch, to: version), opened)
                    check.equal(try found.keys(ObjectRequest("Note")), isKept ? [1, 2, 3] : [], "objects")
                    try opened.close()
                }
            }
        },
        migrationCase("M013.another-program-reads-the-old-version-until-the-end", "M8", needs: [.migrations, .multipleProcesses]) {
            harness, check in
            let scene = try MigrationScene([a], [a, Attribute("b", .int64, isOptional: true)])
            try harness.withStore(scene.versions[0]) { scratch in
                try fill(scratch, 3)
                let other: OpenStore
                do {
                    other = try scratch.another(OpenRequest(schema: scratch.schema))
                } catch let error as StorageError where error.code == .alreadyExists {
                    throw NothingToCheck("a process can open the store only once; the other program needs another process")
                }
                defer { try? other.close() }
                let second = Scratch(scratch, other)
                let reader = try other.beginRead()
                defer { reader.end() }
                try step(scratch, scene) {
                    check.equal(try second.fetch(ObjectRequest("Note"), reader).map(\.key), [1, 2, 3], "a session from before")
                    reader.end()
                    check.equal(try second.keys(ObjectRequest("Note")), [1, 2, 3], "a new session")
                    check.throwing(.busy, "a writer") { _ = try other.beginWrite(WriteOptions(timeout: 0.1)) }
                }
                check.throwing([.schemaMismatch, .storeClosed], "reading afterwards") { _ = try second.keys(ObjectRequest("Note")) }
                check.throwing([.schemaMismatch, .storeClosed], "writing afterwards") { try second.update("Note", 1, ["a": .int(9)]) }
                check.throwing([.schemaMismatch, .storeClosed], "the same step again") { try step(second, scene) {} }
                let migrated = Scratch(migrated: scratch, to: scene.versions[1])
                check.equal(try migrated.fetch(ObjectRequest("Note")).map { $0.values["a"] }, [.int(1), .int(2), .int(3)], "objects")
            }
        },
    ]

    // MARK: What is planned

    private static let planned: [ConformanceCase] = [
        migrationCase("M017.an-explanation-changes-nothing", "M10") { harness, check in
            let scene = try MigrationScene([a], [Attribute("b", .string, defaultValue: .string("x")), a])
            try harness.withStore(scene.versions[0]) { scratch in
                try fill(scratch, 3)
                let token = try scratch.token(), rows = try scene.contents(scratch)
                let step = MigrationStep(SchemaMapping(from: scene.versions[0], to: scene.versions[1]))
                check.isTrue(try !scratch.store.explanation(of: step).isEmpty, "lines")
                check.equal(try scene.contents(scratch), rows, "rows")
                check.equal(try scratch.token(), token, "token")
                let back = MigrationStep(SchemaMapping(from: scene.versions[1], to: scene.versions[0]))
                check.throwing(.schemaMismatch, "a step that begins elsewhere") { _ = try scratch.store.explanation(of: back) }
                try scratch.update("Note", 1, ["a": .int(5)])
            }
        },
        migrationCase("M017.required-migrations-change-nothing", "M10", needs: [.migrations, .persistent]) { harness, check in
            var scene = MigrationScene(
                try note("V1", [a, Attribute("t", .string, isOptional: true)]), try note("V2", [a]),
                try note("V3", [a, Attribute("b", .int64, defaultValue: .int(1))]))
            scene.chain = ["V1", "V2", "V3"]
            try harness.withStore(scene.versions[0]) { scratch in
                try scratch.insert("Note", [["a": .int(1), "t": .string("x")], ["a": .int(2)]])
                let rows = try scene.contents(scratch), token = try scratch.token()
                try scratch.store.close()
                let stack = try DataStack(schemaHistory: scene.history)
                let required = try stack.requiredMigrations(for: scratch.another())
                check.equal(
                    required.map(\.type),
                    [
                        .lightweight(sourceVersion: "V1", destinationVersion: "V2"),
                        .lightweight(sourceVersion: "V2", destinationVersion: "V3"),
                    ], "steps")
                check.equal(required.map { $0.losses.map(\.path) }, [["Note.t"], []], "losses")
                check.equal(required.first?.objectCount, 2, "objects")
                check.throwing(.dataLossRefused, "the migration") { try stack.upgradeStorageIfNeeded(scratch.another()) }
                try scratch.open()
                check.equal(try scene.contents(scratch), rows, "rows")
                check.equal(try scratch.token(), token, "token")
            }
        },
    ]

    // MARK: As if made fresh

    private static let fresh: [ConformanceCase] = [
        migrationCase("M018.a-migrated-store-is-as-one-made-fresh", "M2") { harness, check in
            let before = try Schema(
                version: "V1",
                entities: [
                    Entity("Note", attributes: [Attribute("x", .int16), Attribute("code", .string)], indexes: [Index(["code"])]),
                    Entity("Page", parent: "Note", attributes: [Attribute("y", .int64)]),
                ])
            let after = try Schema(
                version: "V2",
                entities: [
                    Entity(
                        "Leaf", attributes: [Attribute("code", .string), Attribute("z", .int64, originalName: "x")],
                        indexes: [Index(["z"])],
                        uniqueConstraints: [UniqueConstraint(["code"])], originalName: "Note"),
                    Entity("Page", parent: "Leaf", attributes: [Attribute("y", .int64)], indexes: [Index(["y"])]),
                ])
            func rows(_ name: String) -> [[String: Value]] {
                (0..<5_000).map { [name: .int(Int64($0 % 500)), "code": .string("c\($0)"), "y": .int(Int64($0))] }
            }
            try MigrationScene(before, after).run(
                harness,
                fill: { scratch in
                    try scratch.insert("Note", rows("x").map { $0.filter { $0.key != "y" } })
                    try scratch.insert("Page", [["x": .int(3), "code": .string("p"), "y": .int(8)]])
                }
            ) { migrated in
                try harness.withStore(after) { made in
                    try made.insert("Leaf", rows("z").map { $0.filter { $0.key != "y" } })
                    try made.insert("Page", [["z": .int(3), "code": .string("p"), "y": .int(8)]])
                    for request in try [
                        ObjectRequest("Leaf"), ObjectRequest("Leaf", where: QueryPredicate(parsing: "z == 3")),
                        ObjectRequest("Leaf", where: QueryPredicate(parsing: "code == 'c7'")),
                        ObjectRequest("Page", where: QueryPredicate(parsing: "y == 8")),
                    ] {
                        check.equal(try migrated.fetch(request), try made.fetch(request), "\(request)")
                        check.equal(try usedIndexes(migrated, request), try usedIndexes(made, request), "indexes of \(request)")
                    }
                    check.equal(try violation(migrated), try violation(made), "a constraint")
                }
            }
        }
    ]

    /// Returns the words of an explanation that name an index.
    private static func usedIndexes(_ scratch: Scratch, _ request: ObjectRequest) throws -> [String] {
        let plan = try request.plan(in: scratch.schema)
        let words = try scratch.read { try $0.explanation(of: plan) }.joined(separator: " ").split { " ()'\"".contains($0) }.map(
            String.init)
        return words.filter { $0.contains("index") || $0.contains("unique") }
    }

    private static func violation(_ scratch: Scratch) throws -> [String] {
        do {
            try scratch.insert("Page", [["code": .string("c7"), "z": .int(1), "y": .int(1)]])
            return []
        } catch let error as StorageError {
            return [error.code.description, error.details.entity ?? "", error.details.constraint ?? "", error.message]
        }
    }
}

/// The updates that a progress handler received.
private final class Seen: Sendable {
    private let list = Mutex<[MigrationProgress.Update]>([])

    var updates: [MigrationProgress.Update] { list.withLock { $0 } }

    func add(_ update: MigrationProgress.Update) { list.withLock { $0.append(update) } }
}
