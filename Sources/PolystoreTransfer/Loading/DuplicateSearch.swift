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
        let targets = loader.targets.compactMap { target in
            target.description.uniqueConstraints.first { $0.name == constraint }.map { (target, $0) }
        }
        var seen: [[Value]: [Value]] = [:]
        for (target, rule) in targets {
            let found = try search(target, rule.slots) { values, identity in
                // Two records that update one object are no duplicates.
                let earlier = seen.updateValue(identity, forKey: values)
                return earlier == nil || earlier == identity ? nil : "an earlier object in the files"
            }
            if let found { return found }
        }
        let reader = try loader.store.beginRead()
        defer { reader.end() }
        let updated = Set(loader.identified.values.flatMap(\.keys))
        for (target, rule) in targets {
            let entity = loader.store.schema[rule.declaredIn].name
            let found = try search(target, rule.slots) { values, identity throws(StorageError) in
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
                return updated.contains(batch.key(0)) ? nil : "an object of the store"
            }
            if let found { return found }
        }
        return nil
    }

    /// Returns the error of the first record of a file for which `other` returns a description of the object that already has its values.
    ///
    /// - Parameter other: Receives the values of a record, and those that identify its object, or its line if nothing does.
    private func search(
        _ target: LoadTarget, _ slots: [Int], _ other: (_ values: [Value], _ identity: [Value]) throws(StorageError) -> String?
    ) throws(StorageError) -> StorageError? {
        var records = try loader.records(of: target)
        while let record = try records.next() {
            // An update of other attributes.
            if target.on != nil, !slots.allSatisfy({ target.assigns(record, slot: $0) }) { continue }
            let values = try loader.values(of: record, target, slots)
            let identity = target.on == nil ? [Value.string(target.file.file), .int(Int64(record.line))] : try target.identity(record)
            guard !values.contains(where: \.isNull), let other = try other(values, identity) else { continue }
            let names = slots.map { target.description.slots[$0].name }
            let texts = values.map { JSONWriter.write(ValueText.json($0)).excerpt() }
            return StorageError(
                .uniqueConstraintViolated,
                "\(target.file.file.excerpt()), line \(record.line): \(other) has the same \(names.joined(separator: ", ")) "
                    + "(\(texts.joined(separator: ", "))); nothing was loaded",
                details: .init(
                    entity: target.description.name, property: names.count == 1 ? names[0] : nil, constraint: constraint))
        }
        return nil
    }
}
