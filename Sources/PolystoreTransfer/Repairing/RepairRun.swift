internal import PolystoreStorage

/// Makes the changes of a repair, each part in a transaction of its own.
struct RepairRun {
    /// The author of the transactions in the history.
    static let author = "polystore check --repair"

    private let store: OpenStore
    private let repair: StoreRepair
    private let limit: WorkLimit?
    /// The token of the newest transaction that is known.
    private var token: HistoryToken?
    /// The versions that the repair gives to rows.
    private let versions: [RepairStep.Row: Int64]

    init(_ store: OpenStore, _ repair: StoreRepair, _ limit: WorkLimit?) {
        self.store = store
        self.repair = repair
        self.limit = limit
        token = repair.token
        let steps = repair.steps[.versions] ?? []
        versions = Dictionary(
            steps.compactMap { step in if case .setVersion(let row, let version) = step { (row, version) } else { nil } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Makes all changes.
    ///
    /// - Parameter report: Called after each part.
    /// - Returns: The number of changes.
    mutating func run(_ report: (String) -> Void) throws(StorageError) -> Int {
        var count = 0
        for part in repair.steps.keys.sorted() {
            guard let steps = repair.steps[part] else { continue }
            let writer = try store.beginWrite(WriteOptions(limit: limit))
            defer { writer.end() }
            try Peers(writer).checkIsAlone()
            if try writer.currentToken()?.position ?? 0 != token?.position ?? 0 { throw Self.changed }
            try make(part, steps, writer)
            if part == lastOfRows { try completeIndexes(writer) }
            token = try writer.commit(CommitRecord(author: Self.author)) ?? token
            count += steps.count
            report(part.summary(steps.count))
        }
        return count
    }

    /// The last part that changes or removes what can prevent an index.
    private var lastOfRows: RepairPart? { repair.steps.keys.filter { [.versions, .rows, .members, .objects].contains($0) }.max() }

    private static let changed = StorageError(
        .staleObject, "another program has changed the store since it was checked; run the command again")

    private func make(_ part: RepairPart, _ steps: Set<RepairStep>, _ writer: WriteSession) throws(StorageError) {
        let changes = RepairChanges(writer.schema, versions)
        switch part {
        case .indexes:
            for case .rebuildIndexes(let table) in steps { try writer.rebuildIndexes(of: table) }
        case .versions:
            for case .setVersion(let row, let version) in steps { try writer.setVersion(row.entity, key: row.key, to: version) }
        case .rows: try removeRows(steps, writer)
        case .counters:
            for case .raiseKeys(let root, let key) in steps { try writer.raiseKeys(root, above: key) }
        case .references: try changes.updates(steps) { changes throws(StorageError) in try apply(changes, writer) }
        case .members: try apply(changes.members(steps, writer), writer)
        case .objects: try changes.deletions(steps) { changes throws(StorageError) in try apply(changes, writer) }
        case .history:
            for case .purgeHistory(let position) in steps {
                try writer.purgeHistory(through: HistoryToken(store: store.storeID, position: position))
            }
        }
    }

    /// Makes what rows have prevented until they were changed or removed.
    private func completeIndexes(_ writer: WriteSession) throws(StorageError) {
        for case .rebuildIndexes(let table) in repair.steps[.indexes] ?? [] { try writer.rebuildIndexes(of: table, onlyBlocked: true) }
    }

    private func apply(_ changes: ChangeSet, _ writer: WriteSession) throws(StorageError) {
        try limit?.check()
        if !changes.isEmpty { try writer.apply(changes) }
    }

    private func removeRows(_ steps: Set<RepairStep>, _ writer: WriteSession) throws(StorageError) {
        var roots: Set<EntityIndex> = []
        for case .removeRow(let root, let key) in steps {
            try writer.removeUnreadableRow(root, key: key)
            roots.insert(root)
        }
        // An engine that does not decode the row cannot find its entries.
        for root in roots.sorted() { try writer.rebuildIndexes(of: writer.schema.entities[root].name) }
    }
}
