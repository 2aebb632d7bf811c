internal import PolystoreStorage

/// The examination of the rows of a source before they are copied: whether the target can have the values of each of them.
///
/// It reads only what has to be examined: values that get another type, attributes with rules, and everything in a database of another
/// program, which may contain values that no store can have.
struct RowExamination {
    private struct Rule {
        let slot: Int
        let conversion: SlotConversion?
        let check: AttributeCheck?
        let isRequired: Bool
    }

    private let source: Schema
    /// The schema of the target.
    private let schema: Schema
    private let model: MappedModel?
    private let accepted: Set<String>
    private let isForeign: Bool
    /// The rules by entity of the source.
    private let rules: [[Rule]]
    /// The unique constraints that the source does not guarantee, by entity of the source.
    private let constraints: [[ResolvedConstraint]]

    /// - Parameter isForeign: Whether the source is a database of another program.
    /// - Throws: `invalidConfiguration` for an invalid pattern of the model.
    init(_ source: Schema, _ model: MappedModel?, accepting accepted: Set<String>, isForeign: Bool) throws(StorageError) {
        self.source = source
        self.model = model
        self.accepted = accepted
        self.isForeign = isForeign
        let schema = model?.schema ?? source
        self.schema = schema
        var rules: [[Rule]] = [], constraints: [[ResolvedConstraint]] = []
        for entity in source.entities.indices {
            let description = schema[model?.entities[entity] ?? entity]
            let conversions = Dictionary((model?.conversions[entity] ?? []).map { ($0.slot, $0) }) { first, _ in first }
            let found = try Self.rules(description, conversions, isForeign)
            let casts = Set(conversions.values.filter(\.isCast).map(\.slot))
            rules.append(found)
            constraints.append(description.uniqueConstraints.filter { isForeign || !casts.isDisjoint(with: $0.slots) })
        }
        self.rules = rules
        self.constraints = constraints
    }

    private static func rules(
        _ entity: EntityDescription, _ conversions: [Int: SlotConversion], _ isForeign: Bool
    ) throws(StorageError) -> [Rule] {
        if entity.isAbstract { return [] }
        var rules: [Rule] = []
        for (slot, description) in entity.slots.enumerated() {
            guard let attribute = description.attribute else { continue }
            let check: AttributeCheck?
            do throws(QueryError) { check = try AttributeCheck(attribute) } catch {
                throw StorageError(
                    .invalidConfiguration, "\(entity.name).\(attribute.name): its pattern is invalid: \(error.message)", cause: error)
            }
            let conversion = conversions[slot].flatMap { $0.isCast ? $0 : nil }
            if check == nil, conversion == nil, !isForeign { continue }
            rules.append(Rule(slot: slot, conversion: conversion, check: check, isRequired: !attribute.isOptional))
        }
        return rules
    }

    /// Examines the rows that are copied, and rejects those that the target cannot take.
    func run(_ scope: TransferScope, _ reader: ReadSession, _ rejects: RejectedRows, _ limit: WorkLimit?) throws(StorageError) {
        for root in source.roots {
            var slots = SlotMask(), entities: [EntityIndex] = []
            for entity in source[root].family where !rules[entity].isEmpty || !constraints[entity].isEmpty {
                slots.formUnion(SlotMask(rules[entity].map(\.slot) + constraints[entity].flatMap(\.slots)))
                entities.append(entity)
            }
            let unique = UniqueValues()
            func examine(_ batch: RowBatch) throws(StorageError) {
                try limit?.check()
                for index in 0..<batch.count { try self.examine(batch.row(index), root, unique, rejects) }
            }
            if isForeign {
                try forEachReadableRow(root, scope, reader, rejects, examine)
            } else if !entities.isEmpty, !scope.isWhole(root) {
                try scope.forEachChosenRow(root, reader, examine)
            } else if !entities.isEmpty {
                let plan = FetchPlan(entity: root, entities: entities, fields: .some(slots))
                let cursor = try reader.cursor(for: plan), batch = RowBatch(capacity: 1024)
                while try cursor.next(into: batch) { try examine(batch) }
            }
        }
    }

    // MARK: Values

    private func examine(
        _ row: borrowing RowView, _ root: EntityIndex, _ unique: UniqueValues, _ rejects: RejectedRows
    ) throws(StorageError) {
        var converted: [Int: Value] = [:]
        for rule in rules[row.entity] {
            if row[rule.slot].isNull {
                if rule.isRequired { return try reject(row, rule.slot, "is required, but is nil", root, rejects) }
                continue
            }
            if rule.conversion == nil, rule.check == nil { continue }
            guard var value = Value(row[rule.slot], as: source[row.entity].slots[rule.slot].type) else { continue }
            if let conversion = rule.conversion {
                guard let result = conversion.convert(value, accepting: accepted) else {
                    let sentence =
                        "is \(value.description.excerpt()), which has no exact equivalent of type \(conversion.attribute.type.rawValue)"
                    return try reject(row, rule.slot, sentence, root, rejects)
                }
                value = result
                converted[rule.slot] = result
            }
            if let failure = rule.check?.failures(of: value).first {
                return try reject(row, rule.slot, "is \(value.description.excerpt()), but \(failure)", root, rejects)
            }
        }
        for constraint in constraints[row.entity] {
            guard let other = unique.add(row, constraint, converted) else { continue }
            let names = constraint.slots.map { schema[entity(row.entity)].slots[$0].name }.joined(separator: ", ")
            return try rejects.add(
                RejectedRow(
                    entity: schema[entity(row.entity)].name, key: row.key,
                    property: constraint.slots.count == 1 ? names : nil,
                    reason: "the object \(other), which comes before, has the same \(names)", root: root))
        }
    }

    private func entity(_ origin: EntityIndex) -> EntityIndex { model?.entities[origin] ?? origin }

    private func reject(
        _ row: borrowing RowView, _ slot: Int, _ sentence: String, _ root: EntityIndex, _ rejects: RejectedRows
    ) throws(StorageError) {
        let description = schema[entity(row.entity)], name = description.slots[slot].name
        try rejects.add(
            RejectedRow(
                entity: description.name, key: row.key, property: name, reason: "\(description.name).\(name) \(sentence)", root: root))
    }

    // MARK: Databases of other programs

    /// Passes the rows to `body` that can be read, and rejects the others.
    private func forEachReadableRow(
        _ root: EntityIndex, _ scope: TransferScope, _ reader: ReadSession, _ rejects: RejectedRows,
        _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        let batch = RowBatch(capacity: 1024)
        var size = 256
        func read(_ keys: ArraySlice<Int64>) throws(StorageError) {
            batch.clear()
            do throws(StorageError) {
                try reader.attempt { () throws(StorageError) in try reader.rows(root, keys: Array(keys), into: batch) }
            } catch {
                if error.code != .valueNotStorable { throw error }
                if keys.count == 1, let key = keys.first { return try reject(unreadable: key, root, reader, error, rejects) }
                let middle = keys.startIndex + keys.count / 2
                try read(keys[..<middle])
                return try read(keys[middle...])
            }
            size = batch.copiedBytes > 4 << 20 ? max(1, size / 2) : min(1024, size * 2)
            try body(batch)
        }
        try Contents(reader, scope).keyBlocks(root, 1024) { keys throws(StorageError) in
            var rest = keys[...]
            while !rest.isEmpty {
                let part = rest.prefix(size)
                rest = rest.dropFirst(part.count)
                try read(part)
            }
        }
    }

    private func reject(
        unreadable key: Int64, _ root: EntityIndex, _ reader: ReadSession, _ error: StorageError, _ rejects: RejectedRows
    ) throws(StorageError) {
        let found = try UnreadableRow(key, root, reader)
        let description = schema[entity(found.entity)]
        // An engine that reads whole rows names another value than the first one that cannot be read.
        let property = found.problems.first.map { description.slots[$0.slot].name }
        let reason = found.problems.isEmpty ? error.message : found.problems.map(\.message).joined(separator: "; ")
        try rejects.add(RejectedRow(entity: description.name, key: key, property: property, reason: reason, root: root))
    }
}
