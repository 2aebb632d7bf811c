internal import Foundation
internal import PolystoreStorage

/// Copies rows and pairs into an empty target, with their keys and versions: in one transaction, or in steps that an interruption leaves.
final class BulkCopy {
    private let contents: Contents
    private let target: OpenStore
    private let limit: WorkLimit?
    private let options: TransferOptions
    private let progress: CopyProgress
    /// The progress of an earlier run, by table.
    private var earlier: [String: CopyState.Table] = [:]
    private let steps: CopySteps
    private let throttle: CopyThrottle
    /// The rows that the target has refused; nil if there are none.
    private let refused: RefusedRows?
    /// The session with the history of the source; nil if that is not copied.
    private var history: ReadSession?
    private let willComplete: () throws(StorageError) -> Void

    /// - Parameters:
    ///   - history: The session with the history of the source, if the options include that.
    ///   - willComplete: Called before the copy is complete. If it throws, the copy is not completed.
    init(
        _ contents: Contents, to target: OpenStore, _ options: TransferOptions, _ limit: WorkLimit?, _ progress: CopyProgress,
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
        steps = CopySteps(target, every: options.step, limit)
        throttle = CopyThrottle(options.pace, limit, progress)
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

    /// Records what was written, commits the step when it is due, and waits if the pace demands it.
    private func wrote(_ item: TransferItem, _ rows: Int, _ bytes: Int) throws(StorageError) {
        steps.state?.set(item)
        try steps.commitIfDue()
        try throttle.wrote(rows, bytes) { () throws(StorageError) in try steps.commit() }
    }

    // MARK: Copying

    private func copy(_ report: inout TransferReport) throws(StorageError) {
        let schema = contents.schema
        // Before anything is read: a target that cannot be written is refused at once, and a new one is never without a note.
        let writer = try steps.step()
        if history != nil, earlier[PastTransactions.table] == nil {
            try PastTransactions.checkAreMissing(in: writer, option: "transfer without the history")
        }
        try steps.commit()
        for root in schema.roots { report.items.append(try copyRows(root, schema.entities[root].name)) }
        for link in schema.links.indices {
            let description = schema.links[link]
            let (item, omitted) = try copyPairs(link, description)
            report.items.append(item)
            if omitted > 0 { report.omittedMembers[contents.sourceName(link: link)] = omitted }
        }
        if let history { report.history = try copyTransactions(of: history) }
    }

    private func copyRows(_ root: EntityIndex, _ name: String) throws(StorageError) -> TransferItem {
        var digest = Digest(), left = earlier[name]?.count ?? 0
        try contents.batches(root, capacity: throttle.mostRows, bytes: throttle.mostBytes) { batch throws(StorageError) in
            try limit?.check()
            let skipped = min(left, batch.count)
            contents.add(batch, 0..<skipped, to: &digest)
            if skipped > 0 { try skip(skipped, of: name, &left, digest) }
            if skipped < batch.count {
                contents.add(batch, skipped..<batch.count, to: &digest)
                let rest = skipped == 0 ? batch : contents.rows(of: batch, from: skipped)
                try load(root, rest, name)
                let bytes = throttle.countsBytes ? contents.bytes(of: rest) : 0
                try wrote(TransferItem(name: name, digest: digest), rest.count, bytes)
            }
            progress.add(batch.count, of: name)
        }
        if left > 0 { throw Self.changed }
        let item = TransferItem(name: name, digest: digest)
        steps.state?.set(item)
        return item
    }

    private func copyPairs(_ link: Int, _ description: LinkDescription) throws(StorageError) -> (TransferItem, omitted: Int) {
        let name = description.name
        var digest = LinkDigest(description), left = earlier[name]?.count ?? 0
        let omitted = try contents.pairs(link) { pairs throws(StorageError) in
            try limit?.check()
            let skipped = min(left, pairs.count)
            for pair in pairs[..<skipped] { digest.add(pair) }
            if skipped > 0 { try skip(skipped, of: name, &left, digest.digest) }
            if skipped < pairs.count {
                for pair in pairs[skipped...] { digest.add(pair) }
                try steps.step().load(link: link, Array(pairs[skipped...]))
                try wrote(TransferItem(name: name, digest: digest.digest), pairs.count - skipped, 24 * (pairs.count - skipped))
            }
        }
        if left > 0 { throw Self.changed }
        let item = TransferItem(name: name, digest: digest.digest)
        steps.state?.set(item)
        return (item, omitted)
    }

    private func copyTransactions(of history: ReadSession) throws(StorageError) -> Digest {
        let name = PastTransactions.table
        var digest = Digest(), left = earlier[name]?.count ?? 0
        try PastTransactions(history, limit).forEachPart(atMost: throttle.mostRows) { entries throws(StorageError) in
            var bytes = 0, skipped = 0
            while skipped < entries.count, left > 0 {
                bytes += digest.add(entries[skipped])
                skipped += 1
                try skip(1, of: name, &left, digest)
            }
            let rest = Array(entries[skipped...])
            if !rest.isEmpty {
                let before = bytes
                for entry in rest { bytes += digest.add(entry) }
                try steps.step().restoreHistory(rest)
                try wrote(TransferItem(name: name, digest: digest), rest.count, throttle.countsBytes ? bytes - before : 0)
            }
            progress.addFurther(entries.count, of: name)
            return bytes
        }
        if left > 0 { throw Self.changed }
        steps.state?.set(TransferItem(name: name, digest: digest))
        return digest
    }

    /// Counts rows that an earlier run has copied, and checks after the last of them that they are still the same.
    private func skip(_ count: Int, of name: String, _ left: inout Int, _ digest: Digest) throws(StorageError) {
        left -= count
        if left == 0, earlier[name]?.digest != digest.description { throw Self.changed }
    }

    private static var changed: StorageError {
        StorageError(
            .incompleteCopy,
            "the source has changed since the interrupted transfer has copied a part of it; erase the target (polystore erase) and repeat the "
                + "transfer")
    }

    private func load(_ root: EntityIndex, _ batch: RowBatch, _ name: String) throws(StorageError) {
        let writer = try steps.step()
        do throws(StorageError) { try writer.load(root, batch) } catch  where error.code == .alreadyExists {
            // The target was empty, so the duplicate comes from the source.
            throw StorageError(
                .corrupted, "the source returned an object of \(name) twice, so it is damaged; restore a backup of the source",
                details: error.details, cause: error)
        }
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
        try Self.verify(report.items, Contents(target))
        guard let history = report.history else { return }
        if try PastTransactions(target, limit).digest() == history { return }
        throw StorageError(.corrupted, "the history differs after the copy; the target was not completed")
    }

    static func verify(_ items: [TransferItem], _ copy: Contents) throws(StorageError) {
        let found = try copy.digests()
        guard let different = zip(items, found).first(where: { $0 != $1 })?.0.name else { return }
        throw StorageError(.corrupted, "\(different) differs after the copy; the target was not completed")
    }
}
