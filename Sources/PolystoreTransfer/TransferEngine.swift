public import PolystoreStorage

/// Copies all contents of one store to another in batches, without creating objects, and compares stores by their digests.
public struct TransferEngine: Sendable {
    /// A closure that receives the progress from time to time.
    public typealias Report = (TransferProgress) -> Void

    let limit: WorkLimit?

    /// Creates an engine. Its operations end when the limit ends.
    public init(limit: WorkLimit? = nil) { self.limit = limit }

    /// Copies objects with their primary keys.
    ///
    /// A copy into an empty target keeps the versions of the objects and leaves no entries in the history, except for those of the source if
    /// the options include them. A copy into a target with objects
    /// is one transaction, which the history records; inserted objects have version 1 there.
    ///
    /// - Parameters:
    ///   - source: An open store.
    ///   - target: An open store with the same schema, or with the schema of the options' mapping.
    ///   - options: What is copied, and what happens to the objects of the target. By default everything is copied into an empty target.
    ///   - report: A closure that receives the progress.
    /// - Returns: The digests of the copied rows and pairs.
    /// - Throws: `alreadyExists` if the target contains objects that it must not contain; `schemaMismatch` if the schemas differ;
    ///   `invalidConfiguration` for options that do not fit the schema; `dataLossRefused` for references to objects that are not copied, for
    ///   values that have no exact equivalent of another type, and if other stores may keep changes for the source;
    ///   `validationFailed` if references of the target would be wrong; `peerUnavailable` if the target commits together with other stores;
    ///   `corrupted` if the copy differs; `limitExceeded` if more rows cannot be copied than may be left out; `cancelled`. After an error nothing was written to the target, unless the copy is made in steps.
    ///   `incompleteCopy` if the source has changed since the steps of an interrupted transfer, which then have to be erased.
    public func transfer(
        from source: OpenStore, to target: OpenStore, _ options: TransferOptions = TransferOptions(),
        report: @escaping Report = { _ in }
    ) throws(StorageError) -> TransferReport {
        let work = try begin(from: source, options)
        defer { work.end() }
        return try run(work, to: target, report: report)
    }

    /// Begins to read the source, and finds the objects that are copied if they do not depend on the target.
    ///
    /// - Throws: Errors of the options, before a target is created.
    package func begin(from source: OpenStore, _ options: TransferOptions) throws(StorageError) -> TransferWork {
        try options.check()
        let reader: ReadSession
        if options.includesHistory, source.capabilities.contains(.history) {
            reader = try PastTransactions.settledSession(of: source, limit)
        } else {
            reader = try source.beginRead(ReadOptions(limit: limit))
        }
        do throws(StorageError) {
            if let refusal = try options.refusal(of: reader) { throw refusal }
            let model: MappedModel? = options.mapping.isEmpty ? nil : try MappedModel(options.mapping, of: reader.schema)
            let rejects = RejectedRows(options, source)
            let unknown = TransferWork(reader: reader, model: model, options: options, rejects: rejects)
            let isKnown = options.existing == .fail || options.selection.isAll && rejects == nil
            if !isKnown { return unknown }
            return unknown.found(try scope(unknown, nil))
        } catch {
            reader.end()
            throw error
        }
    }

    /// Finds the objects that are copied.
    ///
    /// - Parameter target: The target, if its objects remain.
    private func scope(_ work: TransferWork, _ target: ReadSession?) throws(StorageError) -> TransferWork.Found {
        if let known = work.found, known.rejected == work.rejects?.count ?? 0 { return known }
        let options = work.options
        var scope: TransferScope
        if let known = work.found {
            scope = known.scope
        } else {
            scope = try TransferScope(options, from: work.reader, to: target, work.model, rejecting: work.rejects, limit)
        }
        try work.rejects?.leaveOut(of: &scope, options, work.reader, target, work.model, limit)
        let changed = try ChangedValues(work.model, scope, work.reader, limit)
        try changed.refuse(options.acceptedLosses)
        return TransferWork.Found(scope: scope, changedValues: changed.counts, rejected: work.rejects?.count ?? 0)
    }

    /// Copies the objects.
    ///
    /// - Parameter isInSteps: Whether the copy is made in steps, if its options have a name of the source.
    package func run(
        _ work: TransferWork, to target: OpenStore, isInSteps: Bool = true, report: @escaping Report
    ) throws(StorageError) -> TransferReport {
        try Self.check(target.schema, takes: work.schema, isMapped: work.model != nil)
        var options = work.options, result: TransferReport?
        if !isInSteps {
            options.isWhole = true
            // A database of another program has no notes.
            if target.ability((any ForeignStorage).self)?.foreignAccess != nil { options.source = nil }
        }
        while result == nil {
            // With rows that are found to be refused, the copy begins again without them.
            let isMerging: Bool
            if options.existing == .fail { isMerging = false } else { isMerging = try !Self.isEmpty(target) }
            if isMerging {
                result = try merge(work, target, options, report)
            } else {
                result = try copy(work, target, options, report)
            }
        }
        return result ?? TransferReport()
    }

    /// Copies the objects into a target with objects. Returns nil if further rows were rejected.
    private func merge(
        _ work: TransferWork, _ target: OpenStore, _ options: TransferOptions, _ report: @escaping Report
    ) throws(StorageError) -> TransferReport? {
        var result = TransferReport()
        result.isVerified = options.verifies
        let writer = try target.beginWrite(WriteOptions(limit: limit))
        defer { writer.end() }
        let contents = try contents(work, writer, &result)
        let copy = MergingCopy(contents, writer, options, limit, try progress(contents, report), rejecting: work.rejects)
        if try !copy.run(&result) { return nil }
        try finish(work)
        result.rejected = work.rejects?.sorted ?? []
        _ = try writer.commit(CommitRecord(author: "transfer"))
        return result
    }

    /// Copies the objects into an empty target. Returns nil if further rows were rejected.
    private func copy(
        _ work: TransferWork, _ target: OpenStore, _ options: TransferOptions, _ report: @escaping Report
    ) throws(StorageError) -> TransferReport? {
        var result = TransferReport()
        result.isVerified = options.verifies
        try leaveOutKnown(work, target, options)
        let contents = try contents(work, nil, &result), progress = try progress(contents, report)
        do throws(StorageError) {
            let refused = try work.rejects.flatMap { rejects throws(StorageError) in try RefusedRows(rejects.refused, work.reader) }
            let history = options.includesHistory ? work.reader : nil
            let copy = BulkCopy(contents, to: target, options, limit, progress, refused: refused, history: history) {
                () throws(StorageError) in try finish(work)
            }
            try copy.run(&result)
        } catch {
            if error.code == .incompleteCopy, work.hasRefusedRows { throw Self.refusedLate }
            guard let rejects = work.rejects, RejectedRows.concernsRow(error), target.capabilities.contains(.savepoints) else {
                throw error
            }
            let known = rejects.count
            try CopyTrial(contents, target, rejects, limit).run(after: try Self.copied(target, options))
            if rejects.count == known { throw error }
            return nil
        }
        result.rejected = work.rejects?.sorted ?? []
        return result
    }

    /// Leaves out the rows that the target has refused in an earlier transfer of the same objects.
    private func leaveOutKnown(_ work: TransferWork, _ target: OpenStore, _ options: TransferOptions) throws(StorageError) {
        guard let rejects = work.rejects, options.source != nil else { return }
        let reader = try target.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        guard let refused = try options.refused(in: reader) else { return }
        for row in try refused.unchanged(in: work.reader) where !rejects.contains(row.key, row.root) { try rejects.addKnown(row) }
    }

    private static var refusedLate: StorageError {
        StorageError(
            .incompleteCopy,
            "the target has refused rows that rows in an earlier step need; erase the target (polystore erase), and repeat the transfer in one "
                + "transaction")
    }

    /// Returns the number of rows of each table that an incomplete copy in steps has committed.
    private static func copied(_ target: OpenStore, _ options: TransferOptions) throws(StorageError) -> [String: Int] {
        if options.source == nil { return [:] }
        let reader = try target.beginRead()
        defer { reader.end() }
        let tables = try options.state(in: reader)?.tables ?? []
        return Dictionary(tables.map { ($0.name, $0.count) }, uniquingKeysWith: { first, _ in first })
    }

    /// Passes on the rows that are left out, before the copy is complete.
    private func finish(_ work: TransferWork) throws(StorageError) {
        guard let rejects = work.rejects, let receive = work.options.receiveRejects else { return }
        try receive(TransferRejects(rejects, work.reader, work.model, accepting: work.options.acceptedLosses))
    }

    private func contents(
        _ work: TransferWork, _ target: ReadSession?, _ result: inout TransferReport
    ) throws(StorageError) -> Contents {
        let found = try scope(work, target)
        result.changedValues = found.changedValues
        result.removedReferences = found.scope.removedReferences
        if !work.options.selection.isAll { result.omittedMembers = try found.scope.omittedMembers(work.reader, limit) }
        return Contents(work.reader, found.scope, work.model, accepting: work.options.acceptedLosses)
    }

    private func progress(_ contents: Contents, _ report: @escaping Report) throws(StorageError) -> WorkProgress {
        var totals: [String: Int] = [:]
        for root in contents.schema.roots { totals[contents.schema.entities[root].name] = try contents.count(root) }
        return WorkProgress(totals, report)
    }

    private static func isEmpty(_ store: OpenStore) throws(StorageError) -> Bool {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try Contents(reader).isEmpty()
    }

    /// Refuses a target whose schema is not that of the source, or the mapped one.
    package static func check(_ target: Schema, takes schema: Schema, isMapped: Bool) throws(StorageError) {
        if schema.hash == target.hash { return }
        let difference = SchemaDifference.first(from: target, to: schema)?.description ?? "the hashes differ"
        throw StorageError(
            .schemaMismatch,
            "the target has another schema: \(difference); migrate it to the \(isMapped ? "mapped model" : "model") of the source first "
                + "(polystore schema apply), or choose a new target")
    }

    /// Returns the digests of two stores side by side, in the order of the first.
    ///
    /// - Parameters:
    ///   - first: An open store.
    ///   - second: An open store, which may have another schema.
    ///   - includesHistory: Whether the transactions of their histories are compared too, as an item named `polystore_history`.
    ///   - report: A closure that receives the progress. The totals count the rows of both stores.
    /// - Throws: `busy` if the newest transactions are not in the history yet, because older ones are still open.
    public func verify(
        _ first: OpenStore, _ second: OpenStore, includesHistory: Bool = false, report: Report? = nil
    ) throws(StorageError) -> [VerifyItem] {
        let firstReader = try ComparedStore.first.reading { () throws(StorageError) in try reader(of: first, includesHistory) }
        defer { firstReader.end() }
        let secondReader = try ComparedStore.second.reading { () throws(StorageError) in try reader(of: second, includesHistory) }
        defer { secondReader.end() }
        let progress = WorkProgress(reading: [firstReader, secondReader], report)
        let a = try ComparedStore.first.reading { () throws(StorageError) in try digests(firstReader, includesHistory, progress) }
        let b = try ComparedStore.second.reading { () throws(StorageError) in try digests(secondReader, includesHistory, progress) }
        let byName = Dictionary(b.map { ($0.name, $0.digest) }, uniquingKeysWith: { first, _ in first })
        let known = Set(a.map(\.name))
        return a.map { VerifyItem(name: $0.name, first: $0.digest, second: byName[$0.name]) }
            + b.filter { !known.contains($0.name) }.map { VerifyItem(name: $0.name, first: nil, second: $0.digest) }
    }

    /// Passes each object that differs between two stores with the same schema to `body`, in the order of entities and keys.
    ///
    /// Versions are not compared. The memory that this needs does not depend on the number of objects.
    /// - Parameters:
    ///   - first: An open store.
    ///   - second: An open store with the same schema.
    ///   - report: A closure that receives the progress. The totals count the rows of both stores.
    ///   - body: Receives each difference.
    /// - Throws: `schemaMismatch` if the schemas differ; `cancelled`; errors of `body`.
    public func differences(
        between first: OpenStore, and second: OpenStore, report: Report? = nil,
        _ body: (RowDifference) throws(StorageError) -> Void
    ) throws(StorageError) {
        let a = try ComparedStore.first.reading { () throws(StorageError) in try first.beginRead(ReadOptions(limit: limit)) }
        defer { a.end() }
        let b = try ComparedStore.second.reading { () throws(StorageError) in try second.beginRead(ReadOptions(limit: limit)) }
        defer { b.end() }
        try StoreComparison(a, b, limit, report).differences(body)
    }

    /// Checks a store as a whole and passes each violation to `body`: damage that the engine finds, rows that cannot be decoded, required
    /// values that are nil, references and pairs without a destination, relationships with too few or too many members, ends of a relationship
    /// or indexes that disagree with the rows, key counters below existing keys, and a history that cannot be read.
    ///
    /// - Parameters:
    ///   - store: An open store.
    ///   - report: A closure that receives the progress. The totals count each row twice, because a check reads it twice.
    ///   - body: Receives each violation.
    /// - Throws: `corrupted` if the store cannot be read at all; `cancelled`; errors of `body`.
    public func check(
        _ store: OpenStore, report: Report? = nil, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let session = try store.beginRead(ReadOptions(limit: limit))
        defer { session.end() }
        var check = StoreCheck(session, limit, report)
        try check.findings(body)
    }

    /// Begins to read a store, if requested in a state in which its history is complete.
    private func reader(of store: OpenStore, _ includesHistory: Bool) throws(StorageError) -> ReadSession {
        if includesHistory, store.capabilities.contains(.history) { return try PastTransactions.settledSession(of: store, limit) }
        return try store.beginRead(ReadOptions(limit: limit))
    }

    private func digests(
        _ reader: ReadSession, _ includesHistory: Bool, _ progress: WorkProgress?
    ) throws(StorageError) -> [TransferItem] {
        let items = try Contents(reader).digests(progress)
        guard includesHistory, reader.store.capabilities.contains(.history) else { return items }
        return items + [TransferItem(name: PastTransactions.table, digest: try PastTransactions(reader, limit).digest())]
    }
}
