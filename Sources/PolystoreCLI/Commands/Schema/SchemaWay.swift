internal import Polystore
internal import PolystoreStorage

/// A sequence of migration steps: forward to the current version of a model, or back to an earlier version of the store.
///
/// Each step has its own runner, so that its losses are known before it begins.
struct SchemaWay {
    /// A single step.
    enum Leg {
        /// A migration to the current version of a history.
        case on(SchemaHistory)
        /// A migration back to an older version with the accepted losses.
        case back(Schema, losing: Set<String>)

        /// The schema of the store after the step.
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
    /// The steps as they are performed.
    let legs: [Leg]

    /// Creates the sequence of steps to the current version of a history.
    init(_ history: SchemaHistory, _ opened: Stores.Opened) throws(StorageError) {
        steps = try SchemaStep.all(of: MigrationRunner(history, opened.store))
        var legs: [Leg] = []
        for step in steps {
            var leg = try SchemaHistory(
                schemas: history.schemas, migrationChain: history.migrationChain, exactCurrentVersion: step.type.destinationVersion)
            leg.acceptedLosses = history.acceptedLosses
            // The file is copied once, before the first step.
            leg.backsUpFiles = false
            legs.append(.on(leg))
        }
        self.legs = legs
    }

    /// Creates the sequence of steps back over earlier versions of the store, nearest first.
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
