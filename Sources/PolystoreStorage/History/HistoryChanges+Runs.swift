extension HistoryChanges {
    /// Changes of the same kind of objects with consecutive keys.
    public struct KeyRun: Sendable, Hashable {
        /// The entity of the objects.
        public let entity: EntityIndex
        /// Their keys.
        public let keys: ClosedRange<Int64>
        /// What happened to each.
        public let kind: HistoryChange.Kind
    }

    /// The number of runs.
    public var runCount: Int { runs.count }

    /// What the changes cost to keep: one for each run, and one for each kilobyte that is kept of deleted objects.
    package var weight: Int {
        let bytes = runs.reduce(0) { bytes, run in run.tombstones.reduce(bytes) { $0 + Self.bytes($1) } }
        return runs.count + bytes / 1024
    }

    /// Whether anything is kept of deleted objects.
    package var hasTombstones: Bool { runs.contains { !$0.tombstones.isEmpty } }

    /// About what a tombstone takes in memory.
    private static func bytes(_ tombstone: [Int: Value]) -> Int {
        tombstone.values.reduce(64) { bytes, value in
            switch value {
            case .string(let text): bytes + 32 + text.utf8.count
            case .data(let data): bytes + 32 + data.count
            default: bytes + 32
            }
        }
    }

    /// The changes as they are held, run by run: a hundred thousand inserts are one.
    public var keyRuns: some Sequence<KeyRun> {
        runs.indices.lazy.map { index in
            let run = runs[index], end = index + 1 < runs.count ? runs[index + 1].start : endIndex
            return KeyRun(entity: run.entity, keys: run.first...(run.first + Int64(end - run.start - 1)), kind: run.kind)
        }
    }
}
