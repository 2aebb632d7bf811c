internal import PolystoreStorage

/// Writes the lines of an archive to a store.
struct ArchiveRestoration {
    private let writer: WriteSession
    private let schema: Schema
    private let names: [UInt64]
    private var digests: [String: Digest] = [:]
    private let batch = RowBatch(capacity: 4096)
    private var positions: [EntityIndex: [ExactText: Int]] = [:]
    /// The digest of the history so far.
    private(set) var history = Digest()
    /// Whether the history is restored.
    private let restoresHistory: Bool
    /// The owner of the pair that was read last, and the position of that pair among the members of the owner.
    private var lastOwner: (link: Int, key: Int64, position: Int)?

    init(_ writer: WriteSession, restoresHistory: Bool) {
        self.writer = writer
        self.restoresHistory = restoresHistory
        schema = writer.schema
        names = schema.entities.map { Digest.number(of: $0.name) }
    }

    /// The digest of each table, in the order of the schema.
    var items: [TransferItem] {
        (schema.roots.map { schema.entities[$0].name } + schema.links.map(\.name)).map {
            TransferItem(name: $0, digest: digests[$0] ?? Digest())
        }
    }

    /// Returns the number of restored rows of a table.
    func rows(of table: String) -> Int { table == ArchiveFormat.historyTable ? history.count : digests[table]?.count ?? 0 }

    /// Writes the lines of a block of the history, or only adds them to its digest.
    mutating func addHistory(_ lines: [[JSONMember]]) throws(ArchiveProblem) {
        var entries: [HistoryEntry] = []
        for line in lines {
            guard case .entry(let entry)? = ArchiveLine(line), let transaction = entry.transaction(schema) else {
                throw .damaged("a line is no transaction of the history")
            }
            entry.add(to: &history)
            entries.append(transaction)
        }
        if !restoresHistory { return }
        do throws(StorageError) { try writer.restoreHistory(entries) } catch { throw .storage(error) }
    }

    /// Writes the lines of a block.
    mutating func add(_ lines: [[JSONMember]], of table: String) throws(ArchiveProblem) {
        if let root = schema.index(of: table), schema[root].root == root { return try addRows(lines, root, table) }
        guard let link = schema.links.firstIndex(where: { $0.name == table }) else {
            throw .damaged("the model has no table \"\(table.excerpt())\"")
        }
        var pairs: [LinkPair] = []
        for line in lines {
            guard case .pair(table, let pair)? = ArchiveLine(line) else { throw .damaged("a line is no pair of the table") }
            pairs.append(pair)
            addDigest(of: pair, link, table)
        }
        do throws(StorageError) { try writer.load(link: link, pairs) } catch { throw .storage(error) }
    }

    private mutating func addDigest(of pair: LinkPair, _ link: Int, _ table: String) {
        var position = 0
        if let last = lastOwner, last.link == link, last.key == pair.owner { position = last.position + 1 }
        lastOwner = (link, pair.owner, position)
        digests[table, default: Digest()].add(pair, position: schema.links[link].isOrdered ? position : 0)
    }

    private mutating func addRows(_ lines: [[JSONMember]], _ root: EntityIndex, _ table: String) throws(ArchiveProblem) {
        var digest = digests[table] ?? Digest()
        for line in lines {
            guard case .row(let name, let key, let version, let properties)? = ArchiveLine(line),
                let entity = schema.index(of: name), schema[entity].root == root, !schema[entity].isAbstract
            else { throw .damaged("a line is no row of the table") }
            let count = schema[entity].slots.count
            let cells = batch.appendRow(key: key, version: version, entity: entity, slots: count)
            cells.initialize(repeating: .null, count: count)
            for property in properties {
                guard let slot = slot(property.name, entity),
                    let value = ValueText.value(property.node.value, as: schema[entity].slots[slot].type)
                else {
                    throw .damaged("\(name.excerpt()) \(key) has a value for \"\(property.name.excerpt())\" that does not fit the model")
                }
                cells[slot] = batch.cell(for: value)
            }
            digest.add(batch.row(batch.count - 1), entityName: names[entity], slots: count)
            if batch.isFull || batch.copiedBytes > 8 << 20 { try flush(root) }
        }
        try flush(root)
        digests[table] = digest
    }

    private mutating func slot(_ name: String, _ entity: EntityIndex) -> Int? {
        if positions[entity] == nil {
            positions[entity] = Dictionary(
                schema[entity].slots.enumerated().map { (ExactText(RowLines.member($1.name)), $0) }, uniquingKeysWith: { first, _ in first }
            )
        }
        return positions[entity]?[ExactText(name)]
    }

    private func flush(_ root: EntityIndex) throws(ArchiveProblem) {
        if batch.count == 0 { return }
        do throws(StorageError) { try writer.load(root, batch) } catch { throw .storage(error) }
        batch.clear()
    }
}
