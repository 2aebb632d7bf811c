internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// Takes the updates of a list publisher in a task of its own, and keeps the list up to date by their changes alone.
final class PublisherRecorder<Object: ManagedObject>: Sendable {
    struct Told: Sendable {
        var shown: ShadowList
        /// The number of updates, the first one included.
        var updates = 0
        /// The number of those that are to be shown anew, the first one included.
        var renewals = 0
        var sources: [String?] = []
        /// The objects that were updated by the last one.
        var updated: Set<ObjectKey> = []
        /// The insertions less the deletions of all.
        var growth = 0
        var problems: [String] = []
    }

    private let tape: Tape
    private let task: Task<Void, Never>

    /// Follows a publisher until it is let go.
    init(_ publisher: ListPublisher<Object>) {
        let tape = Tape(), updates = publisher.updates
        self.tape = tape
        task = Waiting.start { for await update in updates { tape.take(update) } }
    }

    deinit { task.cancel() }

    var told: Told { tape.told.withLock { $0 } }

    /// Waits until so many updates have come; false when they do not.
    func waits(for count: Int, seconds: TimeInterval = 30) -> Bool { waits(seconds) { $0.updates >= count } }

    /// Waits until what was told satisfies a condition; false when it does not.
    func waits(_ seconds: TimeInterval = 30, until isReached: (Told) -> Bool) -> Bool {
        let end = DispatchTime.now() + seconds
        while !isReached(told) { if tape.arrivals.wait(timeout: end) == .timedOut { return isReached(told) } }
        return true
    }
}

extension PublisherRecorder {
    /// What was told, shared with the task.
    private final class Tape: Sendable {
        let told = Mutex(Told(shown: ShadowList([])))
        let arrivals = DispatchSemaphore(value: 0)

        /// Not inlined into the task that calls it: decision 0038, "No lock is inlined where a task waits".
        @inline(never) func take(_ update: ListPublisher<Object>.Update) {
            told.withLock { $0.take(update) }
            arrivals.signal()
        }
    }
}

extension PublisherRecorder.Told {
    fileprivate mutating func take(_ update: ListPublisher<Object>.Update) {
        let snapshot = update.snapshot
        updates += 1
        sources.append(update.sourceIdentifier as? String)
        guard let changes = update.changes else {
            renewals += 1
            updated = []
            shown = ShadowList(snapshot)
            return
        }
        var edit = ShadowList.Edit(deletedSections: changes.deletedSections, deleted: changes.deleted)
        edit.insertedSections = changes.insertedSections.compactMap { index in
            snapshot.items(inSectionAt: index).map { (index, $0.name) }
        }
        edit.inserted = changes.inserted.compactMap { path in snapshot[safeIndexPath: path].map { (path, $0.key) } }
        edit.moved = changes.moved.map { ($0.from, $0.to) }
        growth += edit.inserted.count - edit.deleted.count
        updated = Set(changes.updated.compactMap { shown[$0] })
        let updatedThere = Set(snapshot.updatedItemIDs.map(\.key)).intersection(shown.keys)
        if updated != updatedThere {
            problems.append("updates \(updated.map(\.key)), those of the snapshot \(updatedThere.map(\.key))")
        }
        if let problem = shown.apply(edit) { problems.append(problem) }
        if shown != ShadowList(snapshot) { problems.append("told was \(shown), the list is \(ShadowList(snapshot))") }
    }
}
