internal import PolystoreStorage

/// When a context takes over what transactions have committed.
public enum MergeTime: Sendable {
    /// Before each fetch, and whenever `merge()` is called.
    case automatic
    /// Only when `merge()` or `reset()` is called: until then what is loaded stays as it is.
    case onDemand
}

/// Objects to look at: while one is alive, every fetch gives the same instance for the same row.
///
/// It is read-only; changes are made in transactions, and what they commit is merged into the living objects. A context belongs to the
/// isolation that made it, so does everything fetched from it. A program can have any number, side by side.
///
/// | `merging` | a commit of the stack is seen by | |
/// |---|---|---|
/// | `.automatic` | objects after the next fetch or `merge()`; fetches at once | one picture that follows |
/// | `.onDemand` | objects after `merge()` or `reset()`; fetches bring new objects at once, known ones as they were | one that stands still |
public final class ViewContext: FetchSource {
    private let core: StackCore
    private let merging: MergeTime
    private let mailbox = CommitHub.Mailbox()
    private var context: ObjectContext

    init(_ core: StackCore, merging: MergeTime) {
        self.core = core
        self.merging = merging
        context = ObjectContext(stack: core, model: core.model, storeCount: core.storeCount)
        core.commits.subscribe(mailbox)
    }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext {
        get throws(StorageError) {
            if merging == .automatic { try merge() }
            // A store that was added since then has no place in the context.
            if context.storeCount != core.storeCount { reset() }
            return context
        }
    }

    /// The first error that a property could not throw, such as a relationship that could not be loaded; nil when there was none.
    public var loadError: StorageError? { context.loadError }

    var mergeTime: MergeTime { merging }
    var liveCount: Int { context.liveObjects.reduce(0) { $0 + $1.objects.count } }

    /// Brings the living objects to what was committed since the last merge.
    ///
    /// - Returns: Whether there was anything to take over.
    /// - Throws: Whatever reading throws; the next merge then reads everything again.
    @discardableResult
    public func merge() throws(StorageError) -> Bool {
        let committed = mailbox.take()
        if committed.isEmpty { return false }
        do throws(StorageError) {
            try reporting { () throws(StorageError) in try apply(committed) }
        } catch {
            mailbox.putBack(committed.stores)
            throw error
        }
        return true
    }

    private func apply(_ committed: CommitHub.Mailbox.Contents) throws(StorageError) {
        if committed.isOverfull { return try context.refreshAll() }
        // What relationships to many lead to can change without a change of the object itself.
        for (store, _, objects) in context.liveObjects where committed.stores.contains(store) {
            for object in objects { object.forgetRelationships() }
        }
        for (place, keys) in committed.keys { try context.refresh(keys, place.root, place.store) }
    }

    /// Begins anew: what was fetched before stays as it is and is no longer merged.
    public func reset() {
        _ = mailbox.take()
        context = ObjectContext(stack: core, model: core.model, storeCount: core.storeCount)
    }
}

extension DataStack {
    /// A new context to look at objects, for the isolation that asks for it.
    public func makeViewContext(merging: MergeTime = .automatic) -> sending ViewContext { ViewContext(core, merging: merging) }
}
