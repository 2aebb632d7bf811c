internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// A recorder that takes the updates of a list publisher in a separate task, and keeps its own list up to date from their changes alone.
final class PublisherRecorder<Object: ManagedObject>: Sendable {
    struct Told: Sendable {
        var shown: ShadowList
        /// The number of updates, including the first one.
        var updates = 0
        /// The number of updates that replace the complete list, including the first one.
        var renewals = 0
        var sources: [String?] = []
        /// The objects that the last update updated.
        var updated: Set<ObjectKey> = []
        /// The number of insertions minus deletions of all updates.
        var growth = 0
        var problems: [String] = []
    }

    private let tape: Tape
    private let task: Task<Void, Never>

    /// Observes a publisher until the recorder is released.
    init(_ publisher: ListPublisher<Object>) {
        let tape = Tape(), updates = publisher.updates
        self.tape = tape
        task = Waiting.start { for await update in updates { tape.take(update) } }
    }

    deinit { task.cancel() }

    var delivered: Told { tape.delivered.withLock { $0 } }

    /// Waits for a number of updates. Returns false if they do not arrive.
    func waits(for count: Int, seconds: TimeInterval = 30) -> Bool { waits(seconds) { $0.updates >= count } }

    /// Waits until the recorded updates satisfy a condition. Returns false if they do not.
    func waits(_ seconds: TimeInterval = 30, until isReached: (Told) -> Bool) -> Bool {
        let end = DispatchTime.now() + seconds
        while !isReached(delivered) { if tape.arrivals.wait(timeout: end) == .timedOut { return isReached(delivered) } }
        return true
    }
}

extension PublisherRecorder {
    /// The recorded updates, shared with the task.
    private final class Tape: Sendable {
        let delivered = Mutex(Told(shown: ShadowList([])))
        let arrivals = DispatchSemaphore(value: 0)

        /// Records an update. Not inlined into the task that calls it: decision 0038, "No lock is inlined where a task waits".
        @inline(never) func take(_ update: ListPublisher<Object>.Update) {
            delivered.withLock { $0.take(update) }
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
        if shown != ShadowList(snapshot) { problems.append("delivered \(shown), but the list is \(ShadowList(snapshot))") }
    }
}
