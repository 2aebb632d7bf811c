internal import PolystoreFoundation
public import PolystoreStorage
internal import Synchronization

/// The condition of a store of a stack.
public struct StoreHealth: Sendable, CustomStringConvertible {
    /// The kind of store.
    public let storeType: String
    /// The configuration of the store's entities; nil for all entities.
    public let configuration: String?
    /// The reason why the store cannot be read; nil if it can.
    public let error: StorageError?
    /// The time until the answer.
    public let latency: Duration
    /// Whether the store refuses changes.
    public let isReadOnly: Bool

    /// The condition on one line.
    public var description: String {
        let name = storeType + (configuration.map { " (\($0))" } ?? "")
        if let error { return "\(name): \(error.code), \(error.message)" }
        return "\(name): \(isReadOnly ? "read-only, " : "")\(latency.formattedMilliseconds) ms"
    }
}

extension DataStack {
    /// Reads from each store, for the health check of a service.
    ///
    /// The stores are read at the same time, and one that does not answer delays only this answer, and only until the time is over.
    /// - Parameter timeout: The maximum time for each store, above zero.
    /// - Returns: The condition of each store, in the order in which they were added; `cancelled` for stores that have not answered when the
    ///   task is cancelled. Empty for a stack without stores, as after a shutdown: such a stack is not healthy.
    public func checkHealth(timeout: Duration = .seconds(5)) async -> [StoreHealth] {
        let core = core
        return await withTaskGroup(of: (Int, StoreHealth).self) { group in
            for (place, (position, entry)) in core.entries.enumerated() {
                group.addTask {
                    let start = ContinuousClock.now, failure = await Self.failure(of: entry, position, core, within: timeout)
                    return (
                        place,
                        StoreHealth(
                            storeType: entry.store.storeType, configuration: entry.store.configuration, error: failure,
                            latency: start.duration(to: .now), isReadOnly: entry.store.state.isReadOnly)
                    )
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Returns the reason why a store cannot be read, or nil.
    private static func failure(
        of entry: StackCore.Entry, _ position: Int, _ core: StackCore, within timeout: Duration
    ) async -> StorageError? {
        if core.unanswered.contains(position) {
            return StorageError(.timeout, "the store has not answered an earlier check yet")
        }
        let limit = WorkLimit(reading: timeout), check = HealthCheck(position, core.unanswered)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                check.begin(continuation)
                core.workers.checks.submit(limit) { refusal, _ in
                    var failure = refusal
                    if refusal == nil {
                        do throws(StorageError) { try read(entry, limit) } catch { failure = error }
                    }
                    check.end(failure)
                }
                // A store should end its work when the limit does, but a file system or a server may not let it.
                let grace = min(max(timeout, .zero), .seconds(86_400)) + .milliseconds(250)
                DispatchQueue.global().asyncAfter(deadline: .now() + grace / .seconds(1)) {
                    check.giveUp(StorageError(.timeout, "the store did not answer in time"))
                }
            }
        } onCancel: {
            limit.cancel()
            check.giveUp(StorageError(.cancelled, "the task was cancelled before the store answered"))
        }
    }

    /// Looks up a row. Opening a session need not reach a server.
    private static func read(_ entry: StackCore.Entry, _ limit: WorkLimit) throws(StorageError) {
        let reader = try entry.store.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        if let entity = entry.entities.min() { try reader.rows(entity, keys: [0], into: RowBatch(capacity: 1)) }
    }
}

/// A health check of one store, answered once: by the end of its work, or because the time is over or the task was cancelled.
private final class HealthCheck: Sendable {
    private enum State {
        case new
        /// The task was cancelled before the check began.
        case refused(StorageError)
        case waiting(CheckedContinuation<StorageError?, Never>)
        case givenUp
        case ended
    }

    private let state = Mutex(State.new)
    private let position: Int
    private let unanswered: UnansweredChecks

    init(_ position: Int, _ unanswered: UnansweredChecks) {
        self.position = position
        self.unanswered = unanswered
    }

    /// Sets what receives the answer. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    @inline(never) func begin(_ continuation: CheckedContinuation<StorageError?, Never>) {
        state.withLock { state in
            if case .refused(let error) = state {
                state = .ended
                return continuation.resume(returning: error)
            }
            state = .waiting(continuation)
        }
    }

    /// Ends the check with its result.
    @inline(never) func end(_ failure: StorageError?) {
        state.withLock { state in
            switch state {
            case .waiting(let continuation): continuation.resume(returning: failure)
            case .givenUp: unanswered.remove(position)
            case .new, .refused, .ended: break
            }
            state = .ended
        }
    }

    /// Answers a check whose work has not ended.
    @inline(never) func giveUp(_ error: StorageError) {
        state.withLock { state in
            switch state {
            case .new: state = .refused(error)
            case .waiting(let continuation):
                state = .givenUp
                unanswered.insert(position)
                continuation.resume(returning: error)
            case .refused, .givenUp, .ended: break
            }
        }
    }
}
