internal import PolystoreStorage

/// Finds the rejected records that can perhaps be loaded with those that a pass has loaded, without another pass.
///
/// A record cannot if one of its references is not resolved, or if another object has one of its unique values or the destination of one of its
/// one-to-one references, unless other rejected records that perhaps can be loaded change that. What else is wrong is found by a pass.
struct RejectedSearch {
    /// A change that a rejected record would make.
    fileprivate enum Change: Hashable {
        /// It has the values by which objects are found.
        case has(FileLoader.Lookup, [Value])
        /// It updates an object that has the values by which objects are found.
        case updates(FileLoader.Lookup, [Value])
        /// It updates an object.
        case updatesObject(LoadClaim.Object)
        /// It refers by a one-to-one relationship to the object that is found by values.
        case refers(FileLoader.Lookup, [Value])
    }

    /// The findings about some rejected records.
    struct Result {
        /// The error of each record that cannot be loaded; nil for one that perhaps can.
        fileprivate(set) var errors: [StorageError?] = []
        /// The changes that each of the others needs.
        fileprivate var wanted: [[Change]] = []
        /// The positions of those that make each change.
        fileprivate var makers: [Change: [Int]] = [:]

        /// Returns the positions, in their order, of a record and of those without which it cannot be loaded.
        func needed(by position: Int) -> [Int] {
            var found: Set<Int> = [position], waiting = [position]
            while let next = waiting.popLast() {
                for maker in wanted[next].lazy.flatMap({ makers[$0] ?? [] }) where found.insert(maker).inserted { waiting.append(maker) }
            }
            return found.sorted()
        }
    }

    /// A reason for which a record cannot be loaded.
    private struct Obstacle {
        let error: StorageError
        /// The changes of which one could remove the obstacle.
        var changes: [Change] = []
        /// The number of records that have to make the change.
        var least = 1
    }

    private struct Candidate {
        let target: LoadTarget
        let record: LoadRecord
        /// The object that the record updates; nil for a new one.
        var key: Int64?
        var changes: Set<Change> = []
        var obstacles: [Obstacle] = []

        var object: LoadClaim.Object? { key.map { LoadClaim.Object(root: target.description.root, key: $0) } }
    }

    private let loader: FileLoader
    private var schema: Schema { loader.schema }

    /// Creates a search in the state of a pass that has loaded all records that are not left out.
    init(_ loader: FileLoader) { self.loader = loader }

    /// Returns what is found of some records.
    func result(_ rejected: [LoadRejects.Rejected]) throws(StorageError) -> Result {
        var candidates: [Candidate] = []
        for item in rejected { candidates.append(try candidate(loader.targets[item.place.file], item.record)) }
        let last = try lastAssignments(Set(candidates.compactMap(\.object)))
        for index in candidates.indices {
            try loader.limit?.check()
            let candidate = candidates[index], place = candidate.target.place(of: candidate.record)
            let later = candidate.object.flatMap { last[$0] }?.filter { $0.value > place } ?? [:]
            try addConflicts(&candidates[index], except: Set(later.keys))
        }
        var errors = [StorageError?](repeating: nil, count: candidates.count), counts: [Change: Int] = [:]
        for change in candidates.lazy.flatMap(\.changes) { counts[change, default: 0] += 1 }
        var waiting = Array(candidates.indices), isChanged = true
        while isChanged {
            isChanged = false
            waiting.removeAll { index in
                let obstacle = candidates[index].obstacles.first { obstacle in
                    !obstacle.changes.contains { counts[$0, default: 0] >= obstacle.least }
                }
                guard let obstacle else { return false }
                errors[index] = obstacle.error
                for change in candidates[index].changes { counts[change, default: 0] -= 1 }
                isChanged = true
                return true
            }
            // In a chain the next one is often the one before.
            waiting.reverse()
        }
        var result = Result()
        result.errors = errors
        for (index, candidate) in candidates.enumerated() {
            // What a record changes itself is not needed from others, which could contradict it.
            let obstacles = candidate.obstacles.filter { $0.least > 1 || candidate.changes.isDisjoint(with: $0.changes) }
            result.wanted.append(errors[index] == nil ? obstacles.flatMap(\.changes) : [])
            for change in candidate.changes where errors[index] == nil { result.makers[change, default: []].append(index) }
        }
        return result
    }

    /// Returns the last loaded record that assigns a slot of each of some objects with a value that only one object can have.
    private func lastAssignments(_ objects: Set<LoadClaim.Object>) throws(StorageError) -> [LoadClaim.Object: [Int: LoadRecord.Place]] {
        var found: [LoadClaim.Object: [Int: LoadRecord.Place]] = [:]
        for (index, records) in loader.identified.sorted(by: { $0.key < $1.key }) {
            let target = loader.targets[index], slots = loader.exclusiveSlots(target), root = target.description.root
            if slots.isEmpty || !records.keys.contains(where: { objects.contains(LoadClaim.Object(root: root, key: $0)) }) { continue }
            try loader.forEachRecord(of: target) { record, _, object throws(StorageError) in
                if !objects.contains(object) { return }
                for slot in slots where try loader.assigns(record, target, slot) {
                    found[object, default: [:]][slot] = target.place(of: record)
                }
            }
        }
        return found
    }

    /// Adds an obstacle if a closure throws an error that concerns the record.
    private func examine(
        _ candidate: inout Candidate, _ changes: [Change] = [], least: Int = 1, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        do throws(StorageError) { try body() } catch {
            if !LoadRejects.concernsRecord(error) { throw error }
            candidate.obstacles.append(Obstacle(error: error, changes: changes, least: least))
        }
    }

    // MARK: References

    /// Returns a record with what it changes, and the references that are not resolved.
    private func candidate(_ target: LoadTarget, _ record: LoadRecord) throws(StorageError) -> Candidate {
        var found = Candidate(target: target, record: record), creation: [Change] = []
        if let on = target.on {
            let lookup = FileLoader.Lookup(entity: target.entity, slots: on), values = try target.identity(record)
            switch loader.lookups[lookup]?.find(values) ?? .nothing {
            case .one(let key): found.key = key
            case .nothing: creation = [.has(lookup, values)]
            case .several:
                found.obstacles.append(Obstacle(error: target.refusal(severalOf: record), changes: [.updates(lookup, values)]))
            }
        } else if target.file.hasObjects {
            try examine(&found) { () throws(StorageError) in
                let stored = RowBatch(capacity: 1), key = try target.key(record)
                try loader.writer.rows(target.entity, keys: [key], into: stored)
                if stored.count > 0 { throw target.refusal(record, keyIsStored: !isOfLoad(target, key)) }
            }
        }
        for (lookup, keys) in loader.lookups {
            let old = found.key.flatMap(keys.values(of:))
            if let old { found.changes.insert(.updates(lookup, old)) }
            if let values = try? values(record, target, found.key, keys) { found.changes.insert(.has(lookup, values)) }
        }
        if let object = found.object { found.changes.insert(.updatesObject(object)) }
        if found.key == nil, target.on != nil {
            // Another record could create the object.
            try examine(&found, creation, least: 2) { () throws(StorageError) in
                for slot in target.description.slots.indices { _ = try target.value(record, slot: slot) }
            }
        }
        for reference in target.references {
            var isAssigned = true
            if target.on != nil { isAssigned = try target.assigns(record, reference) }
            if found.key != nil, !isAssigned { continue }
            let values = try target.values(record, reference.search)
            if let values {
                try resolve(values, reference.search, &found)
                if case .slot = reference.inverse { found.changes.insert(.refers(reference.search.lookup, values)) }
            } else if reference.search.isRequired {
                let error = target.refusal(record, unnamed: reference.search)
                found.obstacles.append(Obstacle(error: error, changes: isAssigned ? [] : creation, least: 2))
            }
        }
        if found.key == nil { addUnfilled(&found) }
        for members in target.members {
            for values in try target.values(record, members) { try resolve(values, members.search, &found) }
        }
        return found
    }

    /// Adds the required relationships of a new object that only the other ends of their inverses fill.
    private func addUnfilled(_ candidate: inout Candidate) {
        let target = candidate.target
        let references = candidate.changes.compactMap {
            if case .has(let lookup, let values) = $0 { Change.refers(lookup, values) } else { nil }
        }
        for (position, slot) in target.description.slots.enumerated() {
            guard case .toOne(let relationship, _) = slot.content, !relationship.isOptional else { continue }
            if target.references.contains(where: { $0.slot == position }) { continue }
            let error = target.refusal(candidate.record, unfilled: slot.name)
            candidate.obstacles.append(Obstacle(error: error, changes: references))
        }
    }

    private func values(
        _ record: LoadRecord, _ target: LoadTarget, _ key: Int64?, _ lookup: LoadedKeys
    ) throws(StorageError) -> [Value]? {
        if !lookup.isByKey { return try loader.values(of: record, target, key, in: lookup) }
        let isKnown = target.file.hasObjects && schema[lookup.entity].family.contains(target.entity)
        return isKnown ? [.int(try target.key(record))] : nil
    }

    private func resolve(_ values: [Value], _ search: LoadSearch, _ candidate: inout Candidate) throws(StorageError) {
        switch loader.lookups[search.lookup]?.find(values) ?? .nothing {
        case .one: break
        case .nothing:
            if !search.isRequired { return }
            let error = candidate.target.refusal(candidate.record, unresolved: search, schema)
            candidate.obstacles.append(Obstacle(error: error, changes: [.has(search.lookup, values)]))
        case .several:
            let error = candidate.target.refusal(candidate.record, ambiguous: search, schema)
            candidate.obstacles.append(Obstacle(error: error, changes: [.updates(search.lookup, values)]))
        }
    }

    // MARK: Conflicts

    /// Adds the objects that have a unique value of the record, or the destination of one of its one-to-one references.
    ///
    /// - Parameter later: The slots that a later record assigns.
    private func addConflicts(_ candidate: inout Candidate, except later: Set<Int>) throws(StorageError) {
        let target = candidate.target, record = candidate.record
        let stored = RowBatch(capacity: 1)
        if let key = candidate.key { try loader.writer.rows(target.entity, keys: [key], into: stored) }
        for constraint in target.description.uniqueConstraints where later.isDisjoint(with: constraint.slots) {
            var values: [Value] = [], isAssigned = candidate.key == nil
            for slot in constraint.slots {
                var isNew = candidate.key == nil
                if !isNew { isNew = try loader.assigns(record, target, slot) }
                if isNew {
                    isAssigned = true
                    values += (try? loader.values(of: record, target, [slot])) ?? [.null]
                } else {
                    values.append(stored.count > 0 ? Value(stored.row(0)[slot], as: target.description.slots[slot].type) ?? .null : .null)
                }
            }
            if !isAssigned || values.contains(where: \.isNull) { continue }
            let key = try Self.holder(of: values, constraint.slots, schema[constraint.declaredIn], loader.writer)
            guard let key, key != candidate.key else { continue }
            let error = DuplicateSearch.error(
                record, target, constraint.slots, values, isOfLoad(target, key) ? DuplicateSearch.earlier : DuplicateSearch.stored,
                isRejecting: true)
            let object = LoadClaim.Object(root: target.description.root, key: key)
            candidate.obstacles.append(Obstacle(error: error, changes: [.updatesObject(object)]))
        }
        for reference in target.references where !later.contains(reference.slot) {
            guard case .slot(let slot) = reference.inverse, let values = try target.values(record, reference.search),
                case .one(let destination)? = loader.lookups[reference.search.lookup]?.find(values)
            else { continue }
            let row = RowBatch(capacity: 1)
            try loader.writer.rows(reference.destination, keys: [destination], into: row)
            guard row.count > 0, !row.row(0)[slot].isNull, row.row(0)[slot].int != candidate.key else { continue }
            let holder = LoadClaim.Object(root: target.description.root, key: row.row(0)[slot].int)
            let entity = schema[row.row(0).entity]
            let claimed = LoadClaim.Claimed(key: destination, entity: entity.name, property: entity.slots[slot].name)
            let other = LoadClaim.Object(root: schema[reference.destination].root, key: destination)
            candidate.obstacles.append(
                Obstacle(
                    error: claimed.error(line: record.line, ofFile: target.file.file),
                    changes: [.updatesObject(holder), .updatesObject(other)]))
        }
    }

    private func isOfLoad(_ target: LoadTarget, _ key: Int64) -> Bool {
        loader.keys[target.description.root]?.contains { $0.contains(key) } ?? false
    }

    /// Returns the key of an object of an entity with unique values; nil if there is none.
    static func holder(
        of values: [Value], _ slots: [Int], _ entity: EntityDescription, _ reader: ReadSession
    ) throws(StorageError) -> Int64? {
        let conditions = zip(slots, values).map { slot, value in
            QueryPredicate.compare(.path(PropertyPath([entity.slots[slot].name])), .equal, .value(value))
        }
        let plan: FetchPlan
        do throws(QueryError) { plan = try ObjectRequest(entity.name, where: .and(conditions), limit: 1).plan(in: reader.schema) } catch {
            throw StorageError(error)
        }
        let batch = RowBatch(capacity: 1)
        return try reader.cursor(for: plan).next(into: batch) ? batch.key(0) : nil
    }
}
