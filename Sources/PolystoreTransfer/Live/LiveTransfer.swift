internal import Foundation
public import PolystoreStorage

/// Moves a store to another one while programs write to it.
///
/// `copy` copies all objects. `follow` carries over what was committed since, and is repeated. `cutOver` ends the transfer: it fences the
/// source, so that its write transactions are refused, carries over the rest, verifies it, and completes the target. Until then no other
/// program can open the target.
///
/// The progress is committed in the target together with the objects. After an interruption, also by the end of the process, a live transfer
/// with the same options continues. A transfer that was fencing the source when it was interrupted holds the fence until it continues or is
/// released.
///
/// After the cut-over, a live transfer in the opposite direction begins with following: the former source is kept up to date, and can
/// replace its successor again.
public final class LiveTransfer {
    private let source: OpenStore
    private let target: OpenStore
    private let options: TransferOptions
    private let limit: WorkLimit?
    private let steps: CopySteps
    /// Whether the target is complete, although the source may not be finished.
    private var isComplete: Bool
    /// The error after which the state in memory may differ from that in the target.
    private var failure: StorageError?
    /// The time at which the transfer last acknowledged how far it has followed the history of the source.
    private var acknowledged: ContinuousClock.Instant?

    /// The duration between two acknowledgements, each of which is a write transaction of the source.
    private static let acknowledgement = Duration.seconds(10)

    /// Begins or continues a live transfer.
    ///
    /// - Parameters:
    ///   - source: An open store with a history. The transfer is registered there as a consumer, so that what is not followed yet is not
    ///     purged.
    ///   - target: An empty store with the same model, the target of the same transfer that was interrupted, or the store that the source has
    ///     replaced.
    ///   - options: The options: all objects, and a name of the source.
    ///   - limit: A limit that ends the transfer. What was committed in the target remains.
    /// - Throws: `invalidConfiguration` for other options; `unsupported` for a source that keeps no history, and for databases of other
    ///   programs; `schemaMismatch`; `alreadyExists` if the target contains something else; `storeMoved` if one of the stores was moved to a
    ///   third one.
    public init(
        from source: OpenStore, to target: OpenStore, _ options: TransferOptions, limit: WorkLimit? = nil
    ) throws(StorageError) {
        guard options.selection.isAll, options.mapping.isEmpty, options.existing == .fail, let name = options.source else {
            throw StorageError(
                .invalidConfiguration,
                "a live transfer copies all objects as they are into an empty target, and its options have a name of the source")
        }
        for store in [source, target] where store.ability((any ForeignStorage).self)?.foreignAccess != nil {
            throw StorageError(.unsupported, "a live transfer needs two stores of Polystore, and one is a database of another program")
        }
        if !source.capabilities.contains(.history) {
            throw StorageError(
                .unsupported, "the source keeps no history, so that its changes cannot be followed; transfer it while nothing writes to it")
        }
        if source.storeID == target.storeID { throw StorageError(.invalidConfiguration, "the source and the target are the same store") }
        try TransferEngine.check(target.schema, takes: source.schema, isMapped: false)
        self.source = source
        self.target = target
        self.limit = limit
        var options = options
        options.isLive = true
        self.options = options
        steps = CopySteps(target, every: options.step, nil)
        try Self.checkIsAlone(source)
        let reader = try target.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        let state = CopyState(name, options.work(source.schema), options.run), note = try reader.note(CopyNote.incomplete)
        let found = try Self.state(options, in: reader, beginning: state, from: source)
        isComplete = found == nil
        steps.begin(found ?? state, after: note)
        try checkIsNotMoved()
    }

    /// Returns the state of the transfer; nil if the target is complete.
    private static func state(
        _ options: TransferOptions, in target: ReadSession, beginning: CopyState, from source: OpenStore
    ) throws(StorageError) -> CopyState? {
        var state = beginning
        let progress = try options.progress(in: target), found = try options.state(in: target)
        switch progress {
        case .incomplete where found?.live != nil:
            state.live = found?.live
            if let known = state.live?.source, known != source.storeID {
                throw StorageError(
                    .alreadyExists,
                    "the target contains the copy of another store that was at the place of the source; erase the target (polystore erase)")
            }
        case .complete:
            let reader = try source.beginRead()
            defer { reader.end() }
            // The note of an earlier copy is left in a store that was moved back, which has a note about that move too.
            if let move = try MoveNote(in: reader), move.target == target.store.storeID, try MoveNote(in: target) == nil { return nil }
            fallthrough
        case .none, .incomplete:
            var live = CopyState.LiveProgress()
            live.source = source.storeID
            if let move = try MoveNote(in: target), move.isComplete, move.target == source.storeID {
                live.token = move.token
                live.isCopied = true
            }
            state.live = live
        }
        return state
    }

    /// Refuses stores that another transfer has moved or moves.
    private func checkIsNotMoved() throws(StorageError) {
        for (store, other) in [(source, target), (target, source)] {
            let reader = try store.beginRead(ReadOptions(limit: limit))
            defer { reader.end() }
            if let move = try MoveNote(in: reader), move.target != other.storeID { throw move.refusal }
        }
    }

    private var live: CopyState.LiveProgress {
        get { steps.state?.live ?? CopyState.LiveProgress() }
        set { steps.state?.live = newValue }
    }

    // MARK: Copying

    /// Whether all objects are copied, so that only changes have to be followed.
    public var isCopied: Bool { isComplete || live.isCopied }

    /// Copies all objects that are not copied yet. Each step is committed, so that an interruption loses little.
    ///
    /// - Parameter report: A closure that receives the progress.
    /// - Throws: `alreadyExists` if the target contains objects; `incompleteCopy` if the history since an interruption was purged;
    ///   `cancelled`; any error of reading or writing.
    public func copy(report: @escaping TransferEngine.Report = { _ in }) throws(StorageError) {
        if isCopied { return }
        try checkState()
        let reader = try settledReader()
        defer { reader.end() }
        if live.token != nil {
            // A part was copied before. It becomes as it is in this snapshot, from which the rest is copied.
            _ = try follow(reader, verifies: false)
        } else {
            _ = try steps.step()
            // A history without entries has a beginning too, which a purge moves.
            let token = try reader.currentToken() ?? HistoryToken(store: source.storeID, position: 0)
            try keepingState { () throws(StorageError) in
                live.token = token
                try steps.commit()
            }
            try acknowledge()
        }
        do throws(StorageError) {
            try copyContents(Contents(reader), report)
        } catch {
            // What was copied so far remains, unless it was a change that failed.
            try keepingState { () throws(StorageError) in try steps.commit() }
            throw error
        }
        try keepingState { () throws(StorageError) in
            try steps.commit()
            let writer = try steps.begin(.last, nil)
            try Contents(reader).raiseKeys(of: writer)
            live.isCopied = true
            try steps.commit()
        }
    }

    /// Runs the end of a step. After an error this object cannot continue, because the target lacks what its state contains.
    private func keepingState(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) { try body() } catch {
            steps.abandon()
            failure = error
            throw error
        }
    }

    private func checkState() throws(StorageError) {
        guard let failure else { return }
        throw StorageError(
            failure.code, "the copy has failed before, and continues with a new LiveTransfer: \(failure.message)", cause: failure)
    }

    private func copyContents(_ contents: Contents, _ report: @escaping TransferEngine.Report) throws(StorageError) {
        let schema = contents.schema
        var totals: [String: Int] = [:]
        for root in schema.roots { totals[schema.entities[root].name] = try contents.count(root) }
        let progress = WorkProgress(totals, report)
        for root in schema.roots where !live.copied.contains(schema.entities[root].name) {
            try copyRows(root, schema.entities[root].name, contents, progress)
        }
        for link in schema.links.indices where !live.copied.contains(schema.links[link].name) { try copyPairs(link, contents) }
    }

    private func copyRows(
        _ root: EntityIndex, _ name: String, _ contents: Contents, _ progress: WorkProgress
    ) throws(StorageError) {
        try contents.batches(root) { batch throws(StorageError) in
            try limit?.check()
            progress.add(batch.count, of: name)
            guard let missing = contents.rows(of: batch, after: live.last[name]) else { return }
            try steps.step().load(root, missing)
            live.last[name] = missing.key(missing.count - 1)
            try steps.commitIfDue()
        }
        live.last[name] = nil
        live.copied.insert(name)
    }

    private func copyPairs(_ link: Int, _ contents: Contents) throws(StorageError) {
        let name = contents.schema.links[link].name
        // A part of the pairs is left by an interruption. It is removed, because pairs have no common order in all stores.
        try removePairs(link)
        try contents.pairs(link) { pairs throws(StorageError) in
            try limit?.check()
            try steps.step().load(link: link, pairs)
            try steps.commitIfDue()
        }
        live.copied.insert(name)
        try steps.commitIfDue()
    }

    private func removePairs(_ link: Int) throws(StorageError) {
        let writer = try steps.step()
        var pairs: [LinkPair] = []
        try writer.links(link, side: .owner, keys: nil) { pairs += $0 }
        if !pairs.isEmpty { try writer.apply(ChangeSet(links: [LinkChanges(link: link, removed: pairs)])) }
    }

    // MARK: Following

    /// Carries over what was committed in the source since the copy, or since the last call, in one transaction of the target.
    ///
    /// - Returns: What was carried over, and how far the target was behind.
    /// - Throws: `incompleteCopy` if the history since then was purged, so that the target has to be erased; `timeout` if a transaction of the
    ///   source does not end for 30 seconds while others commit; `cancelled`; any error of reading or writing. The target is as it was then.
    @discardableResult
    public func follow() throws(StorageError) -> FollowedChanges {
        if isComplete { return FollowedChanges() }
        try checkState()
        let reader = try settledReader()
        defer { reader.end() }
        return try follow(reader, verifies: false)
    }

    /// - Parameter verifies: Whether the objects are read again and compared.
    private func follow(_ reader: ReadSession, verifies: Bool) throws(StorageError) -> FollowedChanges {
        let start = ContinuousClock.now, changes = try SourceChanges(reader, since: live, isComplete: isCopied)
        guard changes.transactions > 0 else { return FollowedChanges() }
        var options = TransferOptions()
        options.existing = .merge
        options.verifies = verifies
        let scope = TransferScope(reader.schema, updating: changes.written), contents = Contents(reader, scope)
        let before = live
        let links = reader.schema.links.indices.filter { isCopied || live.copied.contains(reader.schema.links[$0].name) }
        do throws(StorageError) {
            let writer = try steps.begin(isCopied ? nil : .part, limit)
            try MergingCopy(contents, writer, options, limit, WorkProgress([:]) { _ in }).update(
                deleting: changes.deleted, links: Set(links))
            live.token = changes.token
            try steps.commit()
        } catch {
            live = before
            steps.abandon()
            throw error
        }
        try acknowledge()
        var followed = FollowedChanges()
        followed.transactions = changes.transactions
        followed.objects = changes.count
        followed.lag = changes.age
        followed.duration = start.duration(to: .now)
        return followed
    }

    // MARK: The cut-over

    /// Replaces the source by the target.
    ///
    /// The steps: what is left is followed until little remains; the stores are compared in one state of the source, unless the options leave
    /// that out; the source is fenced, and running write transactions end; the rest is carried over; the stores are compared again, because a
    /// bulk load or an SQL statement leaves nothing in the history; the target is completed; `switching` is called; the source is marked as
    /// moved. An error before the target is complete releases the fence.
    ///
    /// - Parameters:
    ///   - place: The name of the target for programs that use the source, such as its URL without a password.
    ///   - switching: Called when the target is complete and write transactions of the source are still refused. A service opens the target
    ///     here. After an error the source remains fenced, and the call can be repeated.
    /// - Throws: `corrupted` if the stores differ; `busy` or `timeout` if transactions of the source do not end; the errors of `follow` and of
    ///   `switching`.
    public func cutOver(to place: String, switching: () throws -> Void = {}) throws -> CutOverReport {
        var report = CutOverReport()
        if !isComplete {
            try copy()
            try catchUp()
            if options.verifies { _ = try verify() }
            // From here on no other process can complete the target.
            try takeOver()
            let start = ContinuousClock.now
            do throws(StorageError) {
                try fence(place)
                try complete(&report)
            } catch {
                // The target may be complete although its last transaction has reported an error.
                if error.code != .commitOutcomeUnknown { try endFence(after: error) }
                throw error
            }
            report.pause = start.duration(to: .now)
        }
        try switching()
        let target = target.storeID
        // The target is complete, so that no limit ends the move any more.
        try setMove(nil, ending: true) { move throws(StorageError) in
            if let other = move, other.target != target { throw other.refusal }
            move = (move ?? MoveNote(to: place, target)).completed
        }
        return report
    }

    /// Makes this transfer the one that writes to the target.
    private func takeOver() throws(StorageError) {
        _ = try steps.begin(isCopied ? nil : .part, nil)
        try steps.commit()
    }

    private func endFence(after error: StorageError) throws(StorageError) {
        do throws(StorageError) { try release() } catch let failure {
            throw StorageError(
                error.code,
                "\(error.message); write transactions of the source are still refused, because the fence could not be removed "
                    + "(\(failure.message)): repeat the transfer, or release the source", details: error.details, cause: error)
        }
    }

    /// Ends the fence of an interrupted cut-over, so that write transactions of the source are accepted again.
    ///
    /// - Throws: `storeMoved` if the target has replaced the source.
    public func release() throws(StorageError) {
        if isComplete { throw MoveNote(to: "the target", target.storeID).completed.refusal }
        try takeOver()
        let target = target.storeID
        try setMove(nil) { move in if move?.isComplete == false, move?.target == target { move = nil } }
    }

    /// Ends the fence that an interrupted process has left, so that the source can be written to until the cut-over.
    package func releaseInterrupted() throws(StorageError) {
        func isFenced() throws(StorageError) -> Bool {
            let reader = try source.beginRead(ReadOptions(limit: limit))
            defer { reader.end() }
            return try MoveNote(in: reader) != nil
        }
        if !isComplete, try isFenced() { try release() }
    }

    /// Ends the fence of an interrupted cut-over whose target does not exist any more or is not reachable.
    ///
    /// - Parameters:
    ///   - source: The open store that the cut-over fences.
    ///   - target: The target as far as it exists.
    ///   - isCertain: Whether the caller knows that the target has not replaced the source, although it cannot be read.
    /// - Returns: Whether there was a fence.
    /// - Throws: `storeMoved` if the target has replaced the source, or may have: without a target, only a person can know.
    public static func release(_ source: OpenStore, target: OpenStore?, isCertain: Bool = false) throws(StorageError) -> Bool {
        let reader = try source.beginRead()
        defer { reader.end() }
        guard let move = try MoveNote(in: reader) else { return false }
        if move.isComplete { throw move.refusal }
        if let target, target.storeID == move.target {
            let copy = try target.beginRead()
            defer { copy.end() }
            if try copy.note(CopyNote.incomplete) == nil { throw move.completed.refusal }
        } else if !isCertain {
            throw StorageError(
                .storeMoved,
                "whether \(move.place) has replaced the store is not known, because it cannot be opened; if it has not, release the store with --yes"
            )
        }
        var options = WriteOptions(isExclusive: true)
        options.isMove = true
        let writer = try source.beginWrite(options)
        defer { writer.end() }
        try writer.setNote(MoveNote.name, nil)
        _ = try writer.commit(CommitRecord(author: "transfer"))
        return true
    }

    /// Follows the source until a step is short.
    private func catchUp() throws(StorageError) {
        for _ in 0..<50 {
            let followed = try follow()
            if followed.duration < .milliseconds(200) { return }
        }
    }

    /// Compares both stores in one state of the source.
    private func verify() throws(StorageError) -> [TransferItem] {
        let reader = try settledReader()
        defer { reader.end() }
        _ = try follow(reader, verifies: false)
        return try compare(reader)
    }

    private func compare(_ reader: ReadSession) throws(StorageError) -> [TransferItem] {
        let items = try Contents(reader).digests()
        let copy = try target.beginRead(ReadOptions(limit: limit))
        defer { copy.end() }
        try BulkCopy.verify(items, Contents(copy))
        return items
    }

    /// Compares the numbers of objects.
    private func compareCounts(_ reader: ReadSession) throws(StorageError) {
        let copy = try target.beginRead(ReadOptions(limit: limit))
        defer { copy.end() }
        for root in reader.schema.roots where try Contents(reader).count(root) != Contents(copy).count(root) {
            throw StorageError(
                .corrupted,
                "the target has another number of objects of \(reader.schema.entities[root].name), because a bulk load or an SQL statement has "
                    + "changed the source without its history; erase the target and repeat the transfer")
        }
    }

    /// Returns a session in which the history contains all transactions that it sees. Otherwise an object could have a unique value that
    /// the history has not yet taken from another object.
    private func settledReader() throws(StorageError) -> ReadSession {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let reader = try source.beginRead(ReadOptions(limit: limit))
            do throws(StorageError) {
                if try !reader.hasUnsettledHistory() { return reader }
            } catch {
                reader.end()
                throw error
            }
            reader.end()
            try limit?.check()
            if ContinuousClock.now > deadline {
                throw StorageError(
                    .timeout, "a transaction of the source has not ended for 30 seconds, so that the history after it is not final")
            }
            Thread.sleep(forTimeInterval: 0.002)
        }
    }

    /// Refuses write transactions of the source, and waits for those that have begun.
    private func fence(_ place: String) throws(StorageError) {
        let target = target.storeID
        try setMove(limit) { move throws(StorageError) in
            if let other = move, other.isComplete || other.target != target { throw other.refusal }
            if move == nil { move = MoveNote(to: place, target) }
        }
    }

    /// Carries over the rest and completes the target, while the source is fenced.
    private func complete(_ report: inout CutOverReport) throws(StorageError) {
        try Self.checkIsAlone(source)
        let reader = try settledReader()
        defer { reader.end() }
        report.drained = try follow(reader, verifies: false).transactions
        if options.verifies { report.verified = try compare(reader) } else { try compareCounts(reader) }
        let token = try position()
        try setMove(limit) { move throws(StorageError) in
            guard let fence = move, !fence.isComplete else {
                throw StorageError(.busy, "another process has ended the fence of the source; repeat the transfer")
            }
            move?.token = token
        }
        let writer = try steps.begin(nil, limit)
        do throws(StorageError) {
            try Contents(reader).raiseKeys(of: writer)
            try writer.setNote(CopyNote.incomplete, nil)
            try writer.setNote(CopyNote.complete, steps.state?.completeNote)
            let isBack = try MoveNote(in: writer) != nil
            try writer.setNote(MoveNote.name, nil)
            try expireConsumers(of: reader, in: writer, after: token, isBack: isBack)
            _ = try writer.commit(CommitRecord(author: "transfer"))
            // A session keeps its connection, without which a store in a file can be closed completely.
            steps.abandon()
            isComplete = true
        } catch {
            steps.abandon()
            throw error
        }
    }

    /// Registers the consumers of the source's history in the target, expired like its own: what they have not processed is not in the history
    /// of the target, so they must read its data again. A target without a history can be opened with one later.
    ///
    /// - Parameter isBack: Whether the target was the source of the last transfer.
    private func expireConsumers(
        of source: ReadSession, in writer: WriteSession, after token: HistoryToken?, isBack: Bool
    ) throws(StorageError) {
        let token = token ?? HistoryToken(store: target.storeID, position: 0)
        let offsets = try HistoryConsumers(source).all().filter { !Self.isTransfer($0.name) }, names = Set(offsets.map(\.name))
        for offset in try HistoryConsumers(writer).all() where !Self.isTransfer(offset.name) && !names.contains(offset.name) {
            // A consumer that was unregistered in the source since the last transfer would hold back the purges of the target.
            if isBack {
                try HistoryConsumers.unregister(offset.name, writer)
            } else {
                try HistoryConsumers.expire(offset, after: token, writer)
            }
        }
        for offset in offsets { try HistoryConsumers.expire(offset, after: token, writer) }
    }

    /// Returns the position in the history of the target.
    private func position() throws(StorageError) -> HistoryToken? {
        let reader = try target.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        return target.capabilities.contains(.history) ? try reader.currentToken() : nil
    }

    // MARK: The source

    /// Refuses a source of which another store may keep changes that it has not applied yet.
    private static func checkIsAlone(_ source: OpenStore) throws(StorageError) {
        let reader = try source.beginRead()
        defer { reader.end() }
        try Peers(reader).checkIsMovable()
    }

    /// The transfer as a consumer of the history of the source, which is not purged beyond its offset.
    private var consumer: String { "\(Self.consumerPrefix)\(target.storeID.uuidString.lowercased())" }
    private static let consumerPrefix = "transfer to "

    /// Returns whether a consumer is that of a transfer.
    private static func isTransfer(_ consumer: String) -> Bool {
        consumer.hasPrefix(consumerPrefix) && UUID(uuidString: String(consumer.dropFirst(consumerPrefix.count))) != nil
    }

    /// Acknowledges in the source how far its history was followed, if that has not happened for some time.
    private func acknowledge() throws(StorageError) {
        guard let token = live.token, acknowledged.map({ $0.duration(to: .now) > Self.acknowledgement }) ?? true else { return }
        let (source, name, limit) = (source, consumer, limit)
        try HistoryConsumers.write { options throws(StorageError) in
            var options = options
            options.isMove = true
            options.limit = limit
            return try source.beginWrite(options)
        } _: { writer throws(StorageError) in
            _ = try HistoryConsumers.restart(name, at: token, writer)
        }
        acknowledged = .now
    }

    /// Changes the note of the source about its move.
    ///
    /// - Parameter ending: Whether the source is no longer followed.
    private func setMove(
        _ limit: WorkLimit?, ending: Bool = false, _ change: (inout MoveNote?) throws(StorageError) -> Void
    ) throws(StorageError) {
        var options = WriteOptions(isExclusive: true, limit: limit)
        options.isMove = true
        let writer = try source.beginWrite(options)
        defer { writer.end() }
        var move = try MoveNote(in: writer)
        try change(&move)
        let bytes = try move.map { move throws(StorageError) in try move.bytes() }
        try writer.setNote(MoveNote.name, bytes)
        if ending { try HistoryConsumers.unregister(consumer, writer) }
        _ = try writer.commit(CommitRecord(author: "transfer"))
    }
}
