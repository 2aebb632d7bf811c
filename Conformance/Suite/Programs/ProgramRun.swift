internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// A difference between a store and the naive model.
struct ProgramDifference: Error {
    let target: String
    let step: ProgramStep
    let expected: String
    let found: String
}

/// An error that a program throws to undo a transaction or a part of one.
struct ProgramFailure: Error {}

/// An error that ends a transaction without an effect, because the naive model does not know what a change has changed.
struct ProgramUndefined: Error {}

/// An error that ends a transaction with a refused request whose result the naive model does not know. A store may be unable to continue.
struct ProgramAbandoned: Error {}

/// A run of a program over a target, in lock step with the naive model.
final class ProgramRun {
    /// The state of the objects at a moment.
    struct State {
        var naive: NaiveGraph
        var keys: [Int: ObjectKey] = [:]
        var numbers: [ObjectKey: Int] = [:]
    }

    let target: ProgramTarget
    let places: ProgramPlaces
    var stack: DataStack
    /// The versions of the model so far, oldest first, and the accepted losses of their migrations.
    var versions: [Schema]
    var losses: Set<String> = []
    /// The state with the changes of the current transaction.
    var state: State
    /// The newest committed state.
    var committed: State
    /// The transaction's own instances.
    var held: [Int: DynamicObject] = [:]
    /// Whether the current transaction is a detached one.
    var isDetached = false
    /// An observing context, its lists, and the objects that it retains.
    var view: ViewContext
    var watches: [ProgramWatch] = []
    var followers: [ProgramFollower] = []
    var counters: [ProgramCounter] = []
    var looked: [Int: DynamicObject] = [:]
    /// The author of the newest transaction, which is unique and identifies its entry in a history.
    private(set) var author = ""
    private var authors = 0
    /// The commit of the detached transaction of the newest step.
    var detachedCommit: DetachedCommit?
    /// The tokens up to which the histories were read.
    var tokens: [Int: HistoryToken] = [:]
    /// The numbers of all objects that ever existed, unless their keys were reused.
    var known: [ObjectKey: Int] = [:]
    /// The positions of the stores in the stack, by their identities.
    private var stores: [UUID: Int] = [:]
    /// The results that must be equal for all targets although the naive model does not specify them: the versions of all objects after
    /// each step.
    private(set) var trace: [String] = []
    /// The versions of all objects after the newest step.
    private(set) var lastVersions: [Int: Int64] = [:]

    private init(_ program: GraphProgram, _ target: ProgramTarget, _ places: ProgramPlaces) throws {
        self.target = target
        self.places = places
        versions = [program.schema]
        stack = try places.stack(program.schema)
        view = stack.makeViewContext()
        state = State(naive: NaiveGraph(program.schema))
        committed = state
    }

    /// Runs a program.
    ///
    /// - Parameter trace: The versions reported by another target.
    /// - Returns: The trace of this one, and the first difference.
    static func run(
        _ program: GraphProgram, _ target: ProgramTarget, comparing trace: [String]? = nil
    ) throws -> (trace: [String], difference: ProgramDifference?) {
        try target.withPlaces { places in
            let run = try ProgramRun(program, target, places)
            defer { run.close() }
            for (position, step) in program.steps.enumerated() {
                do {
                    let before = run.state.naive
                    run.detachedCommit = nil
                    do { try run.perform(step) } catch is ProgramAbandoned {} catch is ProgramUndefined {}
                    try run.verify(step, before)
                    if let trace, position < trace.count, trace[position] != run.trace[position] {
                        return (run.trace, run.difference(step, "versions \(trace[position])", "versions \(run.trace[position])"))
                    }
                } catch is ProgramEnded {
                    return (run.trace, nil)
                } catch let difference as ProgramDifference {
                    return (run.trace, difference)
                } catch {
                    return (run.trace, run.difference(step, "no error", "\(error)"))
                }
            }
            return (run.trace, nil)
        }
    }

    private func close() {
        forgetObservers()
        try? closeStores()
    }

    func closeStores() throws { for store in stack.storages { try stack.removeStorage(store) } }

    func openStores() throws {
        stack = try places.stack(history(versions))
        view = stack.makeViewContext()
    }

    /// Returns the versions of the model as a schema history.
    func history(_ versions: [Schema]) throws -> SchemaHistory {
        var history = try SchemaHistory(schemas: versions, migrationChain: MigrationChain(versions.map(\.version)))
        history.acceptedLosses = losses
        return history
    }

    /// The model at this point of the program.
    var schema: Schema { state.naive.schema }

    /// Releases everything that belongs to the stack.
    func forgetObservers() {
        held = [:]
        watches = []
        followers = []
        counters = []
        looked = [:]
    }

    func difference(_ step: ProgramStep, _ expected: String, _ found: String) -> ProgramDifference {
        ProgramDifference(target: target.name, step: step, expected: expected, found: found)
    }

    func compare(_ step: ProgramStep, _ expected: ProgramAnswer, _ found: ProgramAnswer) throws {
        if case .unknown = expected, case .refused = found { throw ProgramAbandoned() }
        if !expected.agrees(with: found) { throw difference(step, expected.description, found.description) }
    }

    // MARK: Names

    /// Returns the keys of the objects, and the order of their ids.
    func ids(_ state: State) -> ProgramIDs {
        let sorted = state.keys.sorted { a, b in
            (a.value.key, stores[a.value.store] ?? 0, a.key) < (b.value.key, stores[b.value.store] ?? 0, b.key)
        }
        return ProgramIDs(
            keys: state.keys.mapValues(\.key),
            positions: Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($0.element.key, $0.offset) }))
    }

    func number(_ object: ManagedObject) -> Int { state.numbers[object.objectID.key] ?? -1 }

    func note(_ number: Int, _ key: ObjectKey, home: Int) {
        stores[key.store] = home
        state.keys[number] = key
        state.numbers[key] = number
        known[key] = number
    }

    /// Returns the store of a home. A single store contains all objects.
    func home(_ home: Int) -> Int { min(home, target.count - 1) }

    /// Returns the home of a key by its store.
    func home(of key: ObjectKey) -> Int { stores[key.store] ?? 0 }

    /// Returns the configuration of a home's store, for an entity that both hold.
    func configuration(_ home: Int) -> String? { home == 0 ? nil : GraphProgram.second }

    func isShared(_ entity: String) -> Bool {
        target.count > 1 && schema.configurations[GraphProgram.second]?.contains(entity) == true
    }

    /// Makes the author of a transaction unique.
    func nextAuthor(_ author: String) -> String {
        authors += 1
        self.author = "\(author) \(authors)"
        return self.author
    }

    // MARK: Verifying

    /// Compares all stored data with the naive model.
    func verify(_ step: ProgramStep, _ before: NaiveGraph) throws {
        held = [:]
        var versions: [Int: Int64] = [:]
        try stack.read(synchronous: { source in
            for root in schema.roots {
                let name = schema.entities[root].name
                let found = try source.fetchAll(From<DynamicObject>(entity: name))
                let expected = state.naive.fetch(ProgramRequest(fetch: ObjectRequest(name)), ids(state)) ?? []
                try compare(step, .objects(expected), .objects(found.map(number)))
                for object in found {
                    let number = number(object)
                    versions[number] = object.version
                    try compare(step, expectedObject(number), try seen(object))
                }
            }
        })
        try verifyObservers(step)
        let history = try verifyHistory(step, before)
        lastVersions = versions
        trace.append("\(history) " + versions.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " "))
    }

    /// Returns the values of an object in the naive model.
    func expectedObject(_ number: Int) -> ProgramAnswer {
        guard let object = state.naive.objects[number] else { return .text("nothing") }
        var related: [String: [Int]] = [:]
        for item in schema.description(object.entity).relationships {
            let members = state.naive.members(number, item.relationship.name)
            related[item.relationship.name] = item.relationship.cardinality == .toManyOrdered ? members : members.sorted()
        }
        for attribute in state.naive.references(object.entity) { related[attribute.name] = state.naive.members(number, attribute.name) }
        return .object(entity: object.entity, values: object.values, related: related)
    }

    /// Returns the values that an object reports.
    func seen(_ object: DynamicObject) throws -> ProgramAnswer {
        var values: [String: Value] = [:], related: [String: [Int]] = [:]
        let description = schema.description(object.entityName)
        for slot in description.slots {
            guard let attribute = slot.attribute else { continue }
            let value = try object.value(slot.name)
            if attribute.crossReference == nil {
                values[slot.name] = value
            } else if case .string(let text) = value {
                related[slot.name] = [ObjectKey(text).flatMap { state.numbers[$0] } ?? -1]
            } else {
                related[slot.name] = []
            }
        }
        for item in description.relationships {
            let name = item.relationship.name
            switch item.relationship.cardinality {
            case .toOne: related[name] = try object.object(name).map { [number($0)] } ?? []
            case .toMany: related[name] = try object.objects(name).map(number).sorted()
            case .toManyOrdered: related[name] = try object.objects(name).map(number)
            }
        }
        return .object(entity: object.entityName, values: values, related: related)
    }
}
