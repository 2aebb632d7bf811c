internal import PolystoreStorage

/// Finds the line of a file whose values another object already has, after a store refused these values.
struct DuplicateSearch {
    private let loader: FileLoader
    private let constraint: String

    /// Creates a search. Returns nil if the error names no constraint.
    init?(_ loader: FileLoader, _ error: StorageError) {
        guard error.code == .uniqueConstraintViolated, let constraint = error.details.constraint else { return nil }
        self.loader = loader
        self.constraint = constraint
    }

    /// Returns the error with the file, line, and value, or nil if no such line is found.
    func find() throws(StorageError) -> StorageError? { try search().first?.error }

    /// Rejects all records with values that another object has. Returns whether there are any.
    func reject(_ rejects: LoadRejects) throws(StorageError) -> Bool {
        let found = try search()
        for item in found { try rejects.add(item.record, ofFile: item.target.index, item.error) }
        return !found.isEmpty
    }

    /// An object of the load. One whose key is not known is the only one of its record.
    private enum Identity: Hashable {
        case object(LoadClaim.Object)
        case record(file: Int, position: Int)
    }

    /// The values of an object in the files: the last value of each slot, and the record that the object owes it to.
    private struct Holder {
        var values: [Int: Value] = [:]
        var last: LoadRecord.Place
        let first: LoadRecord.Place
    }

    private struct Duplicate {
        let target: LoadTarget
        let record: LoadRecord
        let error: StorageError
    }

    /// Returns the records by which objects have the values of others at the end of the load: the last ones that assign them.
    private func search() throws(StorageError) -> [Duplicate] {
        let targets = loader.targets.compactMap { target in
            target.description.uniqueConstraints.first { $0.name == constraint }.map { (target, $0) }
        }
        guard let (_, rule) = targets.first else { return [] }
        var holders: [Identity: Holder] = [:]
        for (target, _) in targets {
            try forEachRecord(of: target) { record, identity throws(StorageError) in
                for slot in rule.slots where try loader.assigns(record, target, slot) {
                    let place = target.place(of: record), value = try loader.values(of: record, target, [slot])[0]
                    holders[identity, default: Holder(last: place, first: place)].values[slot] = value
                    holders[identity]?.last = place
                }
            }
        }
        let reasons = try conflicts(holders, rule.slots, loader.store.schema[rule.declaredIn])
        var found: [Duplicate] = []
        for (target, _) in targets {
            try forEachRecord(of: target) { record, _ throws(StorageError) in
                guard let (values, other) = reasons[target.place(of: record)] else { return }
                let error = Self.error(record, target, rule.slots, values, other, constraint, isRejecting: loader.isRejecting)
                found.append(Duplicate(target: target, record: record, error: error))
            }
        }
        return found
    }

    /// Returns the values of the objects that others have too, with a description of the other one, by the records that assign them last.
    private func conflicts(
        _ holders: [Identity: Holder], _ slots: [Int], _ entity: EntityDescription
    ) throws(StorageError) -> [LoadRecord.Place: (values: [Value], other: String)] {
        let reader = try loader.store.beginRead(), stored = RowBatch(capacity: 1)
        defer { reader.end() }
        /// Returns the values of an object of the store, with those that the files assign.
        func valuesOf(_ identity: Identity, _ assigned: [Int: Value]) throws(StorageError) -> [Value] {
            stored.clear()
            if case .object(let object) = identity, assigned.count < slots.count {
                try reader.rows(entity.index, keys: [object.key], into: stored)
            }
            return slots.map { slot in
                let old = stored.count > 0 ? Value(stored.row(0)[slot], as: entity.slots[slot].type) : nil
                return assigned[slot] ?? old ?? .null
            }
        }
        var known: [(identity: Identity, last: LoadRecord.Place, values: [Value])] = []
        for (identity, holder) in holders.sorted(by: { $0.value.first < $1.value.first }) {
            let values = try valuesOf(identity, holder.values)
            if !values.contains(where: \.isNull) { known.append((identity, holder.last, values)) }
        }
        var taken: Set<[Value]> = [], reasons: [LoadRecord.Place: (values: [Value], other: String)] = [:]
        for (_, last, values) in known where !taken.insert(values).inserted { reasons[last] = (values, Self.earlier) }
        if !loader.isRejecting, !reasons.isEmpty { return reasons }
        for (identity, last, values) in known {
            guard let key = try RejectedSearch.holder(of: values, slots, entity, reader) else { continue }
            let object = Identity.object(LoadClaim.Object(root: entity.root, key: key))
            // The files may assign other values to the object of the store.
            let isKept = try holders[object].map { holder throws(StorageError) in try valuesOf(object, holder.values) == values } ?? true
            if isKept { reasons[last] = object == identity ? nil : (values, Self.stored) }
        }
        return reasons
    }

    /// Passes each record of a file with its object to `body`.
    private func forEachRecord(
        of target: LoadTarget, _ body: (LoadRecord, Identity) throws(StorageError) -> Void
    ) throws(StorageError) {
        if loader.objectKeys(ofFile: target.index) != nil {
            return try loader.forEachRecord(of: target) { record, _, object throws(StorageError) in try body(record, .object(object)) }
        }
        var records = try loader.records(of: target)
        while let record = try records.next() { try body(record, .record(file: target.index, position: record.ordinal)) }
    }

    /// The descriptions of the objects that can have the values of a record.
    static let earlier = "an earlier object in the files", stored = "an object of the store"

    /// Returns the error of a record whose values another object has.
    static func error(
        _ record: LoadRecord, _ target: LoadTarget, _ slots: [Int], _ values: [Value], _ other: String, _ constraint: String? = nil,
        isRejecting: Bool
    ) -> StorageError {
        let names = slots.map { target.description.slots[$0].name }
        let texts = values.map { JSONWriter.write(ValueText.json($0)).excerpt() }
        var details = StorageError.Details(entity: target.description.name, constraint: constraint)
        details.properties = names
        return StorageError(
            .uniqueConstraintViolated,
            "\(target.file.file.excerpt()), line \(record.line): \(other) has the same \(names.joined(separator: ", ")) "
                + "(\(texts.joined(separator: ", ")))\(isRejecting ? "" : "; nothing was loaded")",
            details: details)
    }
}
