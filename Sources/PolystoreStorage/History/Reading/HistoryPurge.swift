public import Foundation

/// What of a store's history may be forgotten, never beyond the slowest consumer.
public struct HistoryPurge: Sendable, Hashable {
    /// How much of the history is not wanted any more.
    public enum Bound: Sendable, Hashable {
        /// Everything up to a token, itself included.
        case through(HistoryToken)
        /// Everything before the first entry that is younger than so many seconds. An entry dated in the future, by a clock that was
        /// wrong, says nothing of its age: it goes with an older one behind it.
        case olderThan(seconds: Double)
        /// What all consumers have done; nothing where none counts.
        case acknowledged
    }

    /// How much is not wanted any more.
    public var bound: Bound
    /// Consumers that were not heard of for so many seconds hold nothing back; nil for none.
    public var ignoresUnseenFor: Double?

    /// A purge.
    public init(_ bound: Bound, ignoresUnseenFor: Double? = nil) {
        self.bound = bound
        self.ignoresUnseenFor = ignoresUnseenFor
    }

    /// What a purge did.
    public struct Outcome: Sendable, Hashable {
        /// The number of transactions that were forgotten.
        public var removed = 0
        /// The newest of them; nil where none was.
        public var through: HistoryToken?
        /// The consumers that need something that was to be forgotten.
        public var heldBackBy: [String] = []
        /// The consumers that were left out because they were not heard of for long.
        public var ignored: [String] = []
    }

    /// Purges in a write transaction, which is to be committed then. It walks through what it forgets.
    ///
    /// - Throws: `tokenExpired` for a token of another store; `unsupported` by a store that keeps no history.
    public func run(_ writer: WriteSession, now: Date = Date()) throws(StorageError) -> Outcome {
        let store = writer.store.storeID
        let time = Microseconds.from(now) ?? 0
        let known = try HistoryConsumers(writer).all().filter { $0.token.store == store }
        let counted = known.filter { !isIgnored($0, time) }
        var outcome = Outcome()
        outcome.ignored = known.filter { isIgnored($0, time) }.map(\.name)
        let verdict = try verdict(store, time, isConsumed: !counted.isEmpty)
        var undecided = 0
        try walk(writer) { entry in
            switch verdict(entry) {
            case .stays: return false
            case .undecided:
                undecided += 1
                return true
            case .goes: break
            }
            outcome.heldBackBy = counted.filter { $0.token.position < entry.token.position }.map(\.name)
            guard outcome.heldBackBy.isEmpty else { return false }
            outcome.removed += undecided + 1
            undecided = 0
            outcome.through = entry.token
            return true
        }
        if let through = outcome.through { try writer.purgeHistory(through: through) }
        return outcome
    }

    private func isIgnored(_ offset: HistoryOffset, _ now: Int64) -> Bool {
        ignoresUnseenFor.map { (Double(now) - Double(offset.seen)) / 1_000_000 > $0 } ?? false
    }

    /// Hands over entries from the oldest on, for as long as they are asked for.
    private func walk(_ writer: WriteSession, _ body: (HistoryEntry) -> Bool) throws(StorageError) {
        var token: HistoryToken?
        while true {
            let entries = try writer.history(since: token, limit: 256)
            for entry in entries { if !body(entry) { return } }
            guard let last = entries.last else { return }
            token = last.token
        }
    }

    /// Whether an entry and all before it may go.
    private enum Verdict {
        case goes
        case stays
        /// The next entry that is decided decides it.
        case undecided
    }

    private func verdict(_ store: UUID, _ now: Int64, isConsumed: Bool) throws(StorageError) -> (HistoryEntry) -> Verdict {
        switch bound {
        case .through(let token):
            guard token.store == store else {
                throw StorageError(.tokenExpired, "the token is of another store; purge with one of this store's history")
            }
            return { $0.token.position <= token.position ? .goes : .stays }
        case .olderThan(let seconds):
            guard seconds.isFinite, seconds >= 0, seconds < 1e12 else {
                throw StorageError(.invalidConfiguration, "the age of what is to be purged is a number of seconds from 0, below 1e12")
            }
            let limit = now - Int64(seconds * 1_000_000)
            return { $0.time < limit ? .goes : $0.time > now ? .undecided : .stays }
        case .acknowledged: return { _ in isConsumed ? .goes : .stays }
        }
    }
}
