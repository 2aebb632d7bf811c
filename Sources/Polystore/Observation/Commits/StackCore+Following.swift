internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The watch over what others change in one store of a stack.
struct Following: Sendable {
    /// Nil where nobody else can change the store.
    var watch: (any ChangeWatch)?
    /// Whether a thread looks into the history.
    var isLooking = false
    /// Whether to look again when that is done.
    var isSignalled = false
    /// Whether something changed that the history does not name.
    var isUnknown = false
    /// Seconds until the history is looked into again by itself, because not all of it had settled or it could not be read.
    var pause = Self.shortestPause

    static let shortestPause = 0.001
    static let longestPause = 1.0
}

/// What others commit, told like the commits of the stack itself.
extension StackCore {
    private static let pageSize = 256

    /// A commit of the stack has ended; nil where it failed or changed nothing.
    func didCommit(_ ticket: CommitHub.Ticket, _ changes: CommittedChanges?) {
        for store in commits.end(ticket, changes) { look(into: store) }
    }

    /// A commit to a store may have happened although the engine could not say so: the history is asked, now and when the engine has had time
    /// to end it.
    func commitIsInDoubt(in store: Int) {
        commits.doubt(store)
        look(into: store)
        DispatchQueue.global().asyncAfter(deadline: .now() + Following.longestPause) { [weak self] in self?.look(into: store) }
    }

    /// Tells a subscriber of every commit from now on, those of others included.
    ///
    /// - Throws: What the first store throws that cannot be watched; the others are.
    func observe(_ subscriber: any CommitSubscriber) throws(StorageError) {
        commits.subscribe(subscriber)
        isFollowing.store(true, ordering: .sequentiallyConsistent)
        var failure: StorageError?
        for (store, _) in entries { do throws(StorageError) { try follow(store) } catch { failure = failure ?? error } }
        if let failure { throw failure }
    }

    /// A store has come or is gone: lists of its objects are fetched anew, and one that has come is watched where the others are.
    func storesChanged(_ store: Int) {
        if (try? entry(store)) == nil {
            unfollow(store)
        } else if isFollowing.load(ordering: .sequentiallyConsistent) {
            // A store that cannot be watched can be used all the same; why it cannot be is reported.
            try? reporting { () throws(StorageError) in try follow(store) }
        }
        commits.publish(.unknown(store))
    }

    /// Begins to watch a store, if nobody does; whoever comes meanwhile waits until it has begun. Not inlined into tasks: decision 0038, "No
    /// lock is inlined where a task waits".
    @inline(never) func follow(_ store: Int) throws(StorageError) {
        try startingToFollow.withLock { _ throws(StorageError) in try beginFollowing(store) }
    }

    private func beginFollowing(_ store: Int) throws(StorageError) {
        let isNew = following.withLock { following in
            defer { following[store] = following[store] ?? Following() }
            return following[store] == nil
        }
        if !isNew { return }
        do throws(StorageError) {
            let entry = try entry(store)
            commits.follow(store, isOrdered: !entry.store.capabilities.contains(.concurrentWriters))
            let watch = try entry.store.watchChanges { [weak self] signal in self?.look(into: store, signal) }
            guard let watch else { return commits.unfollow(store) }
            let isKept = following.withLock { following in
                guard following[store] != nil else { return false }
                following[store]?.watch = watch
                return true
            }
            guard isKept else { return watch.cancel() }
            let reader = try entry.store.beginRead()
            defer { reader.end() }
            commits.start(store, after: try reader.currentToken()?.position ?? 0)
            look(into: store)
        } catch {
            unfollow(store)
            throw error
        }
    }

    /// Ends the watch over a store.
    func unfollow(_ store: Int) {
        following.withLock { $0.removeValue(forKey: store) }?.watch?.cancel()
        commits.unfollow(store)
    }

    /// Ends the watch over a store that nobody observes.
    ///
    /// - Returns: False when somebody has come meanwhile.
    private func unfollowUnobserved(_ store: Int) -> Bool {
        startingToFollow.withLock { _ in
            // Who comes now waits, and begins anew.
            isFollowing.store(false, ordering: .sequentiallyConsistent)
            if commits.isObserved {
                isFollowing.store(true, ordering: .sequentiallyConsistent)
                return false
            }
            unfollow(store)
            return true
        }
    }

    /// Looks into the history of a store on a thread of the stack.
    func look(into store: Int, _ signal: ChangeSignal = .history) {
        if !beginsToLook(store, signal) { return }
        do throws(StorageError) {
            try workers.threads.run { [weak self] in self?.lookInto(store) }
        } catch {
            following.withLock { $0[store]?.isLooking = false }
            lookLater(store)
        }
    }

    /// Looks into the history of a store on this thread, before some of it is forgotten: nobody has to begin anew then because of what it has
    /// been told.
    func lookAtOnce(into store: Int) { if beginsToLook(store, .history) { lookInto(store) } }

    /// Notes that there is something to look for; false where nobody follows the store, and where a thread looks already.
    private func beginsToLook(_ store: Int, _ signal: ChangeSignal) -> Bool {
        following.withLock { following in
            guard var state = following[store] else { return false }
            defer { following[store] = state }
            if signal == .unknown { state.isUnknown = true }
            state.isSignalled = true
            if state.isLooking { return false }
            state.isLooking = true
            return true
        }
    }

    private func lookInto(_ store: Int) {
        if !commits.isObserved, unfollowUnobserved(store) { return }
        while let isUnknown = nextLook(store) {
            do throws(StorageError) {
                if isUnknown { commits.publish(.unknown(store)) }
                if try tellHistory(of: store) { lookLater(store) } else { setPause(store, Following.shortestPause) }
            } catch {
                // The store may be out of reach for a while; whoever has waited for it asks again.
                lookLater(store)
            }
        }
    }

    /// Whether there is something to look for, and what; nil ends the looking.
    private func nextLook(_ store: Int) -> Bool? {
        following.withLock { following in
            guard var state = following[store] else { return nil }
            defer { following[store] = state }
            guard state.isSignalled else {
                state.isLooking = false
                return nil
            }
            defer { state.isUnknown = false }
            state.isSignalled = false
            return state.isUnknown
        }
    }

    private func setPause(_ store: Int, _ pause: Double) { following.withLock { $0[store]?.pause = pause } }

    private func lookLater(_ store: Int) {
        let pause = following.withLock { $0[store]?.pause } ?? Following.longestPause
        setPause(store, min(pause * 2, Following.longestPause))
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [weak self] in self?.look(into: store) }
    }

    /// Tells what the history has after the last time.
    ///
    /// - Returns: Whether it has more that has not settled.
    private func tellHistory(of store: Int) throws(StorageError) -> Bool {
        while let position = commits.position(store) {
            if !commits.hasRoom(store) { return true }
            let doubts = commits.doubts(store)
            switch try page(of: store, after: position) {
            case .entries(let entries):
                waitForCommits(to: store)
                commits.advance(store, entries)
            case .unsettled: return true
            case .end:
                commits.settle(store, doubts: doubts)
                return false
            case .gone(let newest):
                commits.jump(store, to: newest ?? position)
                if newest != nil { continue }
                // Somebody writes without recording it: nothing is to be found before the next signal.
                commits.settle(store, doubts: doubts)
                return false
            }
        }
        return false
    }

    /// What a history has after a position.
    private enum FoundHistory {
        case entries([HistoryEntry])
        /// Nothing yet: a transaction that comes next may not have ended.
        case unsettled
        case end
        /// What comes next was forgotten; nil where there are no positions at all.
        case gone(newest: Int64?)
    }

    /// Reads a page in a session that has ended by the return: a commit may have to wait for whoever reads, as in a SQLite file with a rollback
    /// journal, so nobody who reads waits for a commit.
    private func page(of store: Int, after position: Int64) throws(StorageError) -> FoundHistory {
        let reader = try self.store(store).beginRead()
        defer { reader.end() }
        do throws(StorageError) {
            let entries = try reader.history(since: HistoryToken(store: storeID(store), position: position), limit: Self.pageSize)
            if !entries.isEmpty { return .entries(entries) }
        } catch  where error.code == .tokenExpired {
            return .gone(newest: try reader.currentToken()?.position)
        }
        return try reader.hasUnsettledHistory() ? .unsettled : .end
    }

    /// Waits until what this stack is about to commit has its tokens known, so that it is not taken for the work of others.
    private func waitForCommits(to store: Int) {
        let ended = DispatchSemaphore(value: 0)
        commits.afterCommits(to: store) { ended.signal() }
        ended.wait()
    }
}
