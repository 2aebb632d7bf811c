public import PolystoreFoundation

/// A purge of a store's history, which never removes entries that a registered consumer has not processed.
public struct HistoryPurge: Sendable, Hashable {
    /// The part of the history to purge.
    public enum Bound: Sendable, Hashable {
        /// Everything up to and including a token.
        case through(HistoryToken)
        /// Everything before the first entry that is younger than the given number of seconds. An entry dated in the future, by a clock
        /// that was wrong, has an unknown age: it is removed together with an older entry after it.
        case olderThan(seconds: Double)
        /// Everything that all counted consumers have processed. Nothing if no consumer counts.
        case acknowledged
    }

    /// The part of the history to purge.
    public var bound: Bound
    /// The number of seconds after which a consumer without acknowledgements no longer holds entries back. Nil if every consumer holds
    /// entries back.
    public var ignoresUnseenFor: Double?

    /// Creates a purge.
    public init(_ bound: Bound, ignoresUnseenFor: Double? = nil) {
        self.bound = bound
        self.ignoresUnseenFor = ignoresUnseenFor
    }

    /// The result of a purge.
    public struct Outcome: Sendable, Hashable {
        /// The number of transactions that were removed.
        public var removed = 0
        /// The token of the newest removed transaction, or nil if none was removed.
        public var through: HistoryToken?
        /// The consumers that still need the first entry that could not be removed.
        public var heldBackBy: [String] = []
        /// The consumers that were ignored because they have not acknowledged entries for too long.
        public var ignored: [String] = []
    }

    /// Purges in a write transaction, which the caller has to commit. Iterates through the entries that it removes.
    ///
    /// - Throws: `tokenExpired` for a token of another store; `unsupported` for a store that keeps no history.
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
            outcome.heldBackBy = counted.filter { $0.needed < entry.token.position }.map(\.name)
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

    /// Passes entries to `body`, oldest first, until it returns false.
    private func walk(_ writer: WriteSession, _ body: (HistoryEntry) -> Bool) throws(StorageError) {
        var token: HistoryToken?
        while true {
            let entries = try writer.history(since: token, limit: 256)
            for entry in entries { if !body(entry) { return } }
            guard let last = entries.last else { return }
            token = last.token
        }
    }

    /// The decision whether an entry, with all entries before it, may be removed.
    private enum Verdict {
        case goes
        case stays
        /// The next entry with a decision determines it.
        case undecided
    }

    private func verdict(_ store: UUID, _ now: Int64, isConsumed: Bool) throws(StorageError) -> (HistoryEntry) -> Verdict {
        switch bound {
        case .through(let token):
            guard token.store == store else {
                throw StorageError(.tokenExpired, "the token belongs to another store; purge with a token of this store's history")
            }
            return { $0.token.position <= token.position ? .goes : .stays }
        case .olderThan(let seconds):
            guard seconds.isFinite, seconds >= 0, seconds < 1e12 else {
                throw StorageError(
                    .invalidConfiguration, "the age of the history to purge must be a number of seconds from 0 to below 1e12")
            }
            let limit = now - Int64(seconds * 1_000_000)
            return { $0.time < limit ? .goes : $0.time > now ? .undecided : .stays }
        case .acknowledged: return { _ in isConsumed ? .goes : .stays }
        }
    }
}
