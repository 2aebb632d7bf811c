public import Foundation
public import PolystoreStorage

/// Follows the objects of a fetch: a list that changes with every commit that concerns it, whoever made it.
///
/// It belongs to the isolation of its context and holds its observers weakly; they are called in the order will change, sections, objects,
/// did change. What a commit changed decides what happens to the list; it is not fetched anew, also where the order leads through
/// relationships. The list remembers the identities of its objects and their sort values. Of the objects themselves it holds a few batches
/// (`From.batchSize`), those that were asked for last.
public final class ListMonitor<Object: ManagedObject> {
    /// What the transaction was given that made the change that is being told; nil outside of calls, and for changes of others.
    public private(set) var sourceIdentifier: (any Hashable & Sendable)?

    /// What leads from the list before to the list as it is, while that is told; nil outside of `listMonitorDidChange`.
    public private(set) var changes: ListChanges?

    let context: ViewContext
    private var from: From<Object>
    private var sectionBy: SectionBy<Object>?
    private(set) var engine: ListEngine
    private var observers = WeakObservers<Calls>()
    private var step: ListEngine.Step?
    private var batches: ListBatches<Object>
    private var lastUpdated: Set<ListContents.Item> = []

    private struct Calls {
        var willChange: (AnyObject, ListMonitor<Object>) -> Void
        var didChange: (AnyObject, ListMonitor<Object>) -> Void
        var willRefetch: (AnyObject, ListMonitor<Object>) -> Void
        var didRefetch: (AnyObject, ListMonitor<Object>) -> Void
        var inserted: ((AnyObject, ListMonitor<Object>, Object, IndexPath) -> Void)?
        var deleted: ((AnyObject, ListMonitor<Object>, Object, IndexPath) -> Void)?
        var updated: ((AnyObject, ListMonitor<Object>, Object, IndexPath) -> Void)?
        var moved: ((AnyObject, ListMonitor<Object>, Object, IndexPath, IndexPath) -> Void)?
        var insertedSection: ((AnyObject, ListMonitor<Object>, ListSectionInfo, Int) -> Void)?
        var deletedSection: ((AnyObject, ListMonitor<Object>, ListSectionInfo, Int) -> Void)?
    }

    init(_ from: From<Object>, _ sectionBy: SectionBy<Object>?, _ context: ViewContext) throws(StorageError) {
        self.from = from
        self.sectionBy = sectionBy
        self.context = context
        engine = ListEngine(try ListQuery(from, sectionBy, context.core.model), context.core)
        batches = ListBatches(size: from.batchSize)
        try fetch()
    }

    private func fetch() throws(StorageError) {
        let engine = engine, objects = context.context
        try objects.inOneSnapshot { () throws(StorageError) in
            guard let sessions = objects.sessions else { throw SessionPool.ended }
            try engine.fetch(sessions)
        }
    }

    // MARK: What it holds

    /// The number of objects.
    public var numberOfObjects: Int { engine.contents.items.count }

    /// Whether there are any objects.
    public var hasObjects: Bool { !engine.contents.items.isEmpty }

    /// The number of sections; 1 for a list without sections, also when it is empty.
    public var numberOfSections: Int { engine.contents.sections.count }

    /// The number of objects of a section; nil where there is no such section.
    public func numberOfObjects(in section: Int) -> Int? {
        engine.contents.sections.indices.contains(section) ? engine.contents.sections[section].count : nil
    }

    /// The sections in order.
    public var sections: [ListSectionInfo] { engine.contents.sections.map(info) }

    /// A section; nil where there is none at the index.
    public func sectionInfo(at section: Int) -> ListSectionInfo? {
        engine.contents.sections.indices.contains(section) ? info(engine.contents.sections[section]) : nil
    }

    private func info(_ section: ListContents.Section) -> ListSectionInfo {
        ListSectionInfo(
            identifier: section.name, name: sectionBy?.title(of: section.name) ?? section.name, numberOfObjects: section.count)
    }

    /// The letters of an index beside the list, one for each section.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// The object at a position of the whole list; nil where there is none.
    public subscript(safe index: Int) -> Object? {
        guard engine.contents.items.indices.contains(index) else { return nil }
        return batches.object(at: index, engine.contents.items, context.context, engine.query.root, from.prefetched)
    }

    /// The object at an index path; nil where there is none.
    public subscript(safe indexPath: IndexPath) -> Object? {
        engine.starts.position(of: indexPath).flatMap { self[safe: $0] }
    }

    /// The object at a position of the whole list.
    ///
    /// A position without an object is answered with an object that stands for no row, after the error was recorded in the context. One whose
    /// row a commit has deleted that is still to be told has its identity and no values.
    public subscript(index: Int) -> Object {
        if let object = self[safe: index] { return object }
        return engine.contents.items.indices.contains(index) ? hollow(engine.contents.items[index]) : missing("position \(index)")
    }

    /// The object at an index path.
    public subscript(indexPath: IndexPath) -> Object {
        engine.starts.position(of: indexPath).map { self[$0] } ?? missing("index path \(Array(indexPath))")
    }

    /// The object of a section.
    public subscript(section: Int, item: Int) -> Object { self[IndexPath(indexes: [section, item])] }

    /// The ids of all objects, in order.
    public var objectIDs: [ObjectID<Object>] { engine.contents.items.map(id) }

    /// All objects, in order; those that are not in memory are loaded.
    public func objectsInAllSections() throws(StorageError) -> [Object] { try context.context.existing(objectIDs) }

    /// The objects of a section, in order; none where there is no such section.
    public func objects(inSection section: Int) throws(StorageError) -> [Object] {
        guard engine.contents.sections.indices.contains(section) else { return [] }
        return try context.context.existing(engine.contents.items[engine.starts.range(section)].map(id))
    }

    /// The position of an object in the whole list; nil where it is not in it.
    ///
    /// - Complexity: O(*n*) comparisons of two numbers.
    public func index(of object: Object) -> Int? {
        engine.contents.items.firstIndex(of: ListContents.Item(key: object._key, store: object._store))
    }

    /// The index path of an object; nil where it is not in the list.
    public func indexPath(of object: Object) -> IndexPath? { index(of: object).map(engine.starts.path(at:)) }

    private func id(_ item: ListContents.Item) -> ObjectID<Object> {
        let model = context.core.model.schema
        return ObjectID(
            ObjectKey(store: context.core.storeID(Int(item.store)), root: model.entities[engine.query.root].name, key: item.key))
    }

    private func missing(_ place: String) -> Object {
        context.context.fail(
            StorageError(.notFound, "the list of \(Object.self) has \(numberOfObjects) objects and none at \(place)"))
        return hollow(ListContents.Item(key: 0, store: 0))
    }

    /// An object without values, for a row that is gone.
    private func hollow(_ item: ListContents.Item) -> Object {
        context.context.loadingStore = item.store
        let object = Object(_new: item.key, engine.query.plan.entity, context.context)
        object._flags = ManagedObject.Flags.deleted
        object._dirty = 0
        return object
    }

    /// The identities of the objects in their sections as a value, to be sent and compared.
    public var snapshot: ListSnapshot<Object> { snapshot(updated: nil) }

    /// The same, with what is new of the values.
    func snapshot(updated changes: ListChanges?) -> ListSnapshot<Object> {
        let core = context.core, stores = (0..<core.storeCount).map { core.storeID($0) }
        let updated = changes == nil ? [] : lastUpdated
        return ListSnapshot(
            engine.contents, stores: ListStores(stores, root: core.model.schema.entities[engine.query.root].name), updated: updated)
    }

    // MARK: Observers

    /// Tells an observer from now on, for as long as it is alive; one that is there already is told once.
    public func addObserver<Observer: ListObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        observers.add(observer, Self.calls(Observer.self))
    }

    /// Tells an observer of the objects, too.
    public func addObserver<Observer: ListObjectObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        observers.add(observer, Self.objectCalls(Observer.self))
    }

    /// Tells an observer of objects and sections, too.
    public func addObserver<Observer: ListSectionObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        var calls = Self.objectCalls(Observer.self)
        calls.insertedSection = { ($0 as? Observer)?.listMonitor($1, didInsertSection: $2, toSectionIndex: $3) }
        calls.deletedSection = { ($0 as? Observer)?.listMonitor($1, didDeleteSection: $2, fromSectionIndex: $3) }
        observers.add(observer, calls)
    }

    private static func calls<Observer: ListObserver>(_ type: Observer.Type) -> Calls where Observer.ListEntityType == Object {
        Calls(
            willChange: { ($0 as? Observer)?.listMonitorWillChange($1) }, didChange: { ($0 as? Observer)?.listMonitorDidChange($1) },
            willRefetch: { ($0 as? Observer)?.listMonitorWillRefetch($1) },
            didRefetch: { ($0 as? Observer)?.listMonitorDidRefetch($1) })
    }

    private static func objectCalls<Observer: ListObjectObserver>(_ type: Observer.Type) -> Calls
    where Observer.ListEntityType == Object {
        var calls = calls(type)
        calls.inserted = { ($0 as? Observer)?.listMonitor($1, didInsertObject: $2, toIndexPath: $3) }
        calls.deleted = { ($0 as? Observer)?.listMonitor($1, didDeleteObject: $2, fromIndexPath: $3) }
        calls.updated = { ($0 as? Observer)?.listMonitor($1, didUpdateObject: $2, atIndexPath: $3) }
        calls.moved = { ($0 as? Observer)?.listMonitor($1, didMoveObject: $2, fromIndexPath: $3, toIndexPath: $4) }
        return calls
    }

    /// Tells an observer nothing more.
    public func removeObserver<Observer: ListObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        observers.remove(observer)
    }

    private func tell(_ body: (AnyObject, Calls) -> Void) {
        for (observer, calls) in observers.alive where observers.contains(observer) { body(observer, calls) }
    }

    // MARK: Refetching

    /// Fetches anew what a request asks for, with the sections of before.
    ///
    /// - Throws: What the request throws; the list stays as it is then.
    public func refetch(_ from: From<Object>) throws(StorageError) { try refetch(from, sectionBy: sectionBy) }

    /// Fetches anew, with other sections.
    public func refetch(_ from: From<Object>, sectionBy: SectionBy<Object>?) throws(StorageError) {
        try reporting { () throws(StorageError) in
            let next = ListEngine(try ListQuery(from, sectionBy, context.core.model), context.core), objects = context.context
            try objects.inOneSnapshot { () throws(StorageError) in
                guard let sessions = objects.sessions else { throw SessionPool.ended }
                try next.fetch(sessions)
            }
            tell { observer, calls in calls.willRefetch(observer, self) }
            (self.from, self.sectionBy, engine) = (from, sectionBy, next)
            batches = ListBatches(size: from.batchSize)
            tell { observer, calls in calls.didRefetch(observer, self) }
        }
    }
}

extension ListMonitor: ContextMonitor {
    func prepare(_ batch: CommitBatch, _ sessions: SessionPool) throws(StorageError) -> Bool {
        step = try engine.step(batch, sessions)
        return step != nil
    }

    func willChange(_ batch: CommitBatch) {
        guard let step else { return }
        sourceIdentifier = batch.source
        defer { sourceIdentifier = nil }
        if step.changes == nil {
            tell { observer, calls in calls.willRefetch(observer, self) }
        } else {
            tell { observer, calls in calls.willChange(observer, self) }
        }
    }

    func didChange(_ batch: CommitBatch) {
        guard let step else { return }
        self.step = nil
        lastUpdated = step.updated
        sourceIdentifier = batch.source
        defer { sourceIdentifier = nil }
        let old = (contents: engine.contents, starts: engine.starts)
        engine.take(step)
        batches.forget(keeping: step.changes?.isOnlyUpdates ?? false)
        guard let changes = step.changes else { return tell { observer, calls in calls.didRefetch(observer, self) } }
        tell { observer, calls in tell(observer, calls, changes, old) }
        self.changes = changes
        tell { observer, calls in calls.didChange(observer, self) }
        self.changes = nil
    }

    private func tell(
        _ observer: AnyObject, _ calls: Calls, _ changes: ListChanges, _ before: (contents: ListContents, starts: SectionStarts)
    ) {
        let old = before.contents
        for section in changes.deletedSections { calls.deletedSection?(observer, self, info(old.sections[section]), section) }
        for section in changes.insertedSections { calls.insertedSection?(observer, self, info(engine.contents.sections[section]), section) }
        if let call = calls.deleted {
            for path in changes.deleted {
                if let position = before.starts.position(of: path) { call(observer, self, gone(old.items[position]), path) }
            }
        }
        if let call = calls.inserted { for path in changes.inserted { call(observer, self, self[path], path) } }
        if let call = calls.updated {
            let moved = Set(changes.moved.map(\.from))
            for path in changes.updated where !moved.contains(path) {
                guard let position = before.starts.position(of: path) else { continue }
                call(observer, self, present(old.items[position]), path)
            }
        }
        if let call = calls.moved { for move in changes.moved { call(observer, self, self[move.to], move.from, move.to) } }
    }

    private func present(_ item: ListContents.Item) -> Object {
        let context = context.context
        let found = context.attempt { () throws(StorageError) in try context.object(engine.query.root, item.key, Int(item.store)) } ?? nil
        return found as? Object ?? hollow(item)
    }

    /// An object that left the list: it may be there still.
    private func gone(_ item: ListContents.Item) -> Object {
        if let known = batches.forgotten(item) { return known }
        return present(item)
    }

    func contextDidReset() {
        do throws(StorageError) { try refetch(from) } catch { context.context.fail(error) }
    }
}

extension ListChanges {
    /// Whether no object came, left or changed its place.
    var isOnlyUpdates: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deleted.isEmpty && inserted.isEmpty && moved.isEmpty
    }
}

extension ViewContext {
    /// Follows the objects of a request.
    ///
    /// - Parameters:
    ///   - from: Which objects, in which order; without an order they come in that of their keys.
    ///   - isolation: The isolation that the context belongs to: observers are called there, soon after each commit. Where there is none they
    ///     are called by `merge()`.
    /// - Throws: What a fetch of the request throws.
    public func monitorList<Object: ManagedObject>(
        _ from: From<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, nil, isolation)
    }

    /// Follows the objects of a request in sections.
    ///
    /// - Parameters:
    ///   - from: Which objects, in which order; the order begins with the property of the sections.
    ///   - sectionBy: What the sections are.
    ///   - isolation: The isolation that the context belongs to.
    /// - Throws: `invalidPredicate` where the order does not keep sections together; what a fetch of the request throws.
    public func monitorSectionedList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, sectionBy, isolation)
    }

    private func monitor<Object: ManagedObject>(
        _ from: From<Object>, _ sectionBy: SectionBy<Object>?, _ isolation: isolated (any Actor)?
    ) throws(StorageError) -> ListMonitor<Object> {
        try reporting { () throws(StorageError) in
            // What is committed from here on comes as a change; what the fetch below sees of it already changes nothing then.
            try merge()
            context.extend(to: core.storeCount)
            let monitor = try ListMonitor(from, sectionBy, self)
            try add(monitor, isolation: isolation)
            return monitor
        }
    }
}
