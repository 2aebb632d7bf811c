internal import PolystoreStorage

/// Copies objects into a target with objects, in one transaction that the history of the target records.
final class MergingCopy {
    private let contents: Contents
    private let writer: WriteSession
    private let options: TransferOptions
    private let limit: WorkLimit?
    private let progress: WorkProgress
    private let schema: Schema
    /// The rows that the target refuses; nil if the first one ends the copy.
    private let rejects: RejectedRows?
    private let throttle: CopyThrottle
    /// The other ends of one-to-one relationships; nil if the target has them as they are in the source.
    private var ends: MergingEnds?
    /// The greatest key of an inserted object, by hierarchy.
    private var greatest: [EntityIndex: Int64] = [:]

    /// The number of objects that are deleted or compared at once.
    private static let block = 1024

    init(
        _ contents: Contents, _ writer: WriteSession, _ options: TransferOptions, _ limit: WorkLimit?, _ progress: WorkProgress,
        rejecting rejects: RejectedRows? = nil
    ) {
        self.contents = contents
        self.writer = writer
        self.rejects = rejects
        throttle = CopyThrottle(options.pace, limit, progress)
        self.options = options
        self.limit = limit
        self.progress = progress
        schema = contents.schema
    }

    /// Writes everything and checks the result, but does not commit.
    ///
    /// - Returns: Whether nothing was rejected. Otherwise the rows that need the rejected ones are still there, and the copy is made again.
    /// - Throws: `alreadyExists` for an object that exists in the target and must not; `uniqueConstraintViolated`; `validationFailed` if
    ///   references or relationships of the target would be wrong; `corrupted` if the copy differs.
    func run(_ report: inout TransferReport) throws(StorageError) -> Bool {
        try Peers(writer).checkIsAlone()
        defer { report.waited += throttle.waited }
        let known = rejects?.count, violations = try violations()
        // In a target without other objects, all references to objects that are not copied are nil.
        if options.existing == .replace { try deleteOthers() } else { ends = MergingEnds(contents, writer, limit) }
        try write(&report)
        if rejects?.count != known { return false }
        if options.verifies { try verify(report.items) }
        try checkIsWhole()
        try refuseViolations(except: violations)
        return rejects?.count == known
    }

    /// Writes chosen objects into a target that has all others as they are in the source, and deletes objects. The target is not checked as
    /// a whole.
    ///
    /// - Parameters:
    ///   - deleted: The keys of the objects that are deleted, as far as they exist, by hierarchy.
    ///   - links: The link tables that are written.
    func update(deleting deleted: [EntityIndex: KeyBitmap], links: Set<Int>) throws(StorageError) {
        for (root, keys) in deleted.sorted(by: { $0.key < $1.key }) {
            try keys.forEach({ Self.block }) { keys throws(StorageError) in
                try limit?.check()
                try delete(keys, root)
            }
        }
        try deleteObjectsOfOtherEntities()
        var report = TransferReport()
        try write(&report, links)
        if options.verifies { try verify(report.items) }
    }

    /// Writes the objects of the contents and their pairs.
    private func write(_ report: inout TransferReport, _ written: Set<Int>? = nil) throws(StorageError) {
        if options.existing != .append { for root in schema.roots { try setUniqueValuesFree(root) } }
        var items: [TransferItem] = []
        for root in schema.roots {
            let name = schema.entities[root].name
            var digest = Digest()
            try contents.batches(root, capacity: throttle.mostRows, bytes: throttle.mostBytes) { batch throws(StorageError) in
                try limit?.check()
                contents.add(batch, 0..<batch.count, to: &digest)
                try write(batch, root)
                ends?.add(batch, root)
                let bytes = throttle.countsBytes ? contents.bytes(of: batch) : 0
                try throttle.wrote(batch.count, bytes) {}
                progress.add(batch.count, of: name)
            }
            items.append(TransferItem(name: name, digest: digest))
        }
        try ends?.write()
        for (root, key) in greatest.sorted(by: { $0.key < $1.key }) { try writer.raiseKeys(root, above: key) }
        try contents.raiseKeys(of: writer)
        let pairs = MergingPairs(contents, writer, limit)
        for link in schema.links.indices where written?.contains(link) ?? true {
            let (item, omitted) = try pairs.write(link)
            items.append(item)
            if omitted > 0 { report.omittedMembers[contents.sourceName(link: link)] = omitted }
        }
        report.items = items
    }

    // MARK: Unique values

    /// Sets unique values to nil that change, so that objects of different batches can exchange them.
    private func setUniqueValuesFree(_ root: EntityIndex) throws(StorageError) {
        var unique: [EntityIndex: Set<Int>] = [:]
        for entity in schema[root].family { unique[entity] = Set(schema[entity].uniqueConstraints.flatMap(\.slots)) }
        if unique.values.allSatisfy(\.isEmpty) { return }
        try contents.batches(root) { batch throws(StorageError) in
            try limit?.check()
            let present = RowBatch(capacity: batch.count)
            try writer.rows(root, keys: (0..<batch.count).map(batch.key), into: present)
            let positions = Dictionary(uniqueKeysWithValues: (0..<present.count).map { (present.key($0), $0) })
            var updates: [EntityIndex: [SlotMask: [(Int, version: Int64)]]] = [:]
            for index in 0..<batch.count {
                let row = batch.row(index)
                guard let position = positions[row.key], present.row(position).entity == row.entity else { continue }
                let old = present.row(position)
                let mask = SlotMask((unique[row.entity] ?? []).filter { !old[$0].isNull && !row[$0].isIdentical(to: old[$0]) })
                if !mask.isEmpty { updates[row.entity, default: [:]][mask, default: []].append((position, old.version)) }
            }
            let entities = updates.sorted { $0.key < $1.key }.map { entity, updates in
                EntityChanges(
                    entity: entity,
                    updates: updates.map { mask, rows in
                        RowUpdate(mask: mask, checksVersion: true, rows: source(present, entity, SlotMask(), rows))
                    })
            }
            if !entities.isEmpty { try writer.apply(ChangeSet(entities: entities)) }
        }
    }

    // MARK: Rows

    /// Writes the rows of a batch, and rejects those that the target refuses if others may be copied without them.
    private func write(_ batch: RowBatch, _ root: EntityIndex) throws(StorageError) {
        guard let rejects else { return try writeAll(batch, root) }
        try CopyTrial.bisect(batch, 0..<batch.count, writer, contents, rejects, limit) { rows throws(StorageError) in
            try writeAll(rows, root)
        }
    }

    /// Inserts the rows of a batch, or updates those that exist and differ.
    private func writeAll(_ batch: RowBatch, _ root: EntityIndex) throws(StorageError) {
        let present = RowBatch(capacity: batch.count)
        try writer.rows(root, keys: (0..<batch.count).map(batch.key), into: present)
        let positions = Dictionary(uniqueKeysWithValues: (0..<present.count).map { (present.key($0), $0) })
        var inserts: [EntityIndex: [Int]] = [:], updates: [EntityIndex: [SlotMask: [(Int, version: Int64)]]] = [:]
        for index in 0..<batch.count {
            let row = batch.row(index)
            guard let position = positions[row.key] else {
                inserts[row.entity, default: []].append(index)
                greatest[root] = max(greatest[root] ?? .min, row.key)
                continue
            }
            let old = present.row(position)
            if options.existing == .append || old.entity != row.entity { throw exists(row.key, row.entity, old.entity) }
            let mask = SlotMask(schema[row.entity].slots.indices.filter { !row[$0].isIdentical(to: old[$0]) })
            if !mask.isEmpty { updates[row.entity, default: [:]][mask, default: []].append((index, old.version)) }
        }
        let entities = Set(inserts.keys).union(updates.keys).sorted().map { entity in
            EntityChanges(
                entity: entity,
                updates: (updates[entity] ?? [:]).map { mask, rows in
                    RowUpdate(mask: mask, checksVersion: true, rows: source(batch, entity, mask, rows))
                },
                inserts: inserts[entity].map { source(batch, entity, nil, $0.map { ($0, 1) }) })
        }
        if !entities.isEmpty { try writer.apply(ChangeSet(entities: entities)) }
    }

    /// Returns rows of a batch with other versions.
    ///
    /// - Parameter mask: The slots that are written; nil for all.
    private func source(_ batch: RowBatch, _ entity: EntityIndex, _ mask: SlotMask?, _ rows: [(Int, version: Int64)]) -> RowSource {
        let slots = schema[entity].slots.count
        return RowSource(count: rows.count) { range, target in
            for (index, version) in rows[range] {
                let row = batch.row(index)
                let cells = target.appendRow(key: row.key, version: version, entity: entity, slots: slots)
                cells.initialize(repeating: .null, count: slots)
                for slot in 0..<slots where mask?.contains(slot) ?? true { cells[slot] = row[slot] }
            }
        }
    }

    private func exists(_ key: Int64, _ entity: EntityIndex, _ other: EntityIndex) -> StorageError {
        let name = schema.entities[entity].name
        return StorageError(
            .alreadyExists,
            entity == other
                ? "object \(key) of \(name) exists in the target; update existing objects with merge, or leave them out"
                : "object \(key) is one of \(name) in the source and of \(schema.entities[other].name) in the target",
            details: .init(entity: name, keys: [key]))
    }

    // MARK: Deleting

    /// Deletes the objects of the target that the source does not have, and those that are of another entity there.
    private func deleteOthers() throws(StorageError) {
        for root in schema.roots {
            var others = KeyBitmap()
            let plan = FetchPlan(schema, root, fields: .keysOnly)
            let cursor = try writer.cursor(for: plan), batch = RowBatch(capacity: Self.block)
            while try cursor.next(into: batch) {
                try limit?.check()
                let entities = try contents.entities(of: (0..<batch.count).map(batch.key), root)
                for index in 0..<batch.count {
                    let key = batch.key(index), entity = batch.row(index).entity
                    if entities[key] != entity || !contents.isCopied(key, entity) { others.insert(key) }
                }
            }
            try others.forEach({ Self.block }) { keys throws(StorageError) in
                try limit?.check()
                try delete(keys, root)
            }
        }
    }

    /// Deletes copied objects that are of another entity in the target, because their keys were given again.
    private func deleteObjectsOfOtherEntities() throws(StorageError) {
        let copy = Contents(writer)
        for root in schema.roots where schema[root].family.count > 1 {
            try contents.keyBlocks(root, Self.block) { keys throws(StorageError) in
                let wanted = try contents.entities(of: keys, root), found = try copy.entities(of: keys, root)
                let others = keys.filter { key in found[key].map { $0 != wanted[key] } ?? false }
                if !others.isEmpty { try delete(others, root) }
            }
        }
    }

    private func delete(_ keys: [Int64], _ root: EntityIndex) throws(StorageError) {
        var links: [LinkChanges] = []
        for (link, description) in schema.links.enumerated() {
            var removed: [LinkPair] = []
            for (side, entity) in [(LinkSide.owner, description.owner), (.member, description.member)] where schema[entity].root == root {
                try writer.links(link, side: side, keys: keys) { removed += $0 }
            }
            if !removed.isEmpty { links.append(LinkChanges(link: link, removed: removed)) }
        }
        let batch = RowBatch(capacity: keys.count)
        try writer.rows(root, keys: keys, into: batch)
        var deletes: [EntityIndex: [RowDeletion]] = [:]
        for index in 0..<batch.count {
            let row = batch.row(index)
            deletes[row.entity, default: []].append(RowDeletion(key: row.key, version: row.version))
        }
        let entities = deletes.sorted { $0.key < $1.key }.map { EntityChanges(entity: $0, deletes: $1) }
        try writer.apply(ChangeSet(entities: entities, links: links))
    }

    // MARK: Verifying

    /// Compares what was written with what was read.
    private func verify(_ items: [TransferItem]) throws(StorageError) {
        let copy = Contents(writer), progress = progress.verifying()
        if options.existing == .replace { return try BulkCopy.verify(items, copy, progress) }
        for (root, item) in zip(schema.roots, items) {
            var digest = Digest()
            let batch = RowBatch(capacity: Self.block)
            try contents.keyBlocks(root, Self.block) { keys throws(StorageError) in
                try limit?.check()
                batch.clear()
                try writer.rows(root, keys: keys, into: batch)
                copy.add(batch, 0..<batch.count, to: &digest)
                progress.add(batch.count, of: item.name)
            }
            try Self.check(item, digest)
        }
        for item in items.dropFirst(schema.roots.count) {
            guard let link = schema.links.firstIndex(where: { $0.name == item.name }) else { continue }
            let description = schema.links[link]
            var digest = LinkDigest(description)
            try contents.keyBlocks(description.owner, Self.block) { keys throws(StorageError) in
                try writer.links(link, side: .owner, keys: keys) { pairs in for pair in pairs { digest.add(pair) } }
            }
            try Self.check(item, digest.digest)
        }
    }

    private static func check(_ item: TransferItem, _ found: Digest) throws(StorageError) {
        if item.digest == found { return }
        throw StorageError(.corrupted, "\(item.name) differs after the copy; nothing was written")
    }

    // MARK: Members

    /// The to-many relationships of which objects must have some number of members. Fewer are permitted where this loss is accepted.
    private var rules: [RelationshipRule] {
        // The numbers of the target count, which may be others than those of the source.
        writer.schema.descriptions.flatMap { description in
            description.relationships.enumerated().compactMap { position, item -> RelationshipRule? in
                if item.declaredIn != description.index || item.relationship.cardinality == .toOne { return nil }
                let isAccepted = options.acceptedLosses.contains(contents.sourceName(description.index, relationship: position))
                return RelationshipRule(item.relationship, of: description.index, acceptsFewer: isAccepted)
            }
        }
    }

    /// Returns the keys of the objects of the target with too few or too many members, by rule.
    private func violations() throws(StorageError) -> [Set<Int64>] {
        try rules.map { rule throws(StorageError) in
            var keys: Set<Int64> = []
            try rule.violations(writer, limit) { keys.insert($0) }
            return keys
        }
    }

    /// Refuses a target in which objects have too few or too many members, apart from those that had before. Those of the source are rejected
    /// if others may be copied without them, which can change the others.
    private func refuseViolations(except known: [Set<Int64>]) throws(StorageError) {
        let count = rejects?.count
        var refusal: StorageError?
        for (rule, known) in zip(rules, known) {
            try rule.violations(writer, limit) { key throws(StorageError) in
                if known.contains(key) { return }
                let entity = schema[rule.entity].name, root = contents.origin(schema[rule.entity].root)
                if let rejects, !rejects.contains(key, root), try contents.includes(key, rule.entity) {
                    let reason = "\(entity).\(rule.relationship) \(rule.sentence)"
                    return try rejects.add(RejectedRow(entity: entity, key: key, property: rule.relationship, reason: reason, root: root))
                }
                refusal =
                    refusal
                    ?? StorageError(
                        .validationFailed,
                        "the target would not be whole, so nothing was written: \(entity).\(rule.relationship) of object \(key) \(rule.sentence)",
                        details: .init(entity: entity, property: rule.relationship, keys: [key]))
            }
        }
        if let refusal, rejects?.count == count { throw refusal }
    }

    /// Refuses a target in which references lead nowhere, or the two ends of a relationship disagree.
    private func checkIsWhole() throws(StorageError) {
        var check = StoreCheck(writer, limit)
        try check.objectFindings { finding throws(StorageError) in
            throw StorageError(
                .validationFailed, "the target would not be whole, so nothing was written: \(finding)",
                details: .init(entity: finding.table, property: finding.property, keys: finding.key.map { [$0] } ?? []))
        }
    }
}
