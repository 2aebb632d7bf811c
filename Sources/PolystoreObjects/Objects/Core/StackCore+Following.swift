internal import Synchronization
internal import PolystoreFoundation
internal import PolystoreStorage

/// The delivery of commits made outside the stack, like those of the stack itself.
extension StackCore {
    private static let pageSize = 256

    /// Ends a commit of the stack. The changes are nil if it failed or changed nothing.
    func didCommit(_ ticket: CommitHub.Ticket, _ changes: CommittedChanges?) {
        for store in commits.end(ticket, changes) { look(into: store) }
    }

    /// Handles a commit in doubt: reads the history now, and again when the engine has had time to end the commit.
    func commitIsInDoubt(in store: Int) {
        commits.doubt(store)
        look(into: store)
        DispatchQueue.global().asyncAfter(deadline: .now() + Following.longestPause) { [weak self] in self?.look(into: store) }
    }

    /// Delivers every commit from now on to a subscriber, including those made outside the stack.
    ///
    /// - Throws: The error of the first store that cannot be watched. The other stores are watched.
    package func observe(_ subscriber: any CommitSubscriber) throws(StorageError) {
        commits.subscribe(subscriber)
        isFollowing.store(true, ordering: .sequentiallyConsistent)
        var failure: StorageError?
        for (store, _) in entries { do throws(StorageError) { try follow(store) } catch { failure = failure ?? error } }
        if let failure { throw failure }
    }

    /// Handles the addition or removal of a store: lists of its objects are fetched again, and an added store is watched if the others are.
    func storesChanged(_ store: Int) {
        if (try? entry(store)) == nil {
            unfollow(store)
        } else if isFollowing.load(ordering: .sequentiallyConsistent) {
            // A store that cannot be watched can still be used. The error is reported.
            try? reporting { () throws(StorageError) in try follow(store) }
        }
        commits.publish(.unknown(store))
    }

    /// Starts to watch a store unless it is watched. Concurrent callers wait until the watch has started. Not inlined into tasks: decision
    /// 0038, "No lock is inlined where a task waits".
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

    /// Ends the watch of a store.
    func unfollow(_ store: Int) {
        following.withLock { $0.removeValue(forKey: store) }?.watch?.cancel()
        commits.unfollow(store)
    }

    /// Ends the watch of a store without subscribers.
    ///
    /// - Returns: False if there is a new subscriber.
    private func unfollowUnobserved(_ store: Int) -> Bool {
        startingToFollow.withLock { _ in
            // A new subscriber waits from here on, and starts the watch again.
            isFollowing.store(false, ordering: .sequentiallyConsistent)
            if commits.isObserved {
                isFollowing.store(true, ordering: .sequentiallyConsistent)
                return false
            }
            unfollow(store)
            return true
        }
    }

    /// Reads the history of a store on a thread of the stack.
    func look(into store: Int, _ signal: ChangeSignal = .history) {
        if !beginsToLook(store, signal) { return }
        do throws(StorageError) {
            try workers.threads.run { [weak self] in self?.lookInto(store) }
        } catch {
            following.withLock { $0[store]?.isLooking = false }
            lookLater(store)
        }
    }

    /// Reads the history of a store on this thread, before some of it is removed, so that no observer has to read everything again because
    /// of the removed entries. If another thread is reading, it reads on, and this one waits for it, but not for ever.
    func lookAtOnce(into store: Int) {
        if beginsToLook(store, .history) { return lookInto(store) }
        let ended = DispatchSemaphore(value: 0)
        let isLooking = following.withLock { following in
            guard following[store]?.isLooking == true else { return false }
            following[store]?.waiters.append(ended)
            return true
        }
        if isLooking { _ = ended.wait(timeout: .now() + Following.longestPause) }
    }

    /// Records a signal. Returns false if the store is not followed, or if a thread is already reading its history.
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
                // The store may be unavailable for a while. It is read again later.
                lookLater(store)
            }
        }
    }

    /// Returns whether there is a pending signal, and true if it is for unknown changes; nil ends the reading.
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

    /// Delivers the history entries since the last call.
    ///
    /// - Returns: Whether more entries exist or may appear that could not yet be delivered.
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
                // Another writer bypasses the history: nothing more can be found before the next signal.
                commits.settle(store, doubts: doubts)
                return false
            }
        }
        return false
    }

    /// The entries of a history after a position.
    private enum FoundHistory {
        case entries([HistoryEntry])
        /// No entries yet: a transaction with a lower token may not have ended.
        case unsettled
        case end
        /// The next entries were removed; nil if there are no positions at all.
        case gone(newest: Int64?)
    }

    /// Reads a page in a session that has ended when the method returns. A commit may have to wait for readers, as in a SQLite file with a
    /// rollback journal, so no reader may wait for a commit.
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

    /// Waits until the tokens of the commits in flight of this stack are known, so that they are not taken for commits made outside the
    /// stack.
    ///
    /// - Parameter seconds: The longest time to wait, for a caller that may go on without them.
    func waitForCommits(to store: Int, atMost seconds: TimeInterval = .infinity) {
        let ended = DispatchSemaphore(value: 0)
        commits.afterCommits(to: store) { ended.signal() }
        _ = ended.wait(timeout: seconds.isFinite ? .now() + seconds : .distantFuture)
    }
}
