internal import Foundation
internal import Polystore

/// A store with one version of a model, and the versions that it migrates to.
struct MigrationScene {
    /// The versions, oldest first.
    let versions: [Schema]
    /// The index of the version that the store begins with.
    var first = 0
    /// The version to migrate to, where the versions do not determine it.
    var current: String?
    var chain: MigrationChain = nil
    var providers: [any SchemaMappingProvider] = []
    var stages: [MigrationStage] = []
    var losses: Set<String> = []

    init(_ versions: Schema...) { self.versions = versions }

    init(versions: [Schema]) { self.versions = versions }

    /// Creates a scene of two versions of one entity with the given attributes.
    init(_ before: [Attribute], _ after: [Attribute]) throws {
        self.init(
            try Schema(version: "V1", entities: [Entity("Note", attributes: before)]),
            try Schema(version: "V2", entities: [Entity("Note", attributes: after)]))
    }

    var history: SchemaHistory {
        get throws {
            var history = try SchemaHistory(schemas: versions, migrationChain: chain, exactCurrentVersion: current)
            history.stages = stages
            history.acceptedLosses = losses
            return history
        }
    }

    /// Migrates a store that is open with one of the versions.
    @discardableResult
    func migrate(_ scratch: Scratch, _ progress: MigrationProgress? = nil) throws -> [MigrationType] {
        try MigrationRunner(try history, scratch.store, mappingProviders: providers, progress: progress).run()
    }

    /// Fills a store of the first version, migrates it, and checks it: immediately, and after it was closed and opened again.
    func run(_ harness: StoreHarness, fill: (Scratch) throws -> Void, expect: (Scratch) throws -> Void) throws {
        let first = versions[self.first]
        try harness.withStore(first) { scratch in
            try fill(scratch)
            try migrate(scratch)
            let migrated = Scratch(migrated: scratch, to: try history.currentSchema)
            try expect(migrated)
            if harness.capabilities.contains(.persistent) {
                try migrated.reopen()
                try expect(migrated)
                try migrated.store.close()
            }
        }
    }

    /// Fills a store whose migration then fails with a code, and checks that the store is unchanged.
    func refuse(
        _ harness: StoreHarness, _ check: Check, _ code: StorageError.Code, _ what: String, keys: [Int64]? = nil,
        says text: String = "", fill: (Scratch) throws -> Void
    ) throws {
        let first = versions[self.first]
        try harness.withStore(first) { scratch in
            try fill(scratch)
            let before = try contents(scratch)
            check.throwing(code, what) {
                do { try migrate(scratch) } catch let error as StorageError {
                    check.isTrue(text.isEmpty || error.message.contains(text), "\(what): \(text) in \(error.message)")
                    if let keys { check.equal(error.details.keys.sorted(), keys, "\(what): keys") }
                    throw error
                }
            }
            check.equal(try contents(scratch), before, "\(what): the store is unchanged")
            // The store accepts changes, and can be opened again.
            for entity in first.descriptions where !entity.isAbstract { try scratch.insert(entity.name, [[:]]) }
            if harness.capabilities.contains(.persistent) { try scratch.reopen() }
        }
    }

    /// Returns the complete contents of a store.
    func contents(_ scratch: Scratch) throws -> [Row] {
        try scratch.schema.roots.flatMap { try scratch.fetch(ObjectRequest(scratch.schema.entities[$0].name)) }
    }
}
