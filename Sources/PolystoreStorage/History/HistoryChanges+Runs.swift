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

    /// The changes as they are held, run by run: a hundred thousand inserts are one.
    public var keyRuns: some Sequence<KeyRun> {
        runs.indices.lazy.map { index in
            let run = runs[index], end = index + 1 < runs.count ? runs[index + 1].start : endIndex
            return KeyRun(entity: run.entity, keys: run.first...(run.first + Int64(end - run.start - 1)), kind: run.kind)
        }
    }
}
