public import PolystoreStorage

/// Copies all contents of one store to another in batches, without creating objects, and compares stores by their digests.
public struct TransferEngine: Sendable {
    /// A closure that receives the progress from time to time.
    public typealias Report = (TransferProgress) -> Void

    private let limit: WorkLimit?

    /// Creates an engine. Its operations end when the limit ends.
    public init(limit: WorkLimit? = nil) { self.limit = limit }

    /// Copies every row and pair, including keys and versions, in one transaction of the target.
    ///
    /// - Parameters:
    ///   - source: An open store.
    ///   - target: An open store with the same schema, which must be empty.
    /// - Returns: The digests of the copied rows and pairs.
    /// - Throws: `alreadyExists` if the target contains rows, `schemaMismatch` if the schemas differ, `peerUnavailable` if the target
    ///   commits together with other stores, `cancelled`. After an error nothing was written to the target.
    public func transfer(
        from source: OpenStore, to target: OpenStore, report: Report = { _ in }
    ) throws(StorageError) -> [TransferItem] {
        let schema = source.schema
        try Self.check(target.schema, takes: schema)
        let reader = try source.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        let contents = Contents(reader)
        var totals: [EntityIndex: Int] = [:]
        for root in schema.roots { totals[root] = try contents.count(root) }
        let writer = try target.beginWrite(WriteOptions(isBulk: true, limit: limit))
        defer { writer.end() }
        try Peers(writer).checkIsAlone()
        try Contents(writer).checkIsEmpty()
        let items = try copy(contents, totals, writer, report)
        _ = try writer.commit(CommitRecord(author: "transfer"))
        return items
    }

    /// Refuses a target whose schema is not that of the source.
    package static func check(_ target: Schema, takes schema: Schema) throws(StorageError) {
        if schema.hash == target.hash { return }
        let difference = SchemaDifference.first(from: target, to: schema)?.description ?? "the hashes differ"
        throw StorageError(
            .schemaMismatch,
            "the target has another schema: \(difference); migrate it to the model of the source first (polystore schema apply), or choose "
                + "a new target")
    }

    private func copy(
        _ contents: Contents, _ totals: [EntityIndex: Int], _ writer: WriteSession, _ report: Report
    ) throws(StorageError) -> [TransferItem] {
        let schema = contents.schema
        var items: [TransferItem] = [], allDone = 0
        let allTotal = totals.values.reduce(0, +)
        for root in schema.roots {
            let name = schema.entities[root].name, total = totals[root] ?? 0
            var done = 0
            let digest = try contents.rows(root) { batch throws(StorageError) in
                try limit?.check()
                do throws(StorageError) { try writer.load(root, batch) } catch  where error.code == .alreadyExists {
                    // The target was empty, so the duplicate comes from the source.
                    throw StorageError(
                        .corrupted, "the source returned an object of \(name) twice, so it is damaged; restore a backup of the source",
                        details: error.details, cause: error)
                }
                done += batch.count
                report(TransferProgress(name: name, done: done, total: total, allDone: allDone + done, allTotal: allTotal))
            }
            allDone += done
            items.append(TransferItem(name: name, digest: digest))
        }
        for link in schema.links.indices {
            let digest = try contents.links(link) { pairs throws(StorageError) in
                try limit?.check()
                try writer.load(link: link, pairs)
            }
            items.append(TransferItem(name: schema.links[link].name, digest: digest))
        }
        return items
    }

    /// Returns the digests of two stores side by side, in the order of the first.
    public func verify(_ first: OpenStore, _ second: OpenStore) throws(StorageError) -> [VerifyItem] {
        let a = try digests(first), b = try digests(second)
        let byName = Dictionary(b.map { ($0.name, $0.digest) }, uniquingKeysWith: { first, _ in first })
        let known = Set(a.map(\.name))
        return a.map { VerifyItem(name: $0.name, first: $0.digest, second: byName[$0.name]) }
            + b.filter { !known.contains($0.name) }.map { VerifyItem(name: $0.name, first: nil, second: $0.digest) }
    }

    /// Passes each object that differs between two stores with the same schema to `body`, in the order of entities and keys.
    ///
    /// Versions are not compared. The memory that this needs does not depend on the number of objects.
    /// - Throws: `schemaMismatch` if the schemas differ; `cancelled`; errors of `body`.
    public func differences(
        between first: OpenStore, and second: OpenStore, _ body: (RowDifference) throws(StorageError) -> Void
    ) throws(StorageError) {
        let a = try first.beginRead(ReadOptions(limit: limit))
        defer { a.end() }
        let b = try second.beginRead(ReadOptions(limit: limit))
        defer { b.end() }
        try StoreComparison(a, b, limit).differences(body)
    }

    /// Checks a store as a whole and passes each violation to `body`: damage that the engine finds, rows that cannot be decoded, required
    /// values that are nil, references and pairs without a destination, ends of a relationship or indexes that disagree with the rows, and a
    /// history that cannot be read.
    ///
    /// - Throws: `corrupted` if the store cannot be read at all; `cancelled`; errors of `body`.
    public func check(_ store: OpenStore, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) { try store.ability((any CheckedStorage).self)?.check() } catch  where error.code == .corrupted {
            try body(CheckFinding("store", nil, nil, error.message))
        }
        let session = try store.beginRead(ReadOptions(limit: limit))
        defer { session.end() }
        var check = StoreCheck(session, limit)
        try check.findings(body)
    }

    private func digests(_ store: OpenStore) throws(StorageError) -> [TransferItem] {
        let reader = try store.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        return try Contents(reader).digests()
    }
}
