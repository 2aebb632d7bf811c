internal import PolystoreStorage

/// Changes to many rows of an entity without an object for each.
struct BatchWork {
    /// The maximum number of rows that are read and written together.
    private static let mostRows = 4096

    private let context: ObjectContext
    /// The rows. Without a limit their order has no effect.
    private var plan: FetchPlan
    private let description: EntityDescription
    /// The keys of the rows by store, if they are known: a limit over several stores depends on the rows of all of them.
    private var selected: [Int: [Int64]]?
    private(set) var count = 0

    init(_ context: ObjectContext, _ plan: FetchPlan) {
        self.context = context
        self.plan = plan
        if plan.limit == nil, plan.offset == 0 { self.plan.sort = [] }
        description = context.model.schema[plan.entity]
    }

    /// Determines the rows in several stores, if there is a limit.
    mutating func select(in stores: [Int]) throws(StorageError) {
        if stores.count > 1, plan.limit != nil || plan.offset != 0 { selected = try context.keys(plan, in: stores) }
    }

    private var schema: Schema { context.model.schema }

    /// Whether only a condition selects the rows, as in a statement of an engine.
    private var isPlain: Bool { selected == nil && plan.sort.isEmpty && plan.limit == nil && plan.offset == 0 }

    // MARK: Changing

    /// Returns the new values of the assigned attributes, checked against their attributes. The last assignment to an attribute counts.
    func checked<Object: ManagedObject>(
        _ assignments: [Assignment<Object>]
    ) throws(StorageError) -> [(slot: Int, value: CheckedExpression)] {
        var values: [(slot: Int, value: CheckedExpression)] = []
        for assignment in assignments {
            let value = try checked(assignment)
            values.removeAll { $0.slot == value.slot }
            values.append(value)
        }
        return values
    }

    private func checked<Object: ManagedObject>(_ assignment: Assignment<Object>) throws(StorageError) -> (
        slot: Int, value: CheckedExpression
    ) {
        if let problem = assignment.problem { throw problem }
        let names = description.slots.map(\.name) + description.relationships.map(\.relationship.name)
        if let name = assignment.path.names.first, !names.contains(name) {
            throw StorageError(
                .invalidPredicate, "\(description.name) has no property \"\(name.excerpt())\"\(Suggestion.nearest(name, in: names))",
                details: .init(entity: description.name, property: name))
        }
        guard assignment.path.names.count == 1, let slot = description.slot(assignment.path.names[0]),
            let attribute = description.slots[slot].attribute
        else {
            throw StorageError(
                .unsupported,
                "updateAll assigns only attributes of \(description.name), not \(assignment.path); fetch the objects and assign it to each",
                details: .init(entity: description.name, property: assignment.path.description))
        }
        if case .value(let constant) = assignment.value.node, constant.isNaN { return (slot, try normal(constant, slot, attribute)) }
        let value: CheckedExpression
        do throws(QueryError) { value = try assignment.value.checked(in: schema, plan.entity) } catch { throw StorageError(error) }
        if case .value(let constant, _) = value { return (slot, try normal(constant, slot, attribute)) }
        let isSame = value.type == attribute.type || value.type.isText && attribute.type.isText
        if isSame || value.type.isNumeric && attribute.type.isNumeric { return (slot, value) }
        throw StorageError(
            QueryError(
                path: assignment.path.description,
                "an expression of type \(value.type.rawValue) cannot be assigned to an attribute of type \(attribute.type.rawValue)"))
    }

    private func normal(_ constant: Value, _ slot: Int, _ attribute: Attribute) throws(StorageError) -> CheckedExpression {
        do throws(ValueError) { return .value(try description.normalise(constant, slot: slot), attribute.type) } catch {
            throw StorageError(error)
        }
    }

    mutating func update(_ assignments: [(slot: Int, value: CheckedExpression)], in store: Int) throws(StorageError) {
        guard let sessions = context.sessions else { throw SessionPool.ended }
        for case (let slot, .value(let value, _)) in assignments { try context.checkReferences([value], in: slot, of: description) }
        let unique = Set(description.family.flatMap { schema[$0].uniqueConstraints.flatMap(\.slots) })
        let isUnique = assignments.contains { unique.contains($0.slot) }
        let mask = SlotMask(assignments.map(\.slot))
        let isSettable = assignments.allSatisfy { slot, value in
            value.type == description.slots[slot].type && isNormal(value, slot) && !(isRequired(slot) && canBeNil(value))
                && (Self.isConstant(value) || description.slots[slot].attribute?.crossReference == nil)
        }
        if isPlain, !isUnique, isSettable,
            let keys = try sessions.updateAll(BatchUpdate(fetch: plan, assignments: assignments), in: store)
        {
            for (_, keys) in keys { try took(keys, store, mask) }
            return
        }
        // Unique values can be exchanged between rows only within one change set.
        let isImmediate = !isUnique && assignments.allSatisfy { $0.value.isLocal }
        var keys = KeyBlocks(try matching(store)[...], most: Self.mostRows), computed: [Computed] = []
        while let block = keys.next() {
            if !isUnique || computed.isEmpty { computed.append(Computed()) }
            keys.adapt(toRows: block.count, bytes: try compute(assignments, block, store, into: &computed[computed.count - 1]))
            if isImmediate { try write(computed.removeLast(), mask, store) }
        }
        // Values computed from other objects use their previous state: all are computed before the first is written.
        for values in computed { try write(values, mask, store) }
    }

    private mutating func write(_ values: Computed, _ mask: SlotMask, _ store: Int) throws(StorageError) {
        guard let sessions = context.sessions else { throw SessionPool.ended }
        try sessions.apply(values.changes(schema, mask), to: store)
        try took(values.keys, store, mask)
    }

    private static func isConstant(_ expression: CheckedExpression) -> Bool { if case .value = expression { true } else { false } }

    private func isRequired(_ slot: Int) -> Bool { description.slots[slot].attribute?.isOptional == false }

    private func missing(_ slot: Int, _ keys: [Int64]) -> StorageError {
        let name = description.slots[slot].name
        return StorageError(
            .validationFailed, "\(description.name).\(name) is required, but the assigned value is nil",
            details: .init(entity: description.name, property: name, keys: keys))
    }

    /// Whether an expression can be nil for objects with all required attributes.
    private func canBeNil(_ expression: CheckedExpression) -> Bool {
        switch expression {
        case .path(let path):
            guard path.steps.isEmpty, case .slot(let slot) = path.leaf else { return !path.steps.isEmpty }
            return schema[path.entity].slots[slot].attribute?.isOptional != false
        case .value(let value, _): return value.isNull
        case .function(.coalesce, let arguments, _): return arguments.allSatisfy(canBeNil)
        case .function(_, let arguments, _): return arguments.contains(where: canBeNil)
        case .conditional(_, let a, let b, _): return canBeNil(a) || canBeNil(b)
        case .related(let function, _, _, _): return function.isNilOfNothing
        case .outer: return true
        }
    }

    /// Whether all values that an engine computes for an expression are already normalized and allowed for a slot, as by
    /// `EntityDescription.normalise`. Values read from an attribute are, if that attribute has the same limits.
    private func isNormal(_ expression: CheckedExpression, _ slot: Int) -> Bool {
        let isLimited = isLimited(slot)
        switch expression {
        case .path(let path): return !isLimited || hasLimits(of: slot, path)
        case .value(.double(let zero), _) where zero == 0: return zero.sign == .plus
        case .value(let value, _): return (try? description.normalise(value, slot: slot)) == value
        case .conditional(_, let a, let b, _): return isNormal(a, slot) && isNormal(b, slot)
        case .function(.coalesce, let arguments, _): return arguments.allSatisfy { isNormal($0, slot) }
        case .function(.concatenate, let arguments, _): return !isLimited && arguments.allSatisfy { isNormal($0, slot) }
        case .outer, .function, .related: return !isLimited && !expression.contains { node, _ in node.isUnstorable }
        }
    }

    /// Whether some values of the type are not allowed in a slot.
    private func isLimited(_ slot: Int) -> Bool {
        let type = description.slots[slot].type
        if let attribute = description.slots[slot].attribute, !attribute.allowedValues.isEmpty { return true }
        return (type.isText || type == .data) && description.family.contains { schema[$0].isIndexed(slot) }
    }

    /// Whether the values of a path have the limits of a slot.
    private func hasLimits(of slot: Int, _ path: CheckedPath) -> Bool {
        guard case .slot(let source) = path.leaf, let from = schema[path.entity].slots[source].attribute,
            let attribute = description.slots[slot].attribute
        else { return false }
        let isShort = schema[path.entity].isIndexed(source) || !description.family.contains { schema[$0].isIndexed(slot) }
        return isShort && (attribute.allowedValues.isEmpty || from.allowedValues == attribute.allowedValues)
    }

    /// Returns the keys of the rows of the plan.
    private func matching(_ store: Int) throws(StorageError) -> [Int64] {
        if let selected { return (selected[store] ?? []).sorted() }
        var plan = plan
        plan.fields = .keysOnly
        return try context.withReader(store) { reader throws(StorageError) in
            var keys: [Int64] = []
            let cursor = try reader.cursor(for: plan), batch = RowBatch(capacity: 1024)
            while try cursor.next(into: batch) { for index in 0..<batch.count { keys.append(batch.key(index)) } }
            return keys.sorted()
        }
    }

    /// New values of rows, only of the assigned slots, because there can be many rows.
    private struct Computed {
        var rows: [EntityIndex: RowBatch] = [:]
        var keys: [Int64] = []

        var bytes: Int { rows.values.reduce(0) { $0 + $1.copiedBytes } }

        func changes(_ schema: Schema, _ mask: SlotMask) -> ChangeSet {
            let assigned = Array(mask.slots)
            return ChangeSet(
                entities: rows.sorted { $0.key < $1.key }.map { entity, batch in
                    let slots = schema[entity].slots.count
                    let rows = RowSource(count: batch.count) { range, target in
                        for index in range {
                            let row = batch.row(index)
                            let cells = target.appendRow(key: row.key, version: row.version, entity: entity, slots: slots)
                            cells.update(repeating: .null, count: slots)
                            for (position, slot) in assigned.enumerated() { cells[slot] = target.copy(row[position]) }
                        }
                    }
                    return EntityChanges(entity: entity, updates: [RowUpdate(mask: mask, checksVersion: false, rows: rows)])
                })
        }
    }

    /// Computes the new values of rows.
    ///
    /// - Returns: The number of bytes of the values that were read or computed, whichever is greater.
    private func compute(
        _ assignments: [(slot: Int, value: CheckedExpression)], _ keys: [Int64], _ store: Int, into computed: inout Computed
    ) throws(StorageError) -> Int {
        let bytesBefore = computed.bytes
        let storeID = context.stack.storeID(store), assignments = assignments.sorted { $0.slot < $1.slot }
        let evaluators = assignments.map { ExpressionEvaluator($0.value.bound(to: storeID, in: schema), schema: schema) }
        let fields = ReadFields(assignments.lazy.map(\.value), schema: schema).own
        let rows = RowBatch(capacity: keys.count)
        var references: [Int: Set<Value>] = [:]
        try context.withReader(store) { reader throws(StorageError) in
            let related = StoredRows(reader)
            try reader.rows(description.root, keys: keys, fields, into: rows)
            related.begin(rows)
            for index in 0..<rows.count {
                let row = rows.row(index)
                related.beginRow()
                let batch = computed.rows[row.entity] ?? RowBatch(capacity: keys.count)
                computed.rows[row.entity] = batch
                computed.keys.append(row.key)
                let cells = batch.appendRow(key: row.key, version: row.version, entity: row.entity, slots: assignments.count)
                for (position, evaluator) in evaluators.enumerated() {
                    let slot = assignments[position].slot, value = evaluator.value(row, related)
                    do throws(QueryError) { try evaluator.throwFailure() } catch { throw StorageError(error) }
                    if value.isNull, isRequired(slot) { throw missing(slot, [row.key]) }
                    if description.slots[slot].attribute?.crossReference != nil { references[slot, default: []].insert(value) }
                    do throws(ValueError) {
                        let number = Self.number(value, schema[row.entity].slots[slot].type)
                        cells[position] = batch.cell(for: try schema[row.entity].normalise(number, slot: slot))
                    } catch {
                        throw StorageError(error)
                    }
                }
                try related.throwFailure()
            }
        }
        for (slot, values) in references.sorted(by: { $0.key < $1.key }) {
            try context.checkReferences(values, in: slot, of: description)
        }
        return max(rows.copiedBytes, computed.bytes - bytesBefore)
    }

    /// Converts a number to the type of its attribute if that loses nothing.
    private static func number(_ value: Value, _ type: ValueType) -> Value {
        switch type {
        case .float, .double: if case .int(let number) = value { .double(Double(number)) } else { value }
        case .int16, .int32, .int64:
            if case .double(let number) = value, let integer = Int64(exactly: number) { .int(integer) } else { value }
        case .bool, .decimal, .string, .date, .uuid, .url, .data: value
        }
    }

    // MARK: Deleting

    /// Whether deleting rows of the plan changes nothing else: no delete rule applies, and no relationship or reference involves them.
    var isDeletionAlone: Bool {
        let family = description.family
        func isConcerned(_ entity: EntityIndex) -> Bool { schema[entity].family.contains(where: family.contains) }
        for other in schema.descriptions {
            for slot in other.slots { if let destination = slot.destination, isConcerned(destination) { return false } }
        }
        for link in schema.links where isConcerned(link.owner) || isConcerned(link.member) { return false }
        for reference in context.model.references where isConcerned(reference.entity) || isConcerned(reference.destination) { return false }
        for entity in family {
            for relationship in schema[entity].relationships where relationship.relationship.deleteRule != .nullify { return false }
        }
        return true
    }

    mutating func delete(in store: Int) throws(StorageError) {
        guard let sessions = context.sessions else { throw SessionPool.ended }
        if isPlain, let keys = try sessions.deleteAll(plan, in: store) {
            for (_, keys) in keys { try took(keys, store, nil) }
            return
        }
        var keys = KeyBlocks(try matching(store)[...], most: Self.mostRows)
        while let block = keys.next() {
            var deletions: [EntityIndex: [RowDeletion]] = [:]
            try context.withReader(store) { reader throws(StorageError) in
                let rows = RowBatch(capacity: block.count)
                try reader.rows(description.root, keys: block, SlotMask(), into: rows)
                for index in 0..<rows.count {
                    let row = rows.row(index)
                    deletions[row.entity, default: []].append(RowDeletion(key: row.key, version: row.version))
                }
                keys.adapt(to: rows)
            }
            let changes = deletions.sorted { $0.key < $1.key }.map { EntityChanges(entity: $0.key, deletes: $0.value) }
            try sessions.apply(ChangeSet(entities: changes), to: store)
            try took(block, store, nil)
        }
    }

    // MARK: Completed writes

    /// Records written rows for the history, observers and metrics, and updates living objects.
    ///
    /// - Parameter assigned: The slots that were assigned, or nil if the rows were deleted.
    private mutating func took(_ keys: [Int64], _ store: Int, _ assigned: SlotMask?) throws(StorageError) {
        guard let tracker = context.tracker else { return }
        count += keys.count
        tracker.written.rows.isWritten = true
        guard let assigned else {
            tracker.written.rows.counts.deleted += keys.count
            // They stay in the identity map, so that they are restored when this part of the transaction is undone.
            let map = context.identityMap(description.root, store)
            for object in keys.compactMap(map.find) {
                object._flags |= ManagedObject.Flags.deleted
                object._dirty = 0
                tracker.written.gone.append(object)
            }
            return
        }
        tracker.written.rows.counts.updated += keys.count
        tracker.assign(assigned, of: keys, in: context.identityMap(description.root, store))
        try context.refresh(Set(keys), description.root, store)
        // Whether a required value is missing was checked when the values were computed.
        let checked = Set(description.family.filter { context.model.isChecked($0, at: assigned) })
        if checked.isEmpty { return }
        for object in try context.objects(plan.entity, keys, store) where checked.contains(Int(object._entity)) {
            tracker.written.unchecked.append(object)
        }
    }
}

extension CheckedNode {
    /// Whether the node is a text that no attribute can have, because it contains U+0000.
    fileprivate var isUnstorable: Bool {
        if case .expression(.value(.string(let text), _)) = self { text.utf8.contains(0) } else { false }
    }
}
