/// Collects the changes of a transaction and encodes them as one small blob.
///
/// Each change is encoded as a kind byte, the entity, and the distance from the previous key, as variable-length integers. A run of the
/// same kind over consecutive keys is written once with its length, so a hundred thousand inserts take a few bytes.
package struct HistoryRecorder: Sendable {
    static let insert: UInt8 = 1, update: UInt8 = 2, delete: UInt8 = 3, link: UInt8 = 4, tombstone: UInt8 = 5

    struct Run {
        var kind: UInt8
        var place: EntityIndex
        var extra = 0
        var mask = SlotMask()
        var first: Int64
        var count: Int64
        /// The index of the run's first tombstone.
        var tombstones = 0

        var last: Int64 { first &+ (count &- 1) }
        var isLink: Bool { kind == HistoryRecorder.link }

        /// Whether another run can be appended to this one.
        func isContinued(by next: Run) -> Bool {
            kind == next.kind && place == next.place && extra == next.extra && first &+ count == next.first && next.first != .min
                && mask == next.mask
                && (kind != HistoryRecorder.tombstone || tombstones + Int(count) == next.tombstones)
        }
    }

    private let rules: HistoryRules?
    private let isOn: Bool
    private let hidesAny: Bool
    private var runs: [Run] = []
    /// The encoded tombstones of deleted objects, in the order of the deletions.
    private var tombstones: [[UInt8]] = []
    /// The encoded tombstones of objects that are about to be deleted, by the root of their entity and their key.
    private var pending: [EntityIndex: [Int64: [UInt8]]] = [:]
    /// Whether any change was made, recorded or not.
    package private(set) var hasChanges = false

    /// Creates a recorder without changes.
    ///
    /// - Parameters:
    ///   - rules: The history rules of the model. Nil records every attribute and no values.
    ///   - isFollowed: Whether changes are collected even if the store keeps no history.
    package init(_ rules: HistoryRules? = nil, isFollowed: Bool = false) {
        self.rules = rules
        isOn = isFollowed || (rules?.isOn ?? true)
        hidesAny = rules?.hidesAny ?? false
    }

    /// Whether nothing was recorded.
    package var isEmpty: Bool { runs.isEmpty }

    /// Records the insertion of an object.
    package mutating func insert(_ entity: EntityIndex, _ key: Int64) { add(Self.insert, entity, 0, SlotMask(), key) }

    /// Records a change of attributes of an object.
    package mutating func update(_ entity: EntityIndex, _ key: Int64, _ mask: SlotMask) {
        add(Self.update, entity, 0, hidesAny ? rules?.visible(mask, entity) ?? mask : mask, key)
    }

    /// Records the deletion of an object, with the values that `remember` saved.
    package mutating func delete(_ entity: EntityIndex, _ key: Int64) {
        if !pending.isEmpty, let rules, let bytes = pending[rules.root(entity)]?.removeValue(forKey: key) {
            return delete(entity, key, bytes)
        }
        add(Self.delete, entity, 0, SlotMask(), key)
    }

    private mutating func delete(_ entity: EntityIndex, _ key: Int64, _ bytes: [UInt8]) {
        guard isOn else { return hasChanges = true }
        append(Run(kind: Self.tombstone, place: entity, first: key, count: 1, tombstones: tombstones.count))
        tombstones.append(bytes)
    }

    /// Records a change of the pairs of an owner in a link table.
    package mutating func links(_ link: Int, owner entity: EntityIndex, _ key: Int64) { add(Self.link, entity, link, SlotMask(), key) }

    /// Returns whether rows of an entity's hierarchy must be passed to `remember` before they are deleted.
    package func preserves(_ entity: EntityIndex) -> Bool { rules?.preserves(entity) ?? false }

    /// Saves the values that the model preserves of a row that is about to be deleted.
    package mutating func remember(_ row: borrowing RowView) {
        guard let rules else { return }
        let values = rules.tombstone(row)
        if !values.isEmpty { pending[rules.root(row.entity), default: [:]][row.key] = HistoryTombstone.bytes(values) }
    }

    @inline(__always)
    private mutating func add(_ kind: UInt8, _ place: EntityIndex, _ extra: Int, _ mask: SlotMask, _ key: Int64) {
        if !isOn { return hasChanges = true }
        if let last = runs.indices.last, runs[last].kind == kind, runs[last].place == place, runs[last].extra == extra,
            runs[last].first &+ runs[last].count == key, key != .min, runs[last].mask == mask
        {
            runs[last].count &+= 1
            return
        }
        append(Run(kind: kind, place: place, extra: extra, mask: mask, first: key, count: 1))
    }

    private mutating func append(_ run: Run) {
        hasChanges = true
        if let last = runs.indices.last, runs[last].isContinued(by: run) {
            runs[last].count &+= run.count
        } else {
            runs.append(run)
        }
    }

    /// Adds all changes of another recorder, translated to the next version of the model.
    package mutating func add(_ other: HistoryRecorder, by past: PastVersion) {
        if other.hasChanges { hasChanges = true }
        guard let changes = other.encode().withUnsafeBytes(Self.decode) else { return }
        add(past.translated(changes))
    }

    /// Adds changes of the history.
    package mutating func add(_ changes: HistoryChanges) {
        for change in changes {
            switch change.kind {
            case .insert: insert(change.entity, change.key)
            case .update(let mask): update(change.entity, change.key, mask)
            case .delete:
                if change.tombstone.isEmpty {
                    delete(change.entity, change.key)
                } else {
                    delete(change.entity, change.key, HistoryTombstone.bytes(change.tombstone))
                }
            case .links(let link): links(link, owner: change.entity, change.key)
            }
        }
    }

    // MARK: Marks

    /// The state of the recorder to which `rewind` returns.
    package struct Mark: Sendable {
        fileprivate let runs: Int
        fileprivate let lastCount: Int64
        fileprivate let tombstones: Int
        fileprivate let hasChanges: Bool
    }

    /// Returns the current state.
    package func mark() -> Mark {
        Mark(runs: runs.count, lastCount: runs.last?.count ?? 0, tombstones: tombstones.count, hasChanges: hasChanges)
    }

    /// Discards the changes that were recorded since a mark.
    package mutating func rewind(to mark: Mark) {
        runs.removeLast(max(runs.count - mark.runs, 0))
        if let last = runs.indices.last { runs[last].count = mark.lastCount }
        tombstones.removeLast(max(tombstones.count - mark.tombstones, 0))
        pending.removeAll()
        hasChanges = mark.hasChanges
    }

    /// The recorded changes, one for each object. Nil if there are changes but they are not recorded.
    package var changes: HistoryChanges? {
        if isUnrecorded { return nil }
        // Tombstones are only available in encoded form.
        if !tombstones.isEmpty { return encode().withUnsafeBytes(Self.decode) }
        var changes = HistoryChanges()
        for run in HistoryCoalescing(runs, rules).result() {
            let kind: HistoryChange.Kind =
                switch run.kind {
                case Self.insert: .insert
                case Self.delete, Self.tombstone: .delete
                case Self.link: .links(run.extra)
                default: .update(run.mask)
                }
            _ = changes.append(run.place, first: run.first, count: run.count, kind)
        }
        return changes
    }

    /// Whether changes were made but not recorded.
    private var isUnrecorded: Bool { !isOn && hasChanges }

    // MARK: Bytes

    /// Returns the encoded changes, one for each object. The result is empty if all of them cancel out.
    package func encode() -> [UInt8] { Self.encode(HistoryCoalescing(runs, rules).result(), tombstones) }

    /// Returns the encoded form of changes, which takes no longer for a run of many keys.
    package static func encode(_ changes: HistoryChanges) -> [UInt8] {
        var runs: [Run] = [], tombstones: [[UInt8]] = []
        for (run, keys) in zip(changes.runs, changes.keyRuns) {
            var new = Run(kind: insert, place: run.entity, first: run.first, count: Int64(keys.keys.count))
            switch run.kind {
            case .insert: break
            case .update(let mask): (new.kind, new.mask) = (update, mask)
            case .delete:
                new.kind = run.tombstones.isEmpty ? delete : tombstone
                new.tombstones = tombstones.count
                tombstones += run.tombstones.map(HistoryTombstone.bytes)
            case .links(let table): (new.kind, new.extra) = (link, table)
            }
            runs.append(new)
        }
        return encode(runs, tombstones)
    }

    private static func encode(_ runs: [Run], _ tombstones: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(runs.count * 6)
        var previous: Int64 = 0
        for run in runs {
            bytes.append(run.kind)
            Varint.append(UInt64(run.place), to: &bytes)
            if run.kind == link { Varint.append(UInt64(run.extra), to: &bytes) }
            if run.kind == update {
                Varint.append(run.mask.low, to: &bytes)
                Varint.append(UInt64(run.mask.high.count), to: &bytes)
                for word in run.mask.high { Varint.append(word, to: &bytes) }
            }
            Varint.append(Varint.zigzag(run.first &- previous), to: &bytes)
            Varint.append(UInt64(run.count), to: &bytes)
            if run.kind == tombstone {
                for index in 0..<Int(run.count) { bytes += tombstones[run.tombstones + index] }
            }
            previous = run.first &+ run.count
        }
        return bytes
    }

    /// Decodes a blob of changes. Returns nil if it is ill-formed. This does not check that the model contains the parts to which the
    /// changes refer; `check` does.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> HistoryChanges? {
        var changes = HistoryChanges()
        var reader = Varint.Reader(bytes)
        var previous: Int64 = 0
        while !reader.isAtEnd {
            guard let kind = reader.byte(), let place = index(&reader), let change = change(kind, &reader) else { return nil }
            guard let step = reader.next(), let count = reader.next(), count > 0, count <= 1 << 62 else { return nil }
            var values: [[Int: Value]] = []
            if kind == tombstone {
                // Each value takes at least one byte, so a damaged count cannot exhaust the memory.
                guard count <= UInt64(reader.remaining) else { return nil }
                for _ in 0..<count {
                    guard let next = HistoryTombstone.values(&reader) else { return nil }
                    values.append(next)
                }
            }
            let first = previous &+ Varint.unzigzag(step)
            guard changes.append(place, first: first, count: Int64(count), change, values) else { return nil }
            previous = first &+ Int64(count)
        }
        return changes
    }

    /// Reads the number of an entity or a link table.
    private static func index(_ reader: inout Varint.Reader) -> Int? { reader.next().flatMap { Int(exactly: $0) } }

    private static func change(_ kind: UInt8, _ reader: inout Varint.Reader) -> HistoryChange.Kind? {
        switch kind {
        case insert: return .insert
        case delete, tombstone: return .delete
        case link: return index(&reader).map { .links($0) }
        case update:
            guard let low = reader.next(), let words = reader.next(), words < 1024 else { return nil }
            var high: [UInt64] = []
            for _ in 0..<words {
                guard let word = reader.next() else { return nil }
                high.append(word)
            }
            return .update(SlotMask(low: low, high: high))
        default: return nil
        }
    }
}
