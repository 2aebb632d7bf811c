/// The changes of a transaction, as a collection that is computed from runs of primary keys.
///
/// A hundred thousand inserts form one run and remain one in memory, so a small entry of a damaged file cannot exhaust the memory. Access
/// to a position takes logarithmic time in the number of runs; iteration takes constant time for each change.
public struct HistoryChanges: RandomAccessCollection, Sendable, Hashable {
    struct Run: Sendable, Hashable {
        let entity: EntityIndex
        let first: Int64
        let kind: HistoryChange.Kind
        /// The position of the first change.
        let start: Int
        /// The tombstone of each deleted object, or empty if nothing is preserved.
        var tombstones: [[Int: Value]] = []

        func change(_ position: Int) -> HistoryChange {
            HistoryChange(
                entity: entity, key: first + Int64(position - start), kind: kind,
                tombstone: tombstones.isEmpty ? [:] : tombstones[position - start])
        }
    }

    private(set) var runs: [Run] = []
    /// The number of changes.
    public private(set) var endIndex = 0

    /// Creates an empty collection of changes.
    public init() {}

    /// Creates a collection of individual changes.
    public init(_ changes: some Sequence<HistoryChange>) {
        for change in changes {
            let tombstones = change.tombstone.isEmpty ? [] : [change.tombstone]
            _ = append(change.entity, first: change.key, count: 1, change.kind, tombstones)
        }
    }

    /// Zero.
    public var startIndex: Int { 0 }

    /// Appends changes of consecutive keys. Returns false if the number of changes or a key would overflow.
    ///
    /// - Parameter tombstones: The tombstones of the deleted objects, one for each change, or empty if nothing is preserved.
    mutating func append(
        _ entity: EntityIndex, first: Int64, count: Int64, _ kind: HistoryChange.Kind, _ tombstones: [[Int: Value]] = []
    ) -> Bool {
        let (last, overflows) = first.addingReportingOverflow(count - 1)
        let (end, isTooLong) = endIndex.addingReportingOverflow(Int(count))
        guard !overflows, !isTooLong, last >= first else { return false }
        runs.append(Run(entity: entity, first: first, kind: kind, start: endIndex, tombstones: tombstones))
        endIndex = end
        return true
    }

    /// Returns the changes, run by run, with entities and kinds replaced by `transform`. Runs for which it returns nil are omitted.
    ///
    /// - Parameter tombstone: Converts a tombstone of an object of the original entity.
    func mapped(
        _ transform: (EntityIndex, HistoryChange.Kind) -> (EntityIndex, HistoryChange.Kind, keyOffset: Int64)?,
        tombstone: (EntityIndex, [Int: Value]) -> [Int: Value]
    ) -> HistoryChanges {
        var result = HistoryChanges()
        for (index, run) in runs.enumerated() {
            let end = index + 1 < runs.count ? runs[index + 1].start : endIndex
            guard let (entity, kind, offset) = transform(run.entity, run.kind) else { continue }
            _ = result.append(
                entity, first: run.first &+ offset, count: Int64(end - run.start), kind, run.tombstones.map { tombstone(run.entity, $0) })
        }
        return result
    }

    /// The same changes without tombstones.
    package var withoutTombstones: HistoryChanges {
        var changes = self
        for index in runs.indices where !runs[index].tombstones.isEmpty { changes.runs[index].tombstones = [] }
        return changes
    }

    /// The change at a position.
    public subscript(position: Int) -> HistoryChange {
        var low = 0, high = runs.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].start <= position { low = middle } else { high = middle }
        }
        return runs[low].change(position)
    }

    /// Returns an iterator over the changes in order.
    public func makeIterator() -> Iterator { Iterator(self) }

    /// An iterator over changes.
    public struct Iterator: IteratorProtocol {
        private let changes: HistoryChanges
        private var run = 0
        private var position = 0

        init(_ changes: HistoryChanges) { self.changes = changes }

        /// Returns the next change, or nil at the end.
        public mutating func next() -> HistoryChange? {
            guard position < changes.endIndex else { return nil }
            if run + 1 < changes.runs.count, changes.runs[run + 1].start == position { run += 1 }
            defer { position += 1 }
            return changes.runs[run].change(position)
        }
    }

    /// Whether both collections have the same changes in the same order, independently of their division into runs.
    public static func == (a: HistoryChanges, b: HistoryChanges) -> Bool {
        a.endIndex == b.endIndex && (a.runs == b.runs || a.elementsEqual(b))
    }

    /// Hashes the number of changes, the first change, and the last change.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(endIndex)
        hasher.combine(first)
        hasher.combine(last)
    }
}

extension HistoryChanges {
    /// Refuses changes of entities, slots, or link tables that the model does not contain. Only a damaged entry refers to such parts.
    public func check(_ schema: Schema) throws(StorageError) {
        for run in runs where !Self.fits(run, schema) { throw .damagedHistory }
    }

    private static func fits(_ run: Run, _ schema: Schema) -> Bool {
        guard schema.descriptions.indices.contains(run.entity) else { return false }
        let count = schema[run.entity].slots.count
        guard run.tombstones.allSatisfy({ $0.keys.allSatisfy { (0..<count).contains($0) } }) else { return false }
        switch run.kind {
        case .insert, .delete: return true
        case .update(let mask): return mask.high.isEmpty ? mask.low >> count == 0 : (mask.slots.last ?? 0) < count
        case .links(let link): return schema.links.indices.contains(link)
        }
    }
}

extension HistoryEntry {
    /// Returns entries in terms of the store's current model. Entries that were written under an older version are translated.
    ///
    /// - Throws: `corrupted` if an entry refers to a part that the model does not contain.
    public static func current(
        _ entries: [HistoryEntry], _ metadata: StoreMetadata, _ session: any StorageReader
    ) throws(StorageError) -> [HistoryEntry] {
        let entries = try PastVersion.translate(entries, metadata.migrations, session)
        for entry in entries { try entry.changes.check(metadata.schema) }
        return entries
    }
}

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
