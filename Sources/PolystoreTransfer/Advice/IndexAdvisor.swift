internal import PolystoreObjects
package import PolystoreStorage

/// Finds indexes for requests, and tries each of them in a copy of the store.
package struct IndexAdvisor {
    /// A function that returns the time in which a store answers a fetch.
    package typealias Measurement = (FetchPlan, OpenStore) throws(StorageError) -> Duration

    /// The factor by which an index must shorten a request, and the time that it must save.
    private static let leastGain = 1.5, leastSaving = Duration.microseconds(20)
    private static let runs = 3

    private struct Known {
        let advised: AdvisedRequest
        let whole: AdvisedRequest.Plan

        var plan: FetchPlan { whole.fetch }
    }

    private let schema: Schema
    private let requests: [Known]
    private let store: OpenStore?
    private let limit: WorkLimit?
    private let measure: Measurement?

    /// Creates the advisor of requests to a store.
    ///
    /// - Parameters:
    ///   - store: The store, whose values are considered; nil if only the schema is.
    ///   - measure: A function for measurements; nil runs the fetch several times and takes the shortest time.
    /// - Throws: `invalidPredicate` for a request that the schema does not allow.
    package init(
        _ requests: [AdvisedRequest], _ schema: Schema, to store: OpenStore? = nil, _ limit: WorkLimit? = nil, measure: Measurement? = nil
    ) throws(StorageError) {
        self.schema = schema
        self.store = store
        self.limit = limit
        self.measure = measure
        do throws(QueryError) {
            self.requests = try requests.map { advised throws(QueryError) in
                Known(advised: advised, whole: try advised.plan(in: schema))
            }
        } catch {
            throw StorageError(error)
        }
    }

    /// Returns the advice without a trial.
    package func advice() throws(StorageError) -> IndexAdvice {
        var advice = IndexAdvice(), kept: [IndexCandidate] = []
        // An index with more slots may serve the requests of another one.
        let candidates = try possibleCandidates(&advice)
        for (candidate, requests) in candidates.sorted(by: { $0.candidate.slots.count > $1.candidate.slots.count })
        where !kept.contains(where: { isServed(candidate, by: $0) }) {
            kept.append(candidate)
            let served = candidates.filter { isServed($0.candidate, by: candidate) }
            let all = requests + served.filter { $0.candidate != candidate }.flatMap(\.requests)
            advice.proposals.append(item(candidate, all.map { ($0, nil) }))
        }
        advice.sortProposals()
        advice.unused = unused
        return advice
    }

    /// Returns the advice after each index was tried in a copy, one after the other. Those that help are kept for the next ones.
    ///
    /// - Parameter copy: A copy of the store with the same schema, which is migrated.
    package func advice(tryingIn copy: OpenStore) throws(StorageError) -> IndexAdvice {
        var advice = IndexAdvice(), store = copy, kept: [IndexCandidate] = [], number = 0
        let candidates = try possibleCandidates(&advice)
        for (position, (candidate, own)) in candidates.enumerated() {
            if kept.contains(where: { isServed(candidate, by: $0) }) { continue }
            number += 1
            guard let indexed = try? extended(store.schema, candidate, number) else { continue }
            // The requests of later candidates that need no index of their own if this one is kept.
            let served = candidates[(position + 1)...].filter { later in
                isServed(later.candidate, by: candidate) && !kept.contains { isServed(later.candidate, by: $0) }
            }
            let requests = own + served.flatMap(\.requests)
            let before = try times(of: requests, store)
            if before.prefix(own.count).allSatisfy({ $0 == nil }) { continue }
            let former = store.schema
            do throws(StorageError) {
                store = try migrated(store, to: indexed)
            } catch  where error.code == .valueTooLarge || error.code == .limitExceeded {
                // The engine has no room for several long values in one entry of an index.
                advice.impossible.insert(item(candidate, []).declaration)
                continue
            }
            let after = try times(of: requests, store)
            let trials = zip(requests, zip(before, after)).map { request, times in Self.trial(times.0, times.1).map { (request, $0) } }
            let ownTrials = trials.prefix(own.count).compactMap(\.self), helped = trials.compactMap(\.self).filter { Self.hasGain($0.1) }
            // Whether the index is wanted depends on the requests for which it was made: an index with fewer slots may serve the others.
            if !ownTrials.contains(where: { Self.hasGain($0.1) }) {
                advice.rejected.append(item(candidate, ownTrials))
                store = try migrated(store, to: former)
            } else {
                kept.append(candidate)
                advice.proposals.append(item(candidate, helped))
            }
        }
        advice.sortProposals()
        advice.unused = unused
        return advice
    }

    private static func trial(_ before: Duration?, _ after: Duration?) -> IndexAdvice.Trial? {
        if let before, let after { IndexAdvice.Trial(before: before, after: after) } else { nil }
    }

    private static func hasGain(_ trial: IndexAdvice.Trial) -> Bool {
        trial.after * leastGain <= trial.before && trial.after + leastSaving <= trial.before
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
            if isUnique(known.plan) { continue }
            for candidate in IndexCandidate.all(for: known.plan, in: schema) where !isDeclared(candidate) {
                if requests[candidate] == nil { order.append(candidate) }
                requests[candidate, default: []].append(known)
            }
        }
        // An index of an ancestor takes the place of the same one of its descendants, and where indexes are shared, that of a relative.
        for candidate in order {
            let other = order.first {
                requests[$0] != nil && !schema[candidate.entity].family.contains($0.entity) && $0.slots.count == candidate.slots.count
                    && isServed(candidate, by: $0)
            }
            guard let other else { continue }
            requests[other, default: []] += requests.removeValue(forKey: candidate) ?? []
        }
        // Candidates of an entity with the same slots, such as one that compares a slot with values and one with a range, need one index.
        for candidate in order.reversed() where requests[candidate] != nil {
            let other = order.first {
                $0 != candidate && requests[$0] != nil && $0.entity == candidate.entity && $0.slots.count == candidate.slots.count
                    && isServed(candidate, by: $0)
            }
            guard let other else { continue }
            requests[other, default: []] += requests.removeValue(forKey: candidate) ?? []
        }
        return order.compactMap { candidate in requests[candidate].map { (candidate, $0) } }
    }

    /// Returns the candidates without those with properties whose values are too long for an index, and adds these to the impossible ones.
    private func possibleCandidates(
        _ advice: inout IndexAdvice
    ) throws(StorageError) -> [(candidate: IndexCandidate, requests: [Known])] {
        let candidates = candidates
        guard let store else { return candidates }
        var possible: [(candidate: IndexCandidate, requests: [Known])] = [], long = UnindexableProperties(in: store, limit)
        for (candidate, requests) in candidates {
            var isImpossible = false
            for slot in candidate.slots where !isImpossible {
                let owner = sharesIndexes ? schema[candidate.entity].slots[slot].declaredIn : candidate.entity
                isImpossible = try long.contain(slot, of: owner)
            }
            if isImpossible { advice.impossible.insert(item(candidate, []).declaration) } else { possible.append((candidate, requests)) }
        }
        return possible
    }

    /// Whether an index contains all objects of a hierarchy, whichever entity declares it. Stores with SQL have one table for them.
    private var sharesIndexes: Bool { store?.capabilities.contains(.rawSQL) == true }

    /// Whether an index of an entity over slots, in their order, helps as much as one for a candidate.
    private func isServed(_ candidate: IndexCandidate, by slots: [Int], of other: EntityDescription) -> Bool {
        (sharesIndexes || other.family.contains(candidate.entity)) && candidate.isServed(by: slots, of: other, in: schema)
    }

    /// Whether an index for one candidate helps as much as one for another.
    private func isServed(_ candidate: IndexCandidate, by other: IndexCandidate) -> Bool {
        isServed(candidate, by: other.slots, of: schema[other.entity])
    }

    /// Whether a fetch compares all properties of a unique constraint with single values, so that its index finds the few objects.
    private func isUnique(_ plan: FetchPlan) -> Bool {
        let values = IndexCandidate.valued(for: plan, in: schema)
        return schema[plan.entity].uniqueConstraints.contains { values.isSuperset(of: $0.slots) }
    }

    /// Whether a declared index, a unique constraint or the index of a to-one relationship serves a candidate.
    private func isDeclared(_ candidate: IndexCandidate) -> Bool {
        let entity = schema[candidate.entity]
        if candidate.slots.count == 1, entity.slots[candidate.slots[0]].destination != nil { return true }
        if entity.uniqueConstraints.contains(where: { isServed(candidate, by: $0.slots, of: entity) }) { return true }
        return schema[entity.root].family.contains { relative in
            let other = schema[relative]
            return schema.entities[relative].indexes.contains { index in
                index.kind == .ordered && index.condition == nil
                    && isServed(candidate, by: index.properties.compactMap(other.slot), of: other)
            }
        }
    }

    /// The declared indexes whose first property no request reads or compares, of entities of which objects were requested.
    var unused: [IndexAdvice.Item] {
        var found: [IndexAdvice.Item] = []
        let used = UsedProperties(requests.map(\.whole), schema)
        for (position, entity) in schema.entities.enumerated() {
            let description = schema[position], plans = requests.map(\.plan).filter { description.family.contains($0.entity) }
            if plans.isEmpty { continue }
            for index in entity.indexes where index.kind == .ordered && index.condition == nil {
                guard let slot = index.properties.first.flatMap(description.slot) else { continue }
                if used.contains(slot, of: position) { continue }
                found.append(IndexAdvice.Item(entity: entity.name, properties: index.properties, requests: []))
            }
        }
        return found
    }

    // MARK: Trials

    /// Returns a schema with a further index.
    private func extended(_ schema: Schema, _ candidate: IndexCandidate, _ number: Int) throws(StorageError) -> Schema {
        let names = candidate.slots.map { schema[candidate.entity].slots[$0].name }
        var entities = schema.entities
        entities[candidate.entity].indexes.append(Index(names))
        do throws(SchemaError) {
            return try Schema(
                version: "\(self.schema.version), trial \(number)", entities: entities, configurations: schema.configurations)
        } catch {
            throw StorageError(error)
        }
    }

    /// Migrates the copy to a schema with other indexes.
    ///
    /// The copy keeps no record of it: one that grows with each trial would be read again by each later one.
    private func migrated(_ store: OpenStore, to schema: Schema) throws(StorageError) -> OpenStore {
        let step = MigrationStep(SchemaMapping(from: store.schema, to: schema))
        var attempts = 1
        while true {
            try limit?.check()
            do throws(StorageError) {
                try take(step, store)
                return store.keeping(schema)
            } catch  where error.code == .serializationFailure && attempts < 40 {
                // The engine has undone the step for a retry, for example because the map of an LMDB store had to grow first.
                attempts += 1
            }
        }
    }

    private func take(_ step: MigrationStep, _ store: OpenStore) throws(StorageError) {
        let migration = try store.beginMigration(step, WriteOptions(limit: limit))
        defer { migration.end() }
        let keys = try MigrationKeys(step.mapping) { root throws(StorageError) in
            try migration.source.reserveKeys(root, count: 1).lowerBound
        }
        let work = try migration.prepare()
        guard work.roots.isEmpty, work.links.isEmpty else {
            throw StorageError(.unsupported, "the store rewrites objects when it creates an index, so that indexes cannot be tried in it")
        }
        try migration.finish(keys, limits: keys.limits)
        _ = try migration.commit(CommitRecord(author: "advise"))
    }

    /// Returns the times of requests; nil for one that the values of an object do not allow, such as a division by zero.
    private func times(of requests: [Known], _ store: OpenStore) throws(StorageError) -> [Duration?] {
        var times: [Duration?] = []
        for request in requests {
            do throws(StorageError) {
                times.append(try (measure ?? shortestTime)(request.plan, store))
            } catch  where [.arithmeticOverflow, .divisionByZero, .valueOutOfRange].contains(error.code) {
                times.append(nil)
            }
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
