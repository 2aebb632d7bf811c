internal import PolystoreStorage

/// A copy of objects to new tables as a person would declare them in SQL.
struct TableCopy {
    private static let greatestKey: Int64 = 1 << 62

    /// The tables.
    let tables: PlainTables
    private let storage: any PlainTablesStorage
    private let work: TransferWork
    private let contents: Contents
    private let scope: TransferScope
    private let limit: WorkLimit?
    /// The position of the table of each entity.
    private let positions: [EntityIndex: Int]

    /// - Throws: `invalidConfiguration` for options that do not fit.
    init(_ work: TransferWork, _ storage: any PlainTablesStorage, _ limit: WorkLimit?) throws(StorageError) {
        guard work.options.existing == .fail, let scope = work.scope else {
            throw StorageError(
                .invalidConfiguration, "a transfer to plain tables makes new tables, so the only choice for existing ones is fail")
        }
        if !work.options.mapping.isEmpty {
            throw StorageError(
                .invalidConfiguration,
                "a transfer to plain tables keeps names and types; transfer to a store with the mapping, and from there to plain tables")
        }
        self.work = work
        self.storage = storage
        self.scope = scope
        self.limit = limit
        contents = Contents(work.reader, scope)
        let tables = storage.plainTables(work.reader.schema)
        self.tables = tables
        positions = Dictionary(uniqueKeysWithValues: tables.tables.indices.map { (tables.tables[$0].entity, $0) })
    }

    private var accepted: Set<String> { work.options.acceptedLosses }
    private var schema: Schema { tables.schema }

    // MARK: Refusals

    /// Returns the reasons that prevent the copy: parts of the model, and values that the tables cannot store exactly.
    func refusals() throws(StorageError) -> [StorageError] {
        var errors: [StorageError] = []
        for refusal in tables.refusals {
            guard let loss = refusal.loss else {
                errors.append(StorageError(.unsupported, refusal.text))
                continue
            }
            if accepted.contains(loss) { continue }
            errors.append(StorageError(.dataLossRefused, "\(refusal.text); accept the loss with --accept-loss '\(loss)'"))
        }
        for root in schema.roots { errors += try inexactValues(root) }
        return errors
    }

    /// Returns an error for each column that cannot store all values of a hierarchy exactly.
    private func inexactValues(_ root: EntityIndex) throws(StorageError) -> [StorageError] {
        var checked: [EntityIndex: [PlainTables.Column]] = [:]
        for entity in schema[root].family {
            guard let position = positions[entity] else { continue }
            let columns = tables.tables[position].columns.filter { $0.stores != nil && !accepted.contains($0.loss) }
            if !columns.isEmpty { checked[entity] = columns }
        }
        if checked.isEmpty { return [] }
        var found: [String: (count: Int, key: Int64)] = [:]
        try contents.batches(root) { batch throws(StorageError) in
            try limit?.check()
            for index in 0..<batch.count {
                let row = batch.row(index)
                for column in checked[row.entity] ?? [] where column.stores?(row[column.slot]) == false {
                    let earlier = found[column.loss]
                    found[column.loss] = (count: (earlier?.count ?? 0) + 1, key: earlier?.key ?? row.key)
                }
            }
        }
        return found.sorted { $0.key < $1.key }.map { loss, values in
            var details = StorageError.Details()
            details.keys = [values.key]
            return StorageError(
                .dataLossRefused,
                "\(values.count) values of \(loss) cannot be stored exactly by the target (the first is that of object \(values.key)); "
                    + "accept the nearest values with --accept-loss '\(loss)'", details: details)
        }
    }

    // MARK: Copying

    /// Makes the tables, copies the rows and pairs, compares them, and commits.
    func run(_ report: @escaping TransferEngine.Report) throws(StorageError) -> TransferReport {
        var totals: [String: Int] = [:]
        for root in schema.roots { totals[schema.entities[root].name] = try contents.count(root) }
        let progress = WorkProgress(totals, report)
        let writer = try storage.beginTables(tables, accepting: accepted, WriteOptions(limit: limit))
        defer { writer.end() }
        let sides = OneToOneSides(tables)
        var result = TransferReport(), greatest: [EntityIndex: Int64] = [:]
        result.removedReferences = scope.removedReferences
        if !work.options.selection.isAll { result.omittedMembers = try scope.omittedMembers(work.reader, limit) }
        for root in schema.roots { result.items.append(try copyRows(root, to: writer, &greatest, sides, progress)) }
        for position in tables.pairs.indices { result.items.append(try copyPairs(position, to: writer, &result)) }
        try sides.check()
        try limit?.check()
        var nextKeys: [Int64] = []
        for table in tables.tables {
            let root = schema[table.entity].root
            nextKeys.append(max(try work.reader.nextKey(root) ?? 1, (greatest[root] ?? 0) + 1))
        }
        try writer.finish(nextKeys: nextKeys)
        if work.options.verifies {
            try verify(result.items, writer.copy())
            result.isVerified = true
        }
        try writer.commit()
        return result
    }

    private func copyRows(
        _ root: EntityIndex, to writer: any PlainTablesWriter, _ greatest: inout [EntityIndex: Int64], _ sides: OneToOneSides,
        _ progress: WorkProgress
    ) throws(StorageError) -> TransferItem {
        let name = schema.entities[root].name, digest = RowDigest(self, schema[root].family)
        try contents.batches(root) { batch throws(StorageError) in
            try limit?.check()
            var start = 0
            while start < batch.count {
                let entity = batch.row(start).entity
                var end = start
                while end < batch.count, batch.row(end).entity == entity {
                    greatest[root] = max(greatest[root] ?? 0, try key(batch.row(end)))
                    digest.add(batch.row(end), as: entity)
                    sides.add(batch.row(end))
                    end += 1
                }
                guard let table = positions[entity] else {
                    throw StorageError(.corrupted, "the source returned an object of the abstract entity \(schema[entity].name)")
                }
                try writer.load(table, batch, start..<end)
                start = end
            }
            progress.add(batch.count, of: name)
        }
        return TransferItem(name: name, digest: digest.digest)
    }

    private func key(_ row: borrowing RowView) throws(StorageError) -> Int64 {
        if row.key <= Self.greatestKey, row.key >= -Self.greatestKey { return row.key }
        throw StorageError(
            .unsupported, "the key \(row.key) of an object of \(schema[row.entity].name) is too large for a table of another program",
            details: .init(entity: schema[row.entity].name, keys: [row.key]))
    }

    private func copyPairs(
        _ position: Int, to writer: any PlainTablesWriter, _ result: inout TransferReport
    ) throws(StorageError) -> TransferItem {
        let link = tables.pairs[position].link, name = schema.links[link].name
        var digest = Digest()
        let omitted = try contents.pairs(link) { pairs throws(StorageError) in
            try limit?.check()
            // The tables have no order.
            for pair in pairs { digest.add(pair, position: 0) }
            try writer.load(pairs: position, pairs)
        }
        if omitted > 0 { result.omittedMembers[name] = omitted }
        return TransferItem(name: name, digest: digest)
    }

    // MARK: Comparing

    /// Compares the tables, as they are read from the database of another program, with what was copied.
    private func verify(_ items: [TransferItem], _ copy: PlainCopy) throws(StorageError) {
        defer { copy.reader.end() }
        var found: [TransferItem] = []
        for root in schema.roots {
            let digest = RowDigest(self, schema[root].family)
            for entity in schema[root].family {
                if let position = positions[entity] { try add(copy, position, to: digest) }
            }
            found.append(TransferItem(name: schema.entities[root].name, digest: digest.digest))
        }
        for (position, pairs) in tables.pairs.enumerated() {
            var digest = Digest()
            let place = copy.pairs[position]
            try copy.reader.links(place.link, side: .owner, keys: nil) { pairs throws(StorageError) in
                try limit?.check()
                for pair in pairs {
                    digest.add(place.isTurned ? LinkPair(owner: pair.member, rank: 0, member: pair.owner) : pair, position: 0)
                }
            }
            found.append(TransferItem(name: schema.links[pairs.link].name, digest: digest))
        }
        guard let different = zip(items, found).first(where: { $0 != $1 })?.0.name else { return }
        throw StorageError(.corrupted, "\(different) differs after the copy; nothing was committed")
    }

    private func add(_ copy: PlainCopy, _ position: Int, to digest: RowDigest) throws(StorageError) {
        let place = copy.tables[position], entity = tables.tables[position].entity
        let cursor = try copy.reader.cursor(for: FetchPlan(copy.schema, place.entity)), batch = RowBatch(capacity: 4096)
        while try cursor.next(into: batch) {
            try limit?.check()
            for index in 0..<batch.count { digest.add(batch.row(index), as: entity, slots: place.slots) }
        }
    }

    /// The digest of the rows of a hierarchy, without the values that are stored approximately and those that have no column.
    private final class RowDigest {
        private(set) var digest = Digest()
        private let names: [EntityIndex: UInt64]
        /// For each entity, the columns that are compared, and the slots that they store.
        private let compared: [EntityIndex: [(column: Int, slot: Int)]]
        private let scratch = RowBatch(capacity: 1)

        init(_ copy: TableCopy, _ family: [EntityIndex]) {
            var names: [EntityIndex: UInt64] = [:], compared: [EntityIndex: [(column: Int, slot: Int)]] = [:]
            for entity in family {
                guard let position = copy.positions[entity] else { continue }
                names[entity] = Digest.number(of: copy.schema.entities[entity].name)
                let columns = copy.tables.tables[position].columns
                compared[entity] = columns.indices.filter { columns[$0].stores == nil || !copy.accepted.contains(columns[$0].loss) }.map {
                    ($0, columns[$0].slot)
                }
            }
            self.names = names
            self.compared = compared
        }

        /// Adds a row as one of an entity.
        ///
        /// - Parameter slots: The slots of the row that have the values of the columns; nil if they are those of the entity.
        func add(_ row: borrowing RowView, as entity: EntityIndex, slots: [Int]? = nil) {
            guard let compared = compared[entity] else { return }
            scratch.clear()
            let cells = scratch.appendRow(key: row.key, version: 1, entity: entity, slots: compared.count)
            for (index, place) in compared.enumerated() { cells[index] = row[slots?[place.column] ?? place.slot] }
            digest.add(scratch.row(0), entityName: names[entity] ?? 0, slots: compared.count)
        }
    }
}
