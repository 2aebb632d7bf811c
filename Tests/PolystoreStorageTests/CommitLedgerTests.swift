import PolystoreStorage
import Testing

/// A store that only counts, with commits of this instance and of others.
private struct Counted {
    let own = OwnCommits()
    var count = CommitCount(commits: 100, listed: 40, quiet: 7)

    mutating func commit(listed: Int64 = 0, quiet: Int64 = 0) {
        count.commits = count.commits.map { $0 + 1 }
        count.version += 1
        count.listed += listed
        count.quiet += quiet
    }

    mutating func ownCommit(listed: Int64 = 0, quiet: Int64 = 0, rows: Bool = false) throws(StorageError) {
        var isDone = false
        try own.count(isListed: listed > 0, isUnlisted: rows) { isDone = true }
        if isDone { commit(listed: listed, quiet: quiet) }
    }

    func ledger() throws(StorageError) -> CommitLedger {
        var ledger = CommitLedger(own)
        _ = try look(&ledger)
        return ledger
    }

    func look(_ ledger: inout CommitLedger) throws(StorageError) -> ChangeSignal? { try ledger.signal { () throws(StorageError) in count } }
}

@Suite struct CommitLedgerTests {
    @Test func theFirstPollReportsNothing() throws {
        let store = Counted()
        var ledger = CommitLedger(store.own)
        #expect(!ledger.hasBegun)
        #expect(try store.look(&ledger) == nil)
        #expect(ledger.hasBegun)
        #expect(try store.look(&ledger) == nil)
    }

    @Test func historyEntriesOfOtherProcessesAreReported() throws {
        var store = Counted(), ledger = try store.ledger()
        store.commit(listed: 1)
        #expect(try store.look(&ledger) == .history)
        #expect(try store.look(&ledger) == nil)
    }

    /// The numbers lie in files, where anything can stand.
    @Test func anyNumbersAreCompared() throws {
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for isCounted in [true, false] {
            for (first, second) in extremes.flatMap({ first in extremes.map { (first, $0) } }) {
                var store = Counted()
                store.count = CommitCount(commits: isCounted ? first : nil, listed: second, quiet: first)
                var ledger = try store.ledger()
                for (listed, quiet) in [(first, second), (second, first), (.max, .min), (.min, .max), (0, 0)] as [(Int64, Int64)] {
                    store.count.commits = isCounted ? quiet : nil
                    (store.count.listed, store.count.quiet) = (listed, quiet)
                    store.count.version &+= 1
                    _ = try store.look(&ledger)
                }
                #expect(try store.look(&ledger) == nil, "the same numbers again are nothing new")
            }
        }
    }

    @Test func quietCommitsAreNotReported() throws {
        var store = Counted(), ledger = try store.ledger()
        store.commit(quiet: 1)
        #expect(try store.look(&ledger) == nil)
    }

    @Test func aCommitWithoutAListedChangeIsReportedAsUnknown() throws {
        var store = Counted(), ledger = try store.ledger()
        store.commit()
        #expect(try store.look(&ledger) == .unknown)
        #expect(try store.look(&ledger) == nil)
    }

    @Test func aRawCommitBetweenOthersIsReported() throws {
        var store = Counted(), ledger = try store.ledger()
        store.commit(listed: 1)
        store.commit()
        store.commit(quiet: 1)
        store.commit(listed: 1)
        #expect(try store.look(&ledger) == .unknown)
        #expect(try store.look(&ledger) == nil)
    }

    @Test func rowsOutsideOfTheHistoryEntryAreReportedAsUnknown() throws {
        var store = Counted(), ledger = try store.ledger()
        var beside = ChangesBeside()
        beside.rows()
        store.commit(listed: 1, quiet: beside.quietStep(isListed: true, isRecorded: true))
        #expect(try store.look(&ledger) == .unknown)
    }

    @Test func ownCommitsAreNotReported() throws {
        var store = Counted(), ledger = try store.ledger()
        try store.ownCommit(listed: 1)
        try store.ownCommit(rows: true)
        try store.ownCommit(quiet: 1)
        try store.ownCommit(listed: 1, quiet: -1, rows: true)
        #expect(try store.look(&ledger) == nil)
        store.commit(listed: 1)
        #expect(try store.look(&ledger) == .history)
    }

    @Test func aForeignCommitIsSeenAmongOwnOnes() throws {
        var store = Counted(), ledger = try store.ledger()
        try store.ownCommit(rows: true)
        store.commit()
        try store.ownCommit(listed: 1)
        #expect(try store.look(&ledger) == .unknown)
    }

    @Test func anOwnCommitInProgressIsNotReported() throws {
        var store = Counted(), ledger = try store.ledger()
        let count = store.count
        try store.own.count(isListed: false, isUnlisted: true) { () throws(StorageError) in
            // It is visible before it has returned.
            var after = count
            after.commits = 101
            #expect(try ledger.signal { () throws(StorageError) in after } == nil)
        }
        store.commit()
        #expect(try store.look(&ledger) == nil)
        store.commit()
        #expect(try store.look(&ledger) == .unknown)
    }

    @Test func aCommitThatFailedCountsNothing() throws {
        var store = Counted(), ledger = try store.ledger()
        #expect(throws: StorageError.self) {
            try store.own.count(isListed: true, isUnlisted: true) { () throws(StorageError) in throw StorageError(.diskFull, "full") }
        }
        store.commit()
        #expect(try store.look(&ledger) == .unknown)
    }

    @Test func aCommitBetweenThePollAndTheCountIsReportedByTheNextPoll() throws {
        var store = Counted(), ledger = try store.ledger()
        let before = store.count
        store.commit()
        try store.ownCommit(rows: true)
        #expect(try ledger.signal { () throws(StorageError) in before } == nil)
        #expect(try store.look(&ledger) == .unknown)
    }

    @Test func aChangedFormRestartsWithASignalForTheHistory() throws {
        var store = Counted(), ledger = try store.ledger()
        let count = store.count
        try store.own.reshape { () throws(StorageError) in
            var after = count
            after.commits = 105
            #expect(try ledger.signal { () throws(StorageError) in after } == nil)
        }
        store.commit()
        #expect(try store.look(&ledger) == .history)
        #expect(try store.look(&ledger) == nil)
    }

    @Test func decreasingCountsAreReportedAsUnknown() throws {
        var store = Counted(), ledger = try store.ledger()
        store.count = CommitCount(commits: 3, listed: 1, quiet: 0)
        #expect(try store.look(&ledger) == .unknown)
        #expect(try store.look(&ledger) == nil)
    }

    @Test func theVersionIsComparedIfThereIsNoCommitCount() throws {
        var store = Counted()
        store.count = CommitCount(commits: nil, version: 5, listed: 40, quiet: 7)
        var ledger = try store.ledger()
        store.commit(listed: 1)
        #expect(try store.look(&ledger) == .history)
        store.commit(quiet: 1)
        #expect(try store.look(&ledger) == nil)
        store.commit()
        #expect(try store.look(&ledger) == .unknown)
        try store.ownCommit(rows: true)
        #expect(try store.look(&ledger) == nil)
        try store.ownCommit(listed: 1)
        #expect(try store.look(&ledger) == nil)
    }

    @Test func changesOutsideOfTheHistoryRaiseTheirOwnCount() {
        var quiet = ChangesBeside(), rows = ChangesBeside()
        quiet.quietly()
        rows.rows()
        rows.quietly()
        let none = ChangesBeside()
        #expect(none.quietStep(isListed: false, isRecorded: false) == 0)
        // What was made and deleted again has written pages, and no entry.
        #expect(none.quietStep(isListed: false, isRecorded: true) == 1)
        #expect(none.quietStep(isListed: true, isRecorded: true) == 0)
        #expect(quiet.quietStep(isListed: false, isRecorded: false) == 1)
        #expect(quiet.quietStep(isListed: true, isRecorded: true) == 0)
        #expect(rows.quietStep(isListed: false, isRecorded: false) == 0)
        #expect(rows.quietStep(isListed: true, isRecorded: true) == -1)
    }
}
