extension HistoryChanges {
    /// A run of changes of the same kind to objects with consecutive primary keys.
    public struct KeyRun: Sendable, Hashable {
        /// The entity of the objects.
        public let entity: EntityIndex
        /// The primary keys of the objects.
        public let keys: ClosedRange<Int64>
        /// The kind of the change of each object.
        public let kind: HistoryChange.Kind
    }

    /// The number of runs.
    public var runCount: Int { runs.count }

    /// The memory cost of the changes: one unit for each run, and one for each kilobyte of tombstones.
    package var weight: Int {
        let bytes = runs.reduce(0) { bytes, run in run.tombstones.reduce(bytes) { $0 + Self.bytes($1) } }
        return runs.count + bytes / 1024
    }

    /// Whether the changes contain tombstones, which are values of deleted objects.
    package var hasTombstones: Bool { runs.contains { !$0.tombstones.isEmpty } }

    /// Returns the approximate size of a tombstone in memory, in bytes.
    private static func bytes(_ tombstone: [Int: Value]) -> Int {
        tombstone.values.reduce(64) { $0 + 32 + ($1.byteCount ?? 0) }
    }

    /// The changes in their stored form, run by run. A hundred thousand inserts with consecutive keys form a single run.
    public var keyRuns: some Sequence<KeyRun> {
        runs.indices.lazy.map { index in
            let run = runs[index], end = index + 1 < runs.count ? runs[index + 1].start : endIndex
            return KeyRun(entity: run.entity, keys: run.first...(run.first + Int64(end - run.start - 1)), kind: run.kind)
        }
    }
}
