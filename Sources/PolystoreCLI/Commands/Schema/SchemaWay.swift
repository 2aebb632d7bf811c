internal import Polystore
internal import PolystoreStorage

/// Where a store is to be led: on to the current version of a model, or back to one that it had.
///
/// Each step is taken by a runner of its own, so that what it would lose is known before it begins.
struct SchemaWay {
    /// One step: the history whose current version it leads to, and what is asked about it.
    struct Leg {
        let history: SchemaHistory
        let providers: [any SchemaMappingProvider]

        func runner(_ store: any StorageInterface, _ state: StorageState, _ progress: MigrationProgress? = nil) -> MigrationRunner {
            MigrationRunner(history, store, state, mappingProviders: providers, progress: progress)
        }
    }

    /// The steps as they are shown.
    let steps: [SchemaStep]
    /// The steps as they are taken.
    let legs: [Leg]

    /// The way on to the current version of a history.
    init(_ history: SchemaHistory, _ opened: Stores.Opened) throws(StorageError) {
        steps = try SchemaStep.all(of: MigrationRunner(history, opened.store, opened.state))
        var legs: [Leg] = []
        for step in steps {
            var leg = try SchemaHistory(
                schemas: history.schemas, migrationChain: history.migrationChain, exactCurrentVersion: step.type.destinationVersion)
            leg.acceptedLosses = history.acceptedLosses
            legs.append(Leg(history: leg, providers: []))
        }
        self.legs = legs
    }

    /// The way back over versions that the store had, nearest first.
    init(backOver versions: [Schema], _ opened: Stores.Opened, accepting losses: [String]) throws(StorageError) {
        var steps: [SchemaStep] = [], legs: [Leg] = []
        var source = opened.schema
        for destination in versions {
            var history = try SchemaHistory(destination)
            history.acceptedLosses = Set(losses)
            let leg = Leg(history: history, providers: [ReturningSchemaMappingProvider()])
            if legs.isEmpty {
                steps += try SchemaStep.all(of: leg.runner(opened.store, opened.state))
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
