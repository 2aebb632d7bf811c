internal import PolystoreStorage

/// A list that is fetched on a thread of the stack, beside the isolation of its context: what is committed meanwhile waits here, and it
/// catches up on it when it arrives.
final class ArrivingList: HomeMonitor {
    private static let mostRuns = 10_000

    /// It reads nothing before it arrives.
    let stores: Set<Int> = []
    private var batches: [CommitBatch] = []
    private var runs = 0
    /// Whether what came meanwhile is not known.
    private var isBehind = false

    /// The list of a query, up to date with its context.
    static func fetch(
        _ query: ListQuery, _ context: ViewContext, isolation: isolated (any Actor)?
    ) async throws(StorageError) -> ListEngine {
        let arriving = ArrivingList(), core = context.core
        context.add(arriving, isolation: isolation)
        defer { context.remove(arriving) }
        // It is used by the thread of the stack until that is done, and by nobody else before.
        nonisolated(unsafe) let engine = ListEngine(query, core)
        let limit = WorkLimit()
        let fetched = await core.workers.observers.result(limit) { () throws(StorageError) in
            let sessions = SessionPool(readingFrom: core, limit)
            defer { sessions.end() }
            try engine.fetch(sessions)
        }
        try fetched.get()
        let objects = context.context
        try objects.inOneSnapshot { () throws(StorageError) in
            if arriving.isBehind { return try engine.fetch(try objects.heldSessions) }
            for batch in arriving.batches {
                if let step = try engine.step(batch.inAnotherSnapshot, try objects.heldSessions) { engine.take(step) }
            }
        }
        return engine
    }

    func prepare(_ batch: CommitBatch, _ sessions: SessionPool, _ stale: StaleObjects) throws(StorageError) -> Bool {
        if isBehind { return false }
        runs += batch.runCount
        batches.append(batch)
        // More than a mailbox holds is fetched rather than gone through.
        if runs > Self.mostRuns { (batches, isBehind) = ([], true) }
        return false
    }

    func preparePending() throws(StorageError) -> Bool { false }
    func willChange(_ source: (any Hashable & Sendable)?) {}
    func didChange(_ source: (any Hashable & Sendable)?) {}
    func cannotFollow() {}
    func homeDidReset() { isBehind = true }
}
