package import PolystoreStorage

/// The contents that a transfer would copy, found by reading the source completely.
package struct TransferPlan {
    /// The rows of a hierarchy, or the pairs of a link table.
    package struct Item {
        /// The name of the root entity or of the link table.
        package let name: String
        /// The number of rows or pairs; after an error that of the pairs before it.
        package let count: Int
        /// The size of the values that were read, in bytes: the length of texts and data, and eight for any other value, key and version.
        package let bytes: Int
        /// The error of the first row that cannot be read; nil if all can.
        package let problem: StorageError?
    }

    /// An attribute with another type.
    package struct Cast {
        /// The path of the attribute in the source.
        package let path: String
        /// The type in the source, as the model names it, with `?` if the attribute is optional.
        package let type: String
        /// The type in the target, in the same form.
        package let newType: String
        /// The number of values without an exact equivalent.
        package let count: Int
    }

    /// All hierarchies, then all link tables, with their names in the target, and the history if the options include it.
    package let items: [Item]
    /// The declarations with another name, as paths in the source and in the target.
    package let renames: [(path: String, newPath: String)]
    /// The attributes with another type.
    package let casts: [Cast]
    /// The reasons to refuse values that have no exact equivalent.
    package let refusals: [String]
    /// The number of references that would become nil, by relationship.
    package let removedReferences: [String: Int]
    /// The number of members of one-to-many relationships that the target would not have, by relationship.
    package let omittedMembers: [String: Int]
    /// The number of transactions of the history that would be copied; nil if the options do not include them.
    package let transactions: Int?
    /// The number of rows that would be left out, by entity of the target.
    package let rejected: [String: Int]

    /// Reads the objects that a transfer would copy.
    ///
    /// - Parameter target: The target, if its objects remain.
    /// - Throws: Errors of the options.
    package init(
        _ reader: ReadSession, to target: ReadSession?, _ options: TransferOptions, _ limit: WorkLimit?, _ report: TransferEngine.Report
    ) throws(StorageError) {
        try options.check()
        // A target without objects gets a copy.
        let target = try target.flatMap { target throws(StorageError) in try Contents(target).isEmpty() ? nil : target }
        let model: MappedModel? = options.mapping.isEmpty ? nil : try MappedModel(options.mapping, of: reader.schema)
        let rejects = RejectedRows(options, reader.store)
        var scope = try TransferScope(options, from: reader, to: target, model, rejecting: rejects, limit)
        try rejects?.leaveOut(of: &scope, options, reader, target, model, limit)
        rejected = rejects?.counts ?? [:]
        var changed = ChangedValues()
        do throws(StorageError) {
            changed = try reader.attempt { () throws(StorageError) in try ChangedValues(model, scope, reader, limit) }
        } catch {
            // A row that cannot be read is a problem of its table.
            if error.code == .cancelled || error.isRetryable { throw error }
        }
        renames = model?.renames ?? []
        casts = (model?.changedAttributes ?? []).map { Cast($0, changed.counts[$0.path] ?? 0) }
        refusals = ([try options.refusal(of: reader)].compactMap(\.self) + changed.refusals(options.acceptedLosses)).map(\.message)
        let contents = Contents(reader, scope, model, accepting: nil), schema = contents.schema
        removedReferences = scope.removedReferences
        omittedMembers = options.selection.isAll ? [:] : try scope.omittedMembers(reader, limit)
        var items: [Item] = [], allDone = 0, totals: [EntityIndex: Int] = [:]
        for root in schema.roots { totals[root] = try contents.count(root) }
        let allTotal = totals.values.reduce(0, +)
        for root in schema.roots {
            let name = schema.entities[root].name
            let item = try Self.item(name) { count, bytes throws(StorageError) in
                _ = try contents.rows(root) { batch throws(StorageError) in
                    try limit?.check()
                    count += batch.count
                    for index in 0..<batch.count {
                        let row = batch.row(index)
                        bytes += 16 + schema[row.entity].slots.indices.reduce(0) { $0 + Self.size(row[$1]) }
                    }
                    if options.existing == .append, let target { try Self.check(batch, root, areMissingIn: target) }
                    report(
                        TransferProgress(name: name, done: count, total: totals[root] ?? 0, allDone: allDone + count, allTotal: allTotal))
                }
            }
            allDone += item.count
            items.append(item.problem == nil ? item : Item(name: name, count: totals[root] ?? 0, bytes: item.bytes, problem: item.problem))
        }
        for link in schema.links.indices {
            items.append(
                try Self.item(schema.links[link].name) { count, bytes throws(StorageError) in
                    _ = try contents.links(link) { pairs throws(StorageError) in
                        try limit?.check()
                        count += pairs.count
                        bytes += 24 * pairs.count
                    }
                })
        }
        if options.includesHistory {
            items.append(
                try Self.item(PastTransactions.table) { count, bytes throws(StorageError) in
                    try PastTransactions(reader, limit).forEachPart { entries in
                        var digest = Digest()
                        let size = entries.reduce(0) { $0 + digest.add($1) }
                        count += entries.count
                        bytes += size
                        return size
                    }
                })
        }
        transactions = options.includesHistory ? items.last?.count : nil
        self.items = items
    }

    private static func check(_ batch: RowBatch, _ root: EntityIndex, areMissingIn target: ReadSession) throws(StorageError) {
        let present = RowBatch(capacity: batch.count)
        try target.rows(root, keys: (0..<batch.count).map(batch.key), into: present)
        if present.count == 0 { return }
        let name = target.schema.entities[present.row(0).entity].name
        throw StorageError(.alreadyExists, "object \(present.key(0)) of \(name) exists in the target", details: .init(entity: name))
    }

    private static func size(_ cell: Cell) -> Int {
        switch cell.kind {
        case .null: 0
        case .int, .real: 8
        case .text, .blob: Int(cell.length)
        }
    }

    private static func item(
        _ name: String, _ read: (_ count: inout Int, _ bytes: inout Int) throws(StorageError) -> Void
    ) throws(StorageError) -> Item {
        var count = 0, bytes = 0, problem: StorageError?
        do throws(StorageError) { try read(&count, &bytes) } catch {
            if error.code == .cancelled || error.isRetryable { throw error }
            problem = error
        }
        return Item(name: name, count: count, bytes: bytes, problem: problem)
    }
}

extension TransferPlan.Cast {
    fileprivate init(_ attribute: MappedModel.ChangedAttribute, _ count: Int) {
        self.init(path: attribute.path, type: attribute.type, newType: attribute.newType, count: count)
    }
}
