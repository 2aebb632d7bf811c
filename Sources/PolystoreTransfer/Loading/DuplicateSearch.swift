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
    func find() throws(StorageError) -> StorageError? {
        var first: StorageError?
        try search { _, _, error, _ in
            first = error
            return false
        }
        return first
    }

    /// Rejects all records with values that another object has. Returns whether there are any.
    func reject(_ rejects: LoadRejects) throws(StorageError) -> Bool {
        var isFound = false
        try search { target, record, error, isEarlier throws(StorageError) in
            isFound = true
            try rejects.add(record, ofFile: target.index, error, on: .init(dependsOnOthers: isEarlier))
            return true
        }
        return isFound
    }

    /// A closure that receives a record whose values another object has, and whether that is one of an earlier record, which may be rejected
    /// itself. Returns whether the search goes on.
    private typealias Found = (LoadTarget, LoadRecord, StorageError, _ isEarlier: Bool) throws(StorageError) -> Bool

    private func search(_ body: Found) throws(StorageError) {
        let targets = loader.targets.compactMap { target in
            target.description.uniqueConstraints.first { $0.name == constraint }.map { (target, $0) }
        }
        var seen: [[Value]: [Value]] = [:]
        for (target, rule) in targets {
            let goesOn = try search(target, rule.slots, body) { values, identity in
                // Two records that update one object are no duplicates.
                let earlier = seen.updateValue(identity, forKey: values)
                return earlier == nil || earlier == identity ? nil : Self.earlier
            }
            if !goesOn { return }
        }
        let reader = try loader.store.beginRead()
        defer { reader.end() }
        let updated = Set(loader.identified.values.flatMap(\.keys))
        for (target, rule) in targets {
            let entity = loader.store.schema[rule.declaredIn].name
            let goesOn = try search(target, rule.slots, body) { values, identity throws(StorageError) in
                let conditions = zip(rule.slots, values).map { slot, value in
                    QueryPredicate.compare(.path(PropertyPath([target.description.slots[slot].name])), .equal, .value(value))
                }
                let plan: FetchPlan
                do throws(QueryError) {
                    plan = try ObjectRequest(entity, where: .and(conditions), limit: 1).plan(in: loader.store.schema)
                } catch {
                    throw StorageError(error)
                }
                let batch = RowBatch(capacity: 1)
                guard try reader.cursor(for: plan).next(into: batch), !loader.isKnown(identity, target, as: batch.key(0)) else {
                    return nil
                }
                // An object that the files update may have lost these values.
                return updated.contains(batch.key(0)) ? nil : Self.stored
            }
            if !goesOn { return }
        }
    }

    /// Passes the records of a file to `body` for which `other` returns a description of the object that already has their values.
    ///
    /// - Parameter other: Receives the values of a record, and those that identify its object, or its line if nothing does.
    /// - Returns: Whether the search goes on.
    private func search(
        _ target: LoadTarget, _ slots: [Int], _ body: Found,
        _ other: (_ values: [Value], _ identity: [Value]) throws(StorageError) -> String?
    ) throws(StorageError) -> Bool {
        var records = try loader.records(of: target)
        while let record = try records.next() {
            // An update of other attributes.
            if target.on != nil, !slots.allSatisfy({ target.assigns(record, slot: $0) }) { continue }
            let values = try loader.values(of: record, target, slots)
            let identity = target.on == nil ? [Value.int(Int64(target.index)), .int(Int64(record.ordinal))] : try target.identity(record)
            guard !values.contains(where: \.isNull), let other = try other(values, identity) else { continue }
            let error = Self.error(record, target, slots, values, other, constraint, isRejecting: loader.isRejecting)
            if try !body(target, record, error, other == Self.earlier) { return false }
        }
        return true
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
        return StorageError(
            .uniqueConstraintViolated,
            "\(target.file.file.excerpt()), line \(record.line): \(other) has the same \(names.joined(separator: ", ")) "
                + "(\(texts.joined(separator: ", ")))\(isRejecting ? "" : "; nothing was loaded")",
            details: .init(entity: target.description.name, property: names.count == 1 ? names[0] : nil, constraint: constraint))
    }
}
