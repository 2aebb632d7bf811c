public import PolystoreStorage

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
    /// The stores are read at the same time: an unreachable server does not delay what is known about the others.
    /// - Parameter timeout: The maximum time for each store.
    /// - Returns: The condition of each store, in the order in which they were added. Empty for a stack without stores, as after a shutdown.
    public func checkHealth(timeout: Duration = .seconds(5)) async -> [StoreHealth] {
        let core = core
        return await withTaskGroup(of: (Int, StoreHealth).self) { group in
            for (place, (_, entry)) in core.entries.enumerated() {
                group.addTask {
                    let start = ContinuousClock.now, limit = WorkLimit(reading: timeout)
                    // A queue of its own: long reads of the program do not make the stores look unreachable.
                    let answer = await core.workers.openings.result(limit) { () throws(StorageError) in try Self.read(entry, limit) }
                    var failure: StorageError?
                    if case .failure(let error) = answer { failure = error }
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

    /// Looks up a row. Opening a session need not reach a server.
    private static func read(_ entry: StackCore.Entry, _ limit: WorkLimit) throws(StorageError) {
        let reader = try entry.store.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        if let entity = entry.entities.min() { try reader.rows(entity, keys: [0], into: RowBatch(capacity: 1)) }
    }
}
