internal import PolystoreObjects

/// A list that is fetched on a thread of the stack, outside the isolation of its context. Commits during the fetch are queued here and
/// applied when the list arrives.
final class ArrivingList: ContextMonitor {
    private static let mostRuns = 10_000

    /// Empty, because it reads nothing before it arrives.
    let stores: Set<Int> = []
    private var batches: [CommitBatch] = []
    private var runs = 0
    /// Whether changes that arrived during the fetch are unknown.
    private var isBehind = false

    /// Fetches the list of a query, up to date with its context.
    static func fetch(
        _ query: ListQuery, _ context: ViewContext, isolation: isolated (any Actor)?
    ) async throws(StorageError) -> ListEngine {
        let arriving = ArrivingList(), core = context.core
        context.add(arriving, isolation: isolation)
        defer { context.remove(arriving) }
        // Only the thread of the stack uses it until the fetch has ended.
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
        // Fetching the list again is cheaper than processing more changes than a mailbox holds.
        if runs > Self.mostRuns { (batches, isBehind) = ([], true) }
        return false
    }

    func preparePending() throws(StorageError) -> Bool { false }
    func willChange(_ source: (any Hashable & Sendable)?) {}
    func didChange(_ source: (any Hashable & Sendable)?) {}
    func cannotFollow() {}
    func contextDidReset() { isBehind = true }
}
