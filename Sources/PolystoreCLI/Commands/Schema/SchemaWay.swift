internal import Polystore
internal import PolystoreStorage

/// Where a store is to be led: on to the current version of a model, or back to one that it had.
///
/// Each step is taken by a runner of its own, so that what it would lose is known before it begins.
struct SchemaWay {
    /// One step.
    enum Leg {
        /// On to the current version of a history.
        case on(SchemaHistory)
        /// Back to an older version, losing what is named.
        case back(Schema, losing: Set<String>)

        /// The schema that the store has then.
        var schema: Schema {
            switch self {
            case .on(let history): history.currentSchema
            case .back(let schema, _): schema
            }
        }

        func runner(_ store: OpenStore, _ progress: MigrationProgress? = nil) -> MigrationRunner {
            switch self {
            case .on(let history): MigrationRunner(history, store, progress: progress)
            case .back(let older, let losses): MigrationRunner(backTo: older, acceptedLosses: losses, store, progress: progress)
            }
        }
    }

    /// The steps as they are shown.
    let steps: [SchemaStep]
    /// The steps as they are taken.
    let legs: [Leg]

    /// The way on to the current version of a history.
    init(_ history: SchemaHistory, _ opened: Stores.Opened) throws(StorageError) {
        steps = try SchemaStep.all(of: MigrationRunner(history, opened.store))
        var legs: [Leg] = []
        for step in steps {
            var leg = try SchemaHistory(
                schemas: history.schemas, migrationChain: history.migrationChain, exactCurrentVersion: step.type.destinationVersion)
            leg.acceptedLosses = history.acceptedLosses
            // Files are copied once, before the first step.
            leg.backsUpFiles = false
            legs.append(.on(leg))
        }
        self.legs = legs
    }

    /// The way back over versions that the store had, nearest first.
    init(backOver versions: [Schema], _ opened: Stores.Opened, accepting losses: [String]) throws(StorageError) {
        var steps: [SchemaStep] = [], legs: [Leg] = []
        var source = opened.schema
        for destination in versions {
            let leg = Leg.back(destination, losing: Set(losses))
            if legs.isEmpty {
                steps += try SchemaStep.all(of: leg.runner(opened.store))
            } else {
                let mapping = MigrationMapping(SchemaMapping(from: source, backTo: destination))
                try mapping.check()
                let type = MigrationType.lightweight(sourceVersion: source.version, destinationVersion: destination.version)
                steps.append(SchemaStep(type: type, changes: mapping.schemas.changes))
            }
            legs.append(leg)
            source = destination
        }
        self.steps = steps
        self.legs = legs
    }
}
