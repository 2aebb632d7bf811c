internal import Foundation
internal import Polystore

/// A store during an online migration, while programs of both versions use it.
struct RollingScene {
    /// The older and the newer version.
    let before: Schema, after: Schema
    /// A program of the older version.
    let old: Scratch
    /// The store as the deploying program has opened it.
    let desk: OpenStore
    /// The phases of the migration.
    let phases: RollingMigration

    private init(_ old: Scratch, to after: Schema) throws {
        before = old.schema
        self.after = after
        self.old = old
        desk = try old.another(OpenRequest(schema: nil, createIfMissing: false))
        phases = try RollingMigration(desk)
    }

    /// Fills a store of the older version and runs `body` on it.
    static func run(
        _ harness: StoreHarness, _ before: Schema, _ after: Schema, fill: (Scratch) throws -> Void, _ body: (RollingScene) throws -> Void
    ) throws {
        try harness.withStore(before) { old in
            try fill(old)
            let scene = try RollingScene(old, to: after)
            defer { try? scene.desk.close() }
            try body(scene)
        }
    }

    /// Runs `body` on a store with one entity of the given attributes.
    static func run(
        _ harness: StoreHarness, _ before: [Attribute], _ after: [Attribute], rows: [[String: Value]],
        _ body: (RollingScene) throws -> Void
    ) throws {
        let old = try Schema(version: "V1", entities: [Entity("Note", attributes: before)])
        let new = try Schema(version: "V2", entities: [Entity("Note", attributes: after)])
        try run(harness, old, new, fill: { try $0.insert("Note", rows) }, body)
    }

    /// Begins the migration.
    func expand() throws { try phases.expand(to: SchemaHistory(schemas: [before, after]), timeout: 10) }

    /// Begins the migration, fills the newer version with batches of a few objects, and starts a program of the newer version.
    func begin() throws -> Scratch {
        try expand()
        try phases.backfill(BackfillPace(batchSize: 3))
        return try Scratch(beside: old, after)
    }
}

extension Scratch {
    /// Returns the values of an attribute, in key order.
    func values(_ entity: String, _ name: String) throws -> [Value] {
        try fetch(ObjectRequest(entity)).sorted { $0.key < $1.key }.map { $0.values[name] ?? .null }
    }
}
