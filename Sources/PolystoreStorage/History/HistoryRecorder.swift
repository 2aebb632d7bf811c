/// Collects what a transaction changes and packs it into one small blob.
///
/// Each change is a kind byte, the entity, and the distance from the key before it, as variable-length integers; a run of the same kind
/// over consecutive keys is written once with its length. So a hundred thousand inserts take a few bytes.
public struct HistoryRecorder: Sendable {
    private static let insert: UInt8 = 1, update: UInt8 = 2, delete: UInt8 = 3, link: UInt8 = 4

    private struct Run {
        var kind: UInt8
        var place: Int
        var extra: Int
        var mask: SlotMask
        var first: Int64
        var count: Int64
    }

    private var runs: [Run] = []

    /// A recorder without changes.
    public init() {}

    /// Whether nothing was recorded.
    public var isEmpty: Bool { runs.isEmpty }

    /// An object was added.
    public mutating func insert(_ entity: EntityIndex, _ key: Int64) { add(Self.insert, entity, 0, SlotMask(), key) }

    /// Attributes of an object changed.
    public mutating func update(_ entity: EntityIndex, _ key: Int64, _ mask: SlotMask) { add(Self.update, entity, 0, mask, key) }

    /// An object was deleted.
    public mutating func delete(_ entity: EntityIndex, _ key: Int64) { add(Self.delete, entity, 0, SlotMask(), key) }

    /// The pairs of an owner in a link table changed.
    public mutating func links(_ link: Int, owner entity: EntityIndex, _ key: Int64) { add(Self.link, entity, link, SlotMask(), key) }

    @inline(__always)
    private mutating func add(_ kind: UInt8, _ place: Int, _ extra: Int, _ mask: SlotMask, _ key: Int64) {
        if let last = runs.indices.last, runs[last].kind == kind, runs[last].place == place, runs[last].extra == extra,
            runs[last].first &+ runs[last].count == key, runs[last].mask == mask
        {
            runs[last].count &+= 1
            return
        }
        runs.append(Run(kind: kind, place: place, extra: extra, mask: mask, first: key, count: 1))
    }

    /// Everything that another recorder has, as the next version of the model has it.
    public mutating func add(_ other: HistoryRecorder, by past: PastVersion) {
        guard let changes = other.encode().withUnsafeBytes(Self.decode) else { return }
        add(past.translated(changes))
    }

    /// Changes as the history has them.
    public mutating func add(_ changes: HistoryChanges) {
        for change in changes {
            switch change.kind {
            case .insert: insert(change.entity, change.key)
            case .update(let mask): update(change.entity, change.key, mask)
            case .delete: delete(change.entity, change.key)
            case .links(let link): links(link, owner: change.entity, change.key)
            }
        }
    }

    /// Forgets everything.
    public mutating func reset() { runs.removeAll(keepingCapacity: true) }

    /// What `rewind` needs to return to this moment.
    public struct Mark: Sendable {
        fileprivate let runs: Int
        fileprivate let lastCount: Int64
    }

    /// Marks this moment.
    public func mark() -> Mark { Mark(runs: runs.count, lastCount: runs.last?.count ?? 0) }

    /// Forgets what was recorded since a mark.
    public mutating func rewind(to mark: Mark) {
        runs.removeLast(max(runs.count - mark.runs, 0))
        if let last = runs.indices.last { runs[last].count = mark.lastCount }
    }

    /// The packed changes.
    public func encode() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(runs.count * 6)
        var previous: Int64 = 0
        for run in runs {
            bytes.append(run.kind)
            Varint.append(UInt64(run.place), to: &bytes)
            if run.kind == Self.link { Varint.append(UInt64(run.extra), to: &bytes) }
            if run.kind == Self.update {
                Varint.append(run.mask.low, to: &bytes)
                Varint.append(UInt64(run.mask.high.count), to: &bytes)
                for word in run.mask.high { Varint.append(word, to: &bytes) }
            }
            Varint.append(Varint.zigzag(run.first &- previous), to: &bytes)
            Varint.append(UInt64(run.count), to: &bytes)
            previous = run.first &+ run.count
        }
        return bytes
    }

    /// The changes of a packed blob; nil if it is ill-formed.
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> HistoryChanges? {
        var changes = HistoryChanges()
        var reader = Varint.Reader(bytes)
        var previous: Int64 = 0
        while !reader.isAtEnd {
            guard let kind = reader.byte(), let place = reader.next() else { return nil }
            var change: HistoryChange.Kind
            switch kind {
            case insert: change = .insert
            case delete: change = .delete
            case link:
                guard let number = reader.next() else { return nil }
                change = .links(Int(truncatingIfNeeded: number))
            case update:
                guard let low = reader.next(), let words = reader.next(), words < 1024 else { return nil }
                var high: [UInt64] = []
                for _ in 0..<words {
                    guard let word = reader.next() else { return nil }
                    high.append(word)
                }
                change = .update(SlotMask(low: low, high: high))
            default: return nil
            }
            guard let step = reader.next(), let count = reader.next(), count > 0, count <= 1 << 62 else { return nil }
            let first = previous &+ Varint.unzigzag(step)
            guard changes.append(Int(truncatingIfNeeded: place), first: first, count: Int64(count), change) else { return nil }
            previous = first &+ Int64(count)
        }
        return changes
    }
}
