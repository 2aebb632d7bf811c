import Foundation
import Polystore
import PolystoreCatalog
import PolystoreTransfer

/// Migration steps: a transformer of every object, compared with a transfer of the same rows, and an attribute that is added to all rows,
/// compared with counting them, which a copy of the table could never match.
struct MigrationBenchmark {
    let store: String
    let place: Places
    let count: Int
    let rounds: Int
    let report: (Measurement) -> Void

    /// Runs both measurements.
    func run() throws {
        let old = try Schema(json: BenchmarkModel.json)
        let source = try place.url(store)
        try fill(source, old)
        if store != "postgresql" { try transform(source, old) }
        try addAttribute(source, old)
    }

    private func fill(_ url: String, _ schema: Schema) throws {
        let opened = try OpenStore(catalogued: url, OpenRequest(schema: schema))
        for start in stride(from: 0, to: count, by: 50_000) {
            try BulkLoad((start + 1...min(start + 50_000, count)).map(PersonValues.init)).run(opened)
        }
        try opened.close()
    }

    private func version(_ name: String, _ old: Schema, _ more: [Attribute] = []) throws -> Schema {
        var entities = old.entities
        entities[0].attributes += more
        return try Schema(version: name, entities: entities)
    }

    /// Copies every attribute explicitly and sets a new one, so that every row is rewritten.
    private func transform(_ source: String, _ old: Schema) throws {
        let name = old.entities[0].name, next = try version("next", old, [Attribute("label", .string, isOptional: true)])
        let text = old.entities[0].attributes.first { $0.type == .string }?.name ?? ""
        let mapping = CustomSchemaMappingProvider(
            from: old.version, to: "next",
            entityMappings: [
                .transformEntity(sourceEntity: name, destinationEntity: name) { source, create in
                    let object = create()
                    object.copyAttributes(from: source)
                    object["label"] = "\(source[text] as? String ?? "") again"
                }
            ])
        // Both sides write the same rows, those of the newer version.
        let migrated = try place.url(store)
        _ = try transfer(source, to: migrated)
        _ = try migrate(migrated, old, next, [mapping])
        var measurement = Measurement("migrate-transform", store: store, against: "transfer", count: count)
        try measurement.run(
            rounds: rounds,
            ours: {
                let copy = try place.url(store)
                _ = try transfer(source, to: copy)
                return try migrate(copy, old, next, [mapping])
            }, theirs: { try transfer(migrated, to: try place.url(store)) })
        report(measurement)
    }

    private func addAttribute(_ source: String, _ old: Schema) throws {
        var measurement = Measurement("migrate-add", store: store, against: "count(*)", count: count)
        var current = old
        var step = 0
        try measurement.run(
            rounds: rounds,
            ours: {
                step += 1
                let next = try version("step \(step)", current, [Attribute("added\(step)", .int64, defaultValue: .int(Int64(step)))])
                defer { current = next }
                return try migrate(source, current, next, [])
            },
            theirs: {
                let opened = try OpenStore(catalogued: source, OpenRequest(schema: nil, readOnly: true))
                defer { try? opened.close() }
                return try nanoseconds {
                    let reader = try opened.beginRead()
                    _ = try reader.values(for: .count(FetchPlan(current, 0)))
                    reader.end()
                }
            })
        report(measurement)
    }

    private func transfer(_ source: String, to target: String) throws -> Double {
        let from = try OpenStore(catalogued: source, OpenRequest(schema: nil, readOnly: true))
        let to = try OpenStore(catalogued: target, OpenRequest(schema: from.schema))
        defer {
            try? from.close()
            try? to.close()
        }
        return try nanoseconds { _ = try TransferEngine().transfer(from: from, to: to) }
    }

    private func migrate(_ url: String, _ old: Schema, _ next: Schema, _ providers: [any SchemaMappingProvider]) throws -> Double {
        let opened = try OpenStore(catalogued: url, OpenRequest(schema: nil, createIfMissing: false))
        defer { try? opened.close() }
        var history = try SchemaHistory(old, next, migrationChain: [old.version, next.version])
        history.backsUpFiles = false
        return try nanoseconds { _ = try MigrationRunner(history, opened, mappingProviders: providers).run() }
    }
}
