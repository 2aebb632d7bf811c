public import PolystoreStorage
internal import PolystoreObjects

/// A request for which indexes are looked for.
public struct AdvisedRequest: Sendable {
    let shape: String
    let request: ObjectRequest
    let count: Int
    let duration: Duration

    /// Creates a request that is to be made faster.
    ///
    /// - Parameters:
    ///   - request: The request, with its values.
    ///   - shape: The form in which it is shown.
    ///   - count: The number of requests of this form.
    ///   - duration: Their total time.
    public init(_ request: ObjectRequest, shape: String, count: Int = 1, duration: Duration = .zero) {
        self.shape = shape
        self.request = request
        self.count = count
        self.duration = duration
    }
}

/// Finds indexes for requests, and tries each of them in a copy of the store.
package struct IndexAdvisor {
    /// A function that returns the time in which a store answers a fetch.
    package typealias Measurement = (FetchPlan, OpenStore) throws(StorageError) -> Duration

    /// The factor by which an index must shorten a request, and the time that it must save.
    private static let leastGain = 1.5, leastSaving = Duration.microseconds(20)
    private static let runs = 3

    private struct Known {
        let advised: AdvisedRequest
        let plan: FetchPlan
    }

    private let schema: Schema
    private let requests: [Known]
    private let limit: WorkLimit?
    private let measure: Measurement?

    /// - Parameter measure: A function for measurements; nil runs the fetch several times and takes the shortest time.
    /// - Throws: `invalidPredicate` for a request that the schema does not allow.
    package init(
        _ requests: [AdvisedRequest], _ schema: Schema, _ limit: WorkLimit? = nil, measure: Measurement? = nil
    ) throws(StorageError) {
        self.schema = schema
        self.limit = limit
        self.measure = measure
        do throws(QueryError) {
            self.requests = try requests.map { advised throws(QueryError) in
                Known(advised: advised, plan: try advised.request.plan(in: schema))
            }
        } catch {
            throw StorageError(error)
        }
    }

    /// Returns the advice without a trial.
    package func advice() -> IndexAdvice {
        var advice = IndexAdvice(), kept: [IndexCandidate] = []
        // An index with more slots may serve the requests of another one.
        for (candidate, requests) in candidates.sorted(by: { $0.candidate.slots.count > $1.candidate.slots.count })
        where !kept.contains(where: { $0.entity == candidate.entity && candidate.isServed(by: $0.slots) }) {
            kept.append(candidate)
            let served = candidates.filter { $0.candidate.entity == candidate.entity && $0.candidate.isServed(by: candidate.slots) }
            let all = requests + served.filter { $0.candidate != candidate }.flatMap(\.requests)
            advice.proposals.append(item(candidate, all.map { ($0, nil) }))
        }
        advice.proposals = Self.sorted(advice.proposals)
        advice.unused = unused
        return advice
    }

    /// Returns the advice after each index was tried in a copy, one after the other. Those that help are kept for the next ones.
    ///
    /// - Parameter copy: A copy of the store with the same schema, which is migrated.
    package func advice(tryingIn copy: OpenStore) throws(StorageError) -> IndexAdvice {
        var advice = IndexAdvice(), store = copy, kept: [IndexCandidate] = []
        for (candidate, requests) in candidates {
            if kept.contains(where: { $0.entity == candidate.entity && candidate.isServed(by: $0.slots) }) { continue }
            guard let indexed = try? extended(store.schema, candidate) else { continue }
            let before = try times(of: requests, store)
            let former = store.schema
            store = try migrated(store, to: indexed)
            let after = try times(of: requests, store)
            let trials = zip(requests, zip(before, after)).map { ($0, IndexAdvice.Trial(before: $1.0, after: $1.1)) }
            let helped = trials.filter { Self.hasGain($0.1) }
            if helped.isEmpty {
                advice.rejected.append(item(candidate, trials))
                store = try migrated(store, to: try changed(former, after: indexed) { _ in })
            } else {
                kept.append(candidate)
                advice.proposals.append(item(candidate, helped))
            }
        }
        advice.proposals = Self.sorted(advice.proposals)
        advice.unused = unused
        return advice
    }

    private static func hasGain(_ trial: IndexAdvice.Trial) -> Bool {
        trial.after * leastGain <= trial.before && trial.after + leastSaving <= trial.before
    }

    private static func sorted(_ items: [IndexAdvice.Item]) -> [IndexAdvice.Item] {
        func time(_ item: IndexAdvice.Item) -> Duration {
            item.requests.reduce(.zero) { $0 + ($1.duration > .zero ? $1.duration : $1.trial?.before ?? .zero) }
        }
        return items.sorted { (time($1), $0.declaration) < (time($0), $1.declaration) }
    }

    private func item(_ candidate: IndexCandidate, _ requests: [(Known, IndexAdvice.Trial?)]) -> IndexAdvice.Item {
        let entity = schema[candidate.entity]
        return IndexAdvice.Item(
            entity: entity.name, properties: candidate.slots.map { entity.slots[$0].name },
            requests: requests.map { known, trial in
                IndexAdvice.Request(
                    shape: known.advised.shape, count: known.advised.count, duration: known.advised.duration, trial: trial)
            })
    }

    // MARK: Candidates

    /// The indexes that requests could use and that are not declared, in the order of the time of their requests.
    private var candidates: [(candidate: IndexCandidate, requests: [Known])] {
        var requests: [IndexCandidate: [Known]] = [:], order: [IndexCandidate] = []
        for known in self.requests.sorted(by: { $1.advised.duration < $0.advised.duration }) {
            for candidate in IndexCandidate.all(for: known.plan) where !isDeclared(candidate) {
                if requests[candidate] == nil { order.append(candidate) }
                requests[candidate, default: []].append(known)
            }
        }
        return order.map { ($0, requests[$0] ?? []) }
    }

    /// Whether a declared index or a unique constraint serves a candidate.
    private func isDeclared(_ candidate: IndexCandidate) -> Bool {
        let entity = schema[candidate.entity]
        if entity.slots.count > 0, candidate.slots.contains(where: { entity.slots[$0].attribute?.coder != nil }) { return true }
        return declared(entity).contains { $0.index.condition == nil && candidate.isServed(by: $0.slots) }
            || entity.uniqueConstraints.contains { candidate.isServed(by: $0.slots) }
    }

    /// Returns the ordered indexes of an entity and its ancestors.
    private func declared(_ entity: EntityDescription) -> [(index: Index, slots: [Int])] {
        var found: [(Index, [Int])] = [], next: EntityIndex? = entity.index
        while let current = next {
            for index in schema.entities[current].indexes where index.kind == .ordered {
                found.append((index, index.properties.compactMap(entity.slot)))
            }
            next = schema[current].parent
        }
        return found
    }

    /// The declared indexes that no request could use.
    private var unused: [IndexAdvice.Item] {
        var found: [IndexAdvice.Item] = []
        for (position, entity) in schema.entities.enumerated() {
            let description = schema[position], plans = requests.map(\.plan).filter { description.family.contains($0.entity) }
            if plans.isEmpty { continue }
            for index in entity.indexes where index.kind == .ordered && index.condition == nil {
                let slots = index.properties.compactMap(description.slot)
                if plans.contains(where: { IndexCandidate.isUsable(slots, for: $0) }) { continue }
                found.append(IndexAdvice.Item(entity: entity.name, properties: index.properties, requests: []))
            }
        }
        return found
    }

    // MARK: Trials

    /// Returns a schema with a further index.
    private func extended(_ schema: Schema, _ candidate: IndexCandidate) throws(StorageError) -> Schema {
        let names = candidate.slots.map { schema[candidate.entity].slots[$0].name }
        return try changed(schema, after: schema) { $0[candidate.entity].indexes.append(Index(names)) }
    }

    /// Returns a changed schema, with a version that no earlier schema has.
    private func changed(
        _ schema: Schema, after latest: Schema, _ change: (inout [Entity]) -> Void
    ) throws(StorageError) -> Schema {
        var entities = schema.entities
        change(&entities)
        do throws(SchemaError) {
            return try Schema(version: latest.version + "'", entities: entities, configurations: schema.configurations)
        } catch {
            throw StorageError(error)
        }
    }

    private func migrated(_ store: OpenStore, to schema: Schema) throws(StorageError) -> OpenStore {
        try limit?.check()
        _ = try MigrationRunner(SchemaHistory(schemas: [store.schema, schema]), store).run()
        return store.keeping(schema)
    }

    private func times(of requests: [Known], _ store: OpenStore) throws(StorageError) -> [Duration] {
        var times: [Duration] = []
        for request in requests {
            if let measure { times.append(try measure(request.plan, store)) } else { times.append(try shortestTime(request.plan, store)) }
        }
        return times
    }

    /// Returns the shortest time in which a store answers a fetch.
    private func shortestTime(_ plan: FetchPlan, _ store: OpenStore) throws(StorageError) -> Duration {
        var shortest: Duration?
        let batch = RowBatch()
        for _ in 0..<Self.runs {
            let reader = try store.beginRead(ReadOptions(limit: limit))
            defer { reader.end() }
            let start = ContinuousClock.now, cursor = try reader.cursor(for: plan)
            while try cursor.next(into: batch) {}
            let time = start.duration(to: .now)
            shortest = min(shortest ?? time, time)
        }
        return shortest ?? .zero
    }
}
