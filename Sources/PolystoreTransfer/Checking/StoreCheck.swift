internal import PolystoreStorage

/// Checks a store as a whole: that its rows can be decoded, that references and pairs have destinations, that both ends of a relationship
/// and each index agree with the rows, and that the history can be read.
///
/// It reads everything about three times. The memory that it needs is that of the gaps between the primary keys.
struct StoreCheck {
    let session: ReadSession
    let limit: WorkLimit?
    /// The keys of each hierarchy, and of each entity of a hierarchy with several.
    private var keys: [EntityIndex: KeySet] = [:]
    private var entityKeys: [EntityIndex: KeyBitmap] = [:]
    private var counts: [EntityIndex: Int] = [:]
    var schema: Schema { session.schema }

    /// The number of objects that are looked up at once.
    static let blockSize = 1024

    init(_ session: ReadSession, _ limit: WorkLimit?) {
        self.session = session
        self.limit = limit
    }

    /// Passes each violation to `body`.
    mutating func findings(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        try objectFindings(body)
        for description in schema.descriptions { try checkIndexes(description, body) }
        try checkHistory(body)
    }

    /// Passes each violation of the objects and their relationships to `body`, apart from indexes and the history.
    mutating func objectFindings(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        for root in schema.roots { try checkRows(root, body) }
        for root in schema.roots { try checkReferences(root, body) }
        for link in schema.links.indices { try checkPairs(link, body) }
        for root in schema.roots { try checkOrders(root, body) }
    }

    /// Returns whether an object of an entity or one of its sub-entities exists.
    func exists(_ key: Int64, _ entity: EntityIndex) -> Bool {
        let root = schema[entity].root, family = schema[entity].family
        if family.count == schema[root].family.count { return keys[root]?.contains(key) ?? false }
        return family.contains { entityKeys[$0]?.contains(key) ?? false }
    }

    func name(_ entity: EntityIndex) -> String { schema.entities[entity].name }

    /// Checks that each value of each row can be decoded and that required values are not nil, and collects the keys.
    private mutating func checkRows(
        _ root: EntityIndex, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let hasSubentities = schema[root].family.count > 1
        var found = KeySet(), count = 0
        var scan = try RowScan(session, root)
        while let key = scan.key {
            count += 1
            if count % Self.blockSize == 0 { try limit?.check() }
            found.append(key)
            if hasSubentities { entityKeys[scan.entity, default: KeyBitmap()].insert(key) }
            for (index, slot) in schema[scan.entity].slots.enumerated() {
                if let sentence = Self.violation(scan.cell(index), slot) {
                    try body(CheckFinding(name(scan.entity), key, slot.name, sentence))
                }
            }
            try scan.advance()
        }
        keys[root] = found
        let counted = try Contents(session).count(root)
        counts[root] = count
        if counted != count {
            try body(CheckFinding(name(root), nil, nil, "the store counts \(counted) objects but has \(count)"))
        }
    }

    /// Returns a sentence for a cell that violates the type of its slot or is nil although required.
    private static func violation(_ cell: Cell, _ slot: Slot) -> String? {
        guard let value = Value(cell, as: slot.type) else { return "the value contains ill-formed bytes" }
        guard value.isNull, let attribute = slot.attribute, !attribute.isOptional else { return nil }
        return "the attribute is required but nil"
    }

    /// Checks that references have destinations, and that the other end of a one-to-one relationship refers back.
    private func checkReferences(
        _ root: EntityIndex, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        var scan = try RowScan(session, root), partners = CheckedPartners(self)
        while let key = scan.key {
            for (index, slot) in schema[scan.entity].slots.enumerated() {
                guard let destination = slot.destination, !scan.cell(index).isNull else { continue }
                let other = scan.cell(index).int
                if !exists(other, destination) {
                    try body(
                        CheckFinding(
                            name(scan.entity), key, slot.name, "refers to object \(other) of \(name(destination)), which does not exist"))
                } else if let inverse = inverseSlot(scan.entity, slot) {
                    try partners.add(name(scan.entity), slot.name, key, other, destination, inverse, body)
                }
            }
            try scan.advance()
        }
        try partners.flush(body)
    }

    /// Returns the slot of the destination that is the other end of a one-to-one relationship.
    private func inverseSlot(_ entity: EntityIndex, _ slot: Slot) -> Int? {
        guard case .toOne(let relationship, let destination) = slot.content, let name = relationship.inverse,
            case .slot(let inverse)? = schema[destination].relationship(name)?.place
        else { return nil }
        return inverse
    }

    /// Checks that each index returns the objects of its entity, all of them and each once.
    private func checkIndexes(
        _ description: EntityDescription, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let indexed = Set(description.indexes.compactMap(\.first) + description.uniqueConstraints.compactMap(\.slots.first))
        if indexed.isEmpty { return }
        let expected = try keyDigest(description, orderedBy: nil)
        for slot in indexed.sorted() where description.slots[slot].attribute != nil {
            let property = description.slots[slot].name
            if try keyDigest(description, orderedBy: property) != expected {
                try body(CheckFinding(description.name, nil, property, "the index has other objects than the table"))
            }
        }
    }

    private func keyDigest(_ description: EntityDescription, orderedBy property: String?) throws(StorageError) -> Digest {
        var plan: FetchPlan
        do throws(QueryError) {
            let order = property.map { [OrderTerm(PropertyPath([$0]))] } ?? []
            plan = try ObjectRequest(description.name, orderBy: order).plan(in: schema)
        } catch { throw StorageError(error) }
        plan.fields = .keysOnly
        var digest = Digest()
        let cursor = try session.cursor(for: plan), batch = RowBatch(capacity: Self.blockSize)
        while try cursor.next(into: batch) {
            try limit?.check()
            for index in 0..<batch.count { digest.add(LinkPair(owner: batch.key(index), rank: 0, member: 0), position: 0) }
        }
        return digest
    }

    /// Checks that the history can be read, in ascending order of its positions.
    private func checkHistory(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        guard session.store.capabilities.contains(.history) else { return }
        var last: HistoryToken?
        while true {
            try limit?.check()
            let entries = try session.history(since: last, limit: 256)
            guard let newest = entries.last?.token else { return }
            for entry in entries {
                if let last, entry.token.position <= last.position {
                    try body(CheckFinding("history", entry.token.position, nil, "the position does not follow the one before"))
                }
                last = entry.token
            }
            last = newest
        }
    }
}
