internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// Migrates a store through a sequence of steps: shows the steps, asks for confirmation, and performs them.
struct SchemaWork {
    let way: SchemaWay
    let opened: Stores.Opened
    let options: SchemaCommand.Steps

    /// Performs the steps. Afterwards the store has the last version.
    ///
    /// - Throws: `dataLossRefused` before the first step if one of them would lose data without permission. The losses of later steps back to
    ///   older versions are known only when these begin, and earlier steps remain in effect then.
    func run() throws {
        if !options.json { for step in way.steps { step.show() } }
        for step in way.steps { try step.refuseLosses() }
        let last = way.legs.last?.schema.version ?? opened.schema.version
        try Question.confirm("Migrate \(opened.url.redacted) to version \"\(last)\"?", isConfirmed: options.yes)
        let copy = try backup()
        Interruption.watch()
        var store = opened.store
        for (done, leg) in way.legs.enumerated() {
            do { store = try take(leg, store) } catch {
                if done > 0 {
                    Console.error("\(String.counted(done, "step")) done: the store now has version \"\(store.schema.version)\"")
                }
                throw error
            }
        }
        show(store.schema, copy)
    }

    private func show(_ schema: Schema, _ copy: String?) {
        if options.json {
            return Console.report(
                JSONText.object(
                    [("store", JSONText.string(opened.url.redacted))] + JSONText.version(schema) + [
                        ("steps", JSONText.array(way.steps.map(\.json))), ("backup", JSONText.string(copy)),
                    ]))
        }
        if let copy { Console.report("backup of the store before the migration: \(copy)") }
        Console.report("\(String.counted(way.steps.count, "step")) done: the store now has version \"\(schema.version)\"")
    }

    /// Copies the file of the store if a step may lose data. The runner would copy it only if a mapping of the program is involved.
    private func backup() throws -> String? {
        guard !options.noBackup, way.steps.contains(where: \.needsBackup), let leg = way.legs.first else { return nil }
        return try leg.runner(opened.store).backup(keepsOlder: true)?.path
    }

    private func take(_ leg: SchemaWay.Leg, _ store: OpenStore) throws -> OpenStore {
        for step in try SchemaStep.all(of: leg.runner(store)) { try step.refuseLosses() }
        try ProgressLine.follow("\"\(store.schema.version)\" → \"\(leg.schema.version)\"", isQuiet: options.quiet) { progress in
            _ = try leg.runner(store, progress).run()
        }
        return store.keeping(leg.schema)
    }
}
