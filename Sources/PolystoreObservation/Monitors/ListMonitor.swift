public import PolystoreFoundation
public import PolystoreObjects

/// A monitor of the objects of a fetch: a list that changes with every commit that concerns it, regardless of the writer.
///
/// It belongs to the isolation of its context and retains its observers weakly. It calls them in the order will change, sections, objects,
/// did change. The changes of a commit determine the changes of the list; it is not fetched again, even if the order uses relationships.
/// The list records the identities of its objects and their sort values. Of the objects themselves it retains a few batches
/// (`From.batchSize`), the most recently requested ones.
public final class ListMonitor<Object: ManagedObject> {
    /// The source identifier of the transaction whose change is being reported; nil outside of calls, and for changes made outside the
    /// stack.
    public internal(set) var sourceIdentifier: (any Hashable & Sendable)?

    /// The changes from the previous list to the current one while they are reported; nil outside of `listMonitorDidChange`.
    public internal(set) var changes: ListChanges?

    let monitored: any MonitoredContext
    var from: From<Object>
    var sectionBy: SectionBy<Object>?
    var engine: ListEngine
    var observers = WeakObservers<Calls>()
    var step: ListEngine.Step?
    var batches: ListBatches<Object>
    var lastUpdated: Set<ListContents.Item> = []
    /// The number of the most recently requested refetch.
    var refetches = 0
    /// The number of the refetch that returned the current list.
    var arrived = 0
    /// The numbers of the pending refetches.
    var pending: Set<Int> = []
    /// The number of times that the list was replaced.
    var replacements = 0
    /// Whether the list is being fetched again and has not yet changed.
    public var isPendingRefetch: Bool { pending.contains { $0 > arrived } }
    /// Whether observers are being notified of commits with unknown changes, or of a reset.
    var isAnew = false
    /// The announced notification that has not ended.
    var announced = Announced.nothing

    enum Announced {
        case nothing
        case changes
        case refetch
    }

    /// Creates a monitor of a list that was fetched.
    init(_ from: From<Object>, _ sectionBy: SectionBy<Object>?, _ engine: ListEngine, _ monitored: any MonitoredContext) {
        self.from = from
        self.sectionBy = sectionBy
        self.monitored = monitored
        self.engine = engine
        batches = ListBatches(size: from.batchSize)
    }

    // MARK: Contents

    /// A request for all objects of the class, or of the entity, of the list, in its stores.
    package var everything: From<Object> { from.everything }

    /// The number of objects.
    public var numberOfObjects: Int { engine.contents.items.count }

    /// Whether there are any objects.
    public var hasObjects: Bool { !engine.contents.items.isEmpty }

    /// The number of sections; 1 for a list without sections, even if it is empty.
    public var numberOfSections: Int { engine.contents.sections.count }

    /// Returns the number of objects of a section; nil if there is no such section.
    public func numberOfObjects(in section: Int) -> Int? {
        engine.contents.sections.indices.contains(section) ? engine.contents.sections[section].count : nil
    }

    /// The sections in order.
    public var sections: [ListSectionInfo] { engine.contents.sections.map(info) }

    /// Returns a section; nil if there is none at the index.
    public func sectionInfo(at section: Int) -> ListSectionInfo? {
        engine.contents.sections.indices.contains(section) ? info(engine.contents.sections[section]) : nil
    }

    func info(_ section: ListContents.Section) -> ListSectionInfo {
        var info = ListSectionInfo(
            identifier: section.name, name: sectionBy?.title(of: section.name) ?? section.name, numberOfObjects: section.count)
        info.ownIndexTitle = sectionBy?.indexTitle?(section.name)
        return info
    }

    /// The titles of an index beside the list, one for each section.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// Returns the object at a position of the whole list; nil if there is none, or if it cannot be loaded. The context then records the
    /// error.
    public subscript(safe index: Int) -> Object? {
        guard engine.contents.items.indices.contains(index) else { return nil }
        return batches.object(at: index, engine.contents.items, monitored.context, engine.query.root, from.prefetched)
    }

    /// Returns the object at an index path; nil if there is none.
    public subscript(safe indexPath: IndexPath) -> Object? {
        engine.starts.position(of: indexPath).flatMap { self[safe: $0] }
    }

    /// Returns the object at a position of the whole list.
    ///
    /// For a position without an object, the result is an object that represents no row, and the context records the error. If a commit
    /// that is not yet reported has deleted the row, the object has its identity and no values. If the row cannot be read, the context
    /// records the error, the values of the object are unfetched, and the next access to one of them or to the position reads the row
    /// again; the object counts as deleted meanwhile.
    public subscript(index: Int) -> Object {
        if let object = self[safe: index] { return object }
        guard engine.contents.items.indices.contains(index) else { return missing("position \(index)") }
        let object = hollow(engine.contents.items[index])
        if !batches.isRead(index) { object._leaveOutAll() }
        return object
    }

    /// Returns the object at an index path.
    public subscript(indexPath: IndexPath) -> Object {
        engine.starts.position(of: indexPath).map { self[$0] } ?? missing("index path \(Array(indexPath))")
    }

    /// Returns the object of a section.
    public subscript(section: Int, item: Int) -> Object { self[IndexPath(indexes: [section, item])] }

    /// The ids of all objects, in order.
    public var objectIDs: [ObjectID<Object>] { engine.contents.items.map(id) }

    /// Returns all objects, in order, and loads those that are not in memory.
    public func objectsInAllSections() throws(StorageError) -> [Object] { try monitored.context.existing(objectIDs) }

    /// Returns the objects of a section, in order; none if there is no such section.
    public func objects(inSection section: Int) throws(StorageError) -> [Object] {
        guard engine.contents.sections.indices.contains(section) else { return [] }
        return try monitored.context.existing(engine.contents.items[engine.starts.range(section)].map(id))
    }

    /// Returns the position of an object in the whole list; nil if the list does not contain it.
    ///
    /// - Complexity: O(*n*) comparisons of two numbers.
    public func index(of object: Object) -> Int? {
        engine.contents.items.firstIndex(of: ListContents.Item(key: object._key, store: object._store))
    }

    /// Returns the index path of an object; nil if the list does not contain it.
    public func indexPath(of object: Object) -> IndexPath? { index(of: object).map(engine.starts.path(at:)) }

    private func id(_ item: ListContents.Item) -> ObjectID<Object> {
        let model = monitored.core.model.schema
        return ObjectID(
            ObjectKey(store: monitored.core.storeID(Int(item.store)), root: model.entities[engine.query.root].name, key: item.key))
    }

    private func missing(_ place: String) -> Object {
        monitored.context.fail(
            StorageError(.notFound, "the list of \(Object.self) has \(numberOfObjects) objects, but none at \(place)"))
        return hollow(ListContents.Item(key: 0, store: 0))
    }

    /// Returns an object without values, for a deleted row.
    func hollow(_ item: ListContents.Item) -> Object {
        monitored.context.loadingStore = item.store
        let object = Object(_new: item.key, engine.query.plan.entity, monitored.context)
        object._flags = ManagedObject.Flags.deleted
        object._dirty = 0
        return object
    }

    /// The identities of the objects in their sections, as a sendable value that can be compared.
    public var snapshot: ListSnapshot<Object> { snapshot(updated: nil) }

    /// Returns the snapshot with the updates of some changes.
    func snapshot(updated changes: ListChanges?) -> ListSnapshot<Object> {
        let updated = changes == nil ? [] : lastUpdated
        var snapshot = ListSnapshot<Object>(
            engine.contents, stores: ListStores(monitored.core, root: engine.query.root), updated: updated)
        snapshot.isAnew = isAnew
        return snapshot
    }

}
