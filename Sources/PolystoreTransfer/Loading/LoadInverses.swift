internal import PolystoreStorage

/// The other ends of relationships that a load fills: slots of one-to-one relationships, and positions in ordered to-many relationships.
struct LoadInverses {
    /// The slot of a destination that is the other end of a one-to-one relationship.
    private struct End: Hashable {
        let entity: EntityIndex
        let slot: Int
    }

    /// An object that refers to the one that has a slot, and the record that says so.
    private struct Partner {
        let key: Int64
        /// The slot of the reference.
        let slot: Int
        let record: LoadRecord.Place
        /// The name of the file.
        let file: String
    }

    private struct Owner: Hashable {
        let link: Int
        let key: Int64
    }

    /// The objects whose keys are written into each slot, by the key of the object that has the slot.
    private var partners: [End: [Int64: Partner]] = [:]
    /// The objects that slots refer to no longer, with the records that say so, by the key of the object that has the slot.
    private var released: [End: [Int64: [Int64: LoadRecord.Place]]] = [:]
    /// The objects whose own records assign the slot, where a relationship is its own inverse.
    private var kept: [End: Set<Int64>] = [:]
    private var lastRanks: [Owner: Int64] = [:]
    private var pairs: [Int: [LinkPair]] = [:]
    private var removed: [Int: [LinkPair]] = [:]

    /// Records a reference from an object to another.
    ///
    /// - Parameters:
    ///   - record: The record with the reference.
    ///   - file: The name of its file.
    /// - Returns: The record of another object that references the destination; nil if there is none.
    mutating func add(
        _ reference: LoadReference, from key: Int64, to destination: Int64, hasStored: Bool, _ record: LoadRecord.Place,
        ofFile file: String, _ writer: WriteSession
    ) throws(StorageError) -> LoadRecord.Place? {
        switch reference.inverse {
        case .nowhere: return nil
        case .slot(let slot):
            if isOwnInverse(reference) { kept[End(entity: reference.destination, slot: slot), default: []].insert(key) }
            let old = partners[End(entity: reference.destination, slot: slot), default: [:]].updateValue(
                Partner(key: key, slot: reference.slot, record: record, file: file), forKey: destination)
            return old.flatMap { $0.key == key ? nil : $0.record }
        case .order(let link):
            let owner = Owner(link: link, key: destination)
            var last = lastRanks[owner]
            if last == nil, hasStored {
                try writer.links(link, side: .owner, keys: [destination]) { pairs throws(StorageError) in last = pairs.last?.rank ?? last }
            }
            let rank = try NextRank.rank(after: last, of: destination, writer.schema.links[link], writer.schema)
            lastRanks[owner] = rank
            pairs[link, default: []].append(LinkPair(owner: destination, rank: rank, member: key))
            return nil
        }
    }

    private func isOwnInverse(_ reference: LoadReference) -> Bool {
        if case .slot(reference.slot) = reference.inverse { reference.inverseName == reference.name } else { false }
    }

    /// Records that an object refers to another one no longer.
    ///
    /// - Parameter record: The record that says so.
    mutating func remove(_ reference: LoadReference, from key: Int64, to destination: Int64, _ record: LoadRecord.Place) {
        switch reference.inverse {
        case .nowhere: break
        case .slot(let slot):
            let end = End(entity: reference.destination, slot: slot)
            if isOwnInverse(reference) { kept[end]?.remove(key) }
            if partners[end]?[destination]?.key == key { partners[end]?[destination] = nil }
            released[end, default: [:]][destination, default: [:]][key] = record
        case .order(let link): removed[link, default: []].append(LinkPair(owner: destination, rank: 0, member: key))
        }
    }

    /// Returns the records by which the object that a relationship of another one referred to refers to it no longer.
    func releases(of object: LoadClaim.Object, _ relationship: String, _ schema: Schema) -> [LoadRecord.Place] {
        released.filter { end, _ in schema[end.entity].root == object.root && schema[end.entity].slots[end.slot].name == relationship }
            .flatMap { ($0.value[object.key] ?? [:]).values }
    }

    /// Writes the recorded positions in ordered to-many relationships. The rows of both ends must be written before.
    ///
    /// - Parameter isRecorded: Whether the history records them.
    mutating func flush(_ writer: WriteSession, isRecorded: Bool) throws(StorageError) {
        if isRecorded {
            let changes = Set(removed.keys).union(pairs.keys).sorted().map { link in
                LinkChanges(link: link, removed: removed[link] ?? [], added: pairs[link] ?? [])
            }
            if !changes.isEmpty { try writer.apply(ChangeSet(links: changes)) }
            removed.removeAll()
            pairs.removeAll()
        }
        for (link, pairs) in pairs.sorted(by: { $0.key < $1.key }) { try writer.load(link: link, pairs) }
        pairs.removeAll()
    }

    /// Writes the other ends of one-to-one relationships. Returns the claims of objects that refer to others; none if all are released.
    func writePartners(_ writer: WriteSession, _ limit: WorkLimit?) throws(StorageError) -> [LoadClaim] {
        var claims: [LoadClaim] = []
        for end in Set(partners.keys).union(released.keys).sorted(by: { ($0.entity, $0.slot) < ($1.entity, $1.slot) }) {
            let keys = Set(partners[end, default: [:]].keys).union(released[end, default: [:]].keys).sorted()
            for start in stride(from: 0, to: keys.count, by: 1024) {
                try limit?.check()
                try write(end, Array(keys[start..<min(start + 1024, keys.count)]), writer, &claims)
            }
        }
        let isContradicted = claims.contains { if case .isFree = $0.condition { true } else { false } }
        return isContradicted ? claims : []
    }

    private func write(
        _ end: End, _ keys: [Int64], _ writer: WriteSession, _ claims: inout [LoadClaim]
    ) throws(StorageError) {
        let schema = writer.schema, batch = RowBatch(capacity: keys.count)
        try writer.rows(end.entity, keys: keys, into: batch)
        var found: [EntityIndex: [EntityChanges.Reference]] = [:]
        for index in 0..<batch.count {
            let row = batch.row(index), cell = row[end.slot], partner = partners[end]?[row.key]
            let isKept = kept[end]?.contains(row.key) == true, release = isKept ? nil : released[end]?[row.key]?[cell.int]
            let isFree = cell.isNull || cell.int == partner?.key || release != nil
            if let partner, !cell.isNull, cell.int != partner.key {
                claims.append(claim(of: partner, on: row.key, row.entity, end, present: cell.int, release, schema))
                if !isFree { continue }
            }
            if partner == nil, isKept { continue }
            if isFree, cell.isNull ? partner != nil : cell.int != partner?.key {
                found[row.entity, default: []].append((row.key, row.version, partner?.key))
            }
        }
        let changes = found.sorted { $0.key < $1.key }.map { EntityChanges(schema[$0], slot: end.slot, $1) }
        if !changes.isEmpty { try writer.apply(ChangeSet(entities: changes)) }
    }

    /// Returns the claim of a partner on an object of an entity.
    ///
    /// - Parameters:
    ///   - present: The key of the object to which the claimed one refers.
    ///   - release: The record by which this object no longer refers to the claimed one; nil if there is none.
    private func claim(
        of partner: Partner, on key: Int64, _ entity: EntityIndex, _ end: End, present: Int64, _ release: LoadRecord.Place?,
        _ schema: Schema
    ) -> LoadClaim {
        // In this form, because the optimizer of Swift 6.3.1 fails on a shorter one.
        let description = schema[end.entity], partnerRoot = Self.root(of: end, schema)
        let condition: LoadClaim.Condition
        if let release {
            condition = .isReleased(by: release)
        } else {
            let destination = description.slots[end.slot].destination ?? end.entity
            let own = partners[End(entity: destination, slot: partner.slot)]?[present]
            let record = own?.key == key ? own?.record : nil
            condition = .isFree(LoadClaim.Object(root: description.root, key: key), slot: end.slot, record: record)
        }
        let claimed = LoadClaim.Claimed(key: key, entity: schema[entity].name, property: description.slots[end.slot].name)
        return LoadClaim(
            record: partner.record, file: partner.file, object: LoadClaim.Object(root: partnerRoot, key: partner.key), slot: partner.slot,
            condition: condition, claimed: claimed)
    }

    /// Returns the root of the hierarchy to which a slot refers.
    private static func root(of end: End, _ schema: Schema) -> EntityIndex {
        guard let destination = schema[end.entity].slots[end.slot].destination else { return schema[end.entity].root }
        return schema[destination].root
    }
}
