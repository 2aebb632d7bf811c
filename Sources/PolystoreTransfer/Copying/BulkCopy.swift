internal import Foundation
internal import PolystoreStorage

/// Copies rows and pairs into an empty target, with their keys and versions: in one transaction, or in steps that an interruption leaves.
final class BulkCopy {
    private let contents: Contents
    private let target: OpenStore
    private let limit: WorkLimit?
    private let options: TransferOptions
    private let progress: WorkProgress
    /// The progress of an earlier run, by table.
    private var earlier: [String: CopyState.Table] = [:]
    private let steps: CopySteps
    private let throttle: CopyThrottle
    /// The number of threads that write while this one reads; 0 if this one writes.
    private let writers: Int
    /// These threads, while they write.
    private var workers: CopyWorkers?
    /// The rows that the target has refused; nil if there are none.
    private let refused: RefusedRows?
    /// The session with the history of the source; nil if that is not copied.
    private var history: ReadSession?
    private let willComplete: () throws(StorageError) -> Void

    /// - Parameters:
    ///   - history: The session with the history of the source, if the options include that.
    ///   - willComplete: Called before the copy is complete. If it throws, the copy is not completed.
    init(
        _ contents: Contents, to target: OpenStore, _ options: TransferOptions, _ limit: WorkLimit?, _ progress: WorkProgress,
        refused: RefusedRows?, history: ReadSession?, willComplete: @escaping () throws(StorageError) -> Void
    ) {
        self.contents = contents
        self.target = target
        self.options = options
        self.limit = limit
        self.progress = progress
        self.refused = refused
        self.history = history
        self.willComplete = willComplete
        steps = CopySteps(target, every: options.step, limit, checksRows: options.skipsErrors)
        writers = Self.writers(options, target)
        throttle = CopyThrottle(options.pace, limit, progress, writers: writers)
    }

    /// Copies everything that is missing.
    ///
    /// - Throws: `alreadyExists` if the target contains objects, or the copy of something else or of another state; `incompleteCopy` if the source has
    ///   changed since an interrupted transfer; `corrupted` if the copy differs.
    func run(_ report: inout TransferReport) throws(StorageError) {
        report.historyObstacle = try historyObstacle()
        if report.historyObstacle != nil { history = nil }
        if let source = options.source, try isComplete(source, &report) { return try willComplete() }
        defer { report.waited += throttle.waited }
        do throws(StorageError) {
            try copy(&report)
        } catch {
            // What was copied so far remains, unless it was a change that failed.
            if steps.isOpen { try? steps.commit() }
            throw error
        }
        try finish(report)
    }

    /// Returns why the target cannot have the history, if it is to be copied.
    private func historyObstacle() throws(StorageError) -> String? {
        guard let history else { return nil }
        if let known = PastTransactions.obstacle(from: history.store, to: target.storage) { return known }
        let writer = try target.beginWrite(WriteOptions(limit: limit))
        defer { writer.end() }
        return writer.restoresHistory ? nil : "the target cannot have that of another store"
    }

    /// Returns the number of threads that write.
    private static func writers(_ options: TransferOptions, _ target: OpenStore) -> Int {
        // A transaction belongs to one thread, and what a target refuses is looked for in the order of the source.
        if options.workers < 2 || options.source == nil || options.isWhole || options.skipsErrors { return 0 }
        return min(options.workers - 1, max(1, target.ability((any ConcurrentLoadStorage).self)?.concurrentLoads ?? 1))
    }

    // MARK: Steps

    /// Reads how far an earlier run has come. Returns whether it has copied everything, and nothing has changed since.
    private func isComplete(_ source: String, _ report: inout TransferReport) throws(StorageError) -> Bool {
        var state = CopyState(source, options.work(contents.schema), options.run, refused: refused)
        let reader = try target.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        switch try options.progress(in: reader) {
        case .none: break
        case .incomplete:
            state.tables = try options.state(in: reader)?.tables ?? []
            earlier = Dictionary(state.tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            report.continued = state.count
        case .complete:
            report.items = try contents.digests()
            report.continued = report.items.reduce(0) { $0 + $1.digest.count }
            if let history { report.history = try PastTransactions(history, limit).digest() }
            report.wasComplete = try Contents(reader).digests() == report.items
            if let copied = report.history, try PastTransactions(reader, limit).digest() != copied { report.wasComplete = false }
            if report.wasComplete { return true }
            throw StorageError(
                .alreadyExists,
                "the target contains a copy of the source, and one of them has changed since; update the target with --if-exists merge or "
                    + "replace, or choose an empty target")
        }
        if !options.isWhole { steps.begin(state, after: try reader.note(CopyNote.incomplete)) }
        return false
    }

    // MARK: Copying

    private func copy(_ report: inout TransferReport) throws(StorageError) {
        // Before anything is read: a target that cannot be written is refused at once, and a new one is never without a note.
        let writer = try steps.step()
        if history != nil, earlier[PastTransactions.table] == nil {
            try PastTransactions.checkAreMissing(in: writer, option: "transfer without the history")
        }
        if writers > 1 {
            for root in contents.schema.roots { try writer.load(root, RowBatch(capacity: 1)) }
        }
        try steps.commit()
        try withWorkers { () throws(StorageError) in try copyContents(&report) }
        if let history { report.history = try copyTransactions(of: history) }
    }

    /// Copies while threads write, if there are any, and waits until they have.
    private func withWorkers(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        if writers == 0 { return try body() }
        let workers = CopyWorkers()
        self.workers = workers
        defer { self.workers = nil }
        do throws(StorageError) {
            try workers.start(writers, steps.others(isShared: writers > 1))
            try body()
            try workers.finish()
        } catch {
            workers.stop()
            throw workers.failure ?? error
        }
        count(workers)
    }

    private func copyContents(_ report: inout TransferReport) throws(StorageError) {
        let schema = contents.schema
        for root in schema.roots { report.items.append(try copyRows(root, schema.entities[root].name)) }
        for link in schema.links.indices {
            let description = schema.links[link]
            let (item, omitted) = try copyPairs(link, description)
            report.items.append(item)
            if omitted > 0 { report.omittedMembers[contents.sourceName(link: link)] = omitted }
        }
    }

    private func copyRows(_ root: EntityIndex, _ name: String) throws(StorageError) -> TransferItem {
        var position = CopyPosition(after: earlier[name]?.parts ?? [])
        try contents.batches(root, capacity: throttle.mostRows, bytes: throttle.mostBytes) { batch throws(StorageError) in
            try copyRuns(batch.count, of: name, &position) { range throws(StorageError) in
                var digest = Digest()
                contents.add(batch, range, to: &digest)
                return digest
            } write: { range, part throws(StorageError) in
                let rows: RowBatch
                if let workers {
                    rows = workers.batch(throttle.mostRows)
                    contents.copy(batch, range, to: rows)
                } else {
                    rows = range.count == batch.count ? batch : contents.rows(of: batch, range)
                }
                let bytes = throttle.countsBytes ? contents.bytes(of: rows) : 0
                try write(CopyLoad(name: name, rows: .objects(root, rows), part: part), bytes)
            }
        }
        try position.finish()
        return TransferItem(name: name, digest: position.digest)
    }

    private func copyPairs(_ link: Int, _ description: LinkDescription) throws(StorageError) -> (TransferItem, omitted: Int) {
        let name = description.name
        var digest = LinkDigest(description), position = CopyPosition(after: earlier[name]?.parts ?? [])
        let omitted = try contents.pairs(link) { pairs throws(StorageError) in
            try copyRuns(pairs.count, of: name, &position) { range throws(StorageError) in
                let before = digest.digest
                for pair in pairs[range] { digest.add(pair) }
                return digest.digest.added(since: before)
            } write: { range, part throws(StorageError) in
                try write(CopyLoad(name: name, rows: .pairs(link, Array(pairs[range])), part: part), 24 * range.count)
            }
        }
        try position.finish()
        return (TransferItem(name: name, digest: position.digest), omitted)
    }

    private func copyTransactions(of history: ReadSession) throws(StorageError) -> Digest {
        let name = PastTransactions.table
        var digest = Digest(), position = CopyPosition(after: earlier[name]?.parts ?? [])
        try PastTransactions(history, limit).forEachPart(atMost: throttle.mostRows) { entries throws(StorageError) in
            var bytes = 0, size = 0
            try copyRuns(entries.count, of: name, &position) { range throws(StorageError) in
                let before = digest
                bytes = 0
                for index in range { bytes += digest.add(entries[index]) }
                size += bytes
                return digest.added(since: before)
            } write: { range, part throws(StorageError) in
                try write(CopyLoad(name: name, rows: .transactions(Array(entries[range])), part: part), throttle.countsBytes ? bytes : 0)
            }
            return size
        }
        try position.finish()
        return position.digest
    }

    /// Advances over rows of a table, and passes those that no earlier run has copied to `write`.
    ///
    /// - Parameters:
    ///   - digest: Returns the digest of some of the rows. Called once for each row, in their order.
    ///   - write: Writes some of the rows.
    private func copyRuns(
        _ count: Int, of name: String, _ position: inout CopyPosition, digest: (Range<Int>) throws(StorageError) -> Digest,
        write: (Range<Int>, CopiedPart) throws(StorageError) -> Void
    ) throws(StorageError) {
        try limit?.check()
        var next = 0
        while next < count {
            let run = position.run(atMost: count - next), range = next..<next + run.count, rows = try digest(range)
            try position.advance(over: run, rows)
            if run.isCopied { self.count(run.count, of: name) } else { try write(range, CopiedPart(start: run.start, digest: rows)) }
            next = range.upperBound
        }
    }

    /// Writes rows, or leaves them to another thread, and waits if the pace demands it.
    private func write(_ load: CopyLoad, _ bytes: Int) throws(StorageError) {
        if let workers {
            try workers.write(load)
            count(workers)
        } else {
            try steps.write(load)
            try steps.commitIfDue()
        }
        try throttle.wrote(load.part.digest.count, bytes) { () throws(StorageError) in
            if let workers { try workers.settle() } else { try steps.commit() }
        }
        if workers == nil { count(load.part.digest.count, of: load.name) }
    }

    /// Counts what threads have written.
    private func count(_ workers: CopyWorkers) {
        for (name, rows) in workers.takeWritten() { count(rows, of: name) }
    }

    private func count(_ rows: Int, of name: String) {
        if progress.hasTotal(of: name) { return progress.add(rows, of: name) }
        if name == PastTransactions.table { progress.addFurther(rows, of: name) }
    }

    // MARK: The end

    private func finish(_ report: TransferReport) throws(StorageError) {
        guard let state = steps.state else {
            let writer = try steps.step()
            if options.verifies { try verify(report, writer) }
            try contents.raiseKeys(of: writer)
            try willComplete()
            if let source = options.source {
                let state = CopyState(source, options.work(contents.schema), options.run, refused: refused)
                try writer.setNote(CopyNote.complete, state.completeNote)
            }
            _ = try writer.commit(CommitRecord(author: "transfer"))
            return
        }
        try steps.commit()
        try willComplete()
        if options.verifies {
            let reader = try target.beginRead(ReadOptions(limit: limit))
            defer { reader.end() }
            try verify(report, reader)
        }
        let writer = try steps.begin(.last, limit)
        try contents.raiseKeys(of: writer)
        try writer.setNote(CopyNote.incomplete, nil)
        try writer.setNote(CopyNote.complete, state.completeNote)
        _ = try writer.commit(CommitRecord(author: "transfer"))
    }

    private func verify(_ report: TransferReport, _ target: ReadSession) throws(StorageError) {
        try Self.verify(report.items, Contents(target), progress.verifying())
        guard let history = report.history else { return }
        if try PastTransactions(target, limit).digest() == history { return }
        throw StorageError(.corrupted, "the history differs after the copy; the target was not completed")
    }

    static func verify(_ items: [TransferItem], _ copy: Contents, _ progress: WorkProgress? = nil) throws(StorageError) {
        let found = try copy.digests(progress)
        guard let different = zip(items, found).first(where: { $0 != $1 })?.0.name else { return }
        throw StorageError(.corrupted, "\(different) differs after the copy; the target was not completed")
    }
}
