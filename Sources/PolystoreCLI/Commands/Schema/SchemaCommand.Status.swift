internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaCommand {
    /// `polystore schema status`.
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract:
                "Shows the version of a store, and with --model the steps to the version of a model; the exit code is 1 if steps are required."
        )

        @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
        var store: String

        @OptionGroup var models: Models

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let history = try models.history()
            let opened = try Stores.open(store)
            defer { opened.close() }
            let counts = try Self.counts(opened)
            let rolling = try opened.store.ability((any RollingStorage).self)?.rollingMigration()
            if !json { show(opened, counts) }
            if !json, let rolling { show(rolling) }
            let steps = try history.map { history throws(StorageError) in try SchemaWay(history, opened).steps }
            if json { showJSON(opened, counts, history, steps, rolling) }
            guard let history, let steps else { return }
            if !json { show(opened.schema, history.currentSchema, steps) }
            if !steps.isEmpty { throw Failure.differs }
        }

        /// Returns the number of objects of each concrete entity.
        private static func counts(_ opened: Stores.Opened) throws(StorageError) -> [(name: String, count: Int)] {
            let reader = try opened.store.beginRead()
            defer { reader.end() }
            var counts: [(String, Int)] = []
            for entity in opened.schema.descriptions where !entity.isAbstract {
                let answer = try reader.values(for: .count(FetchPlan(entity: entity.index, entities: [entity.index])))
                if case .int(let count)? = answer.first?.first { counts.append((entity.name, Int(count))) }
            }
            return counts
        }

        private func show(_ opened: Stores.Opened, _ counts: [(name: String, count: Int)]) {
            Console.print("\(opened.url.redacted)  version \(opened.schema.version)  \(opened.schema.hash.description.prefix(16))")
            for (name, count) in counts { Console.print("  \(name.padding(24)) \(count)") }
        }

        private func show(_ step: RollingMigrationState) {
            let next =
                switch step.phase {
                case .filling: "run backfill"
                case .ready: "programs of both versions can run; run contract to complete it"
                }
            Console.print("an online migration to version \"\(step.destination.version)\" is in progress: \(next)")
        }

        private func show(_ stored: Schema, _ current: Schema, _ steps: [SchemaStep]) {
            if steps.isEmpty {
                let isNamed = stored.version == current.version
                let hint = isNamed ? "" : ", which names it \"\(current.version)\" (schema stamp changes the name in the store)"
                return Console.print("it is the version of the model\(hint)")
            }
            Console.print(
                "the model has version \(current.version)  \(current.hash.description.prefix(16)): "
                    + "\(String.counted(steps.count, "step")) required")
            for step in steps { step.show() }
            let losses = steps.flatMap(\.losses)
            if !losses.isEmpty { Console.print("data would be lost; accept the loss with \(SchemaStep.options(losses))") }
        }

        private func showJSON(
            _ opened: Stores.Opened, _ counts: [(name: String, count: Int)], _ history: SchemaHistory?, _ steps: [SchemaStep]?,
            _ rolling: RollingMigrationState?
        ) {
            let entities = counts.map { JSONText.object([("name", JSONText.string($0.name)), ("objects", String($0.count))]) }
            Console.print(
                JSONText.object(
                    [("store", JSONText.string(opened.url.redacted))] + JSONText.version(opened.schema) + [
                        ("entities", JSONText.array(entities)),
                        ("model", history.map { JSONText.object(JSONText.version($0.currentSchema)) } ?? "null"),
                        ("steps", steps.map { JSONText.array($0.map(\.json)) } ?? "null"),
                        (
                            "rolling",
                            rolling.map { step in
                                JSONText.object(JSONText.version(step.destination) + [("phase", JSONText.string(step.phase.rawValue))])
                            } ?? "null"
                        ),
                    ]))
        }
    }
}
