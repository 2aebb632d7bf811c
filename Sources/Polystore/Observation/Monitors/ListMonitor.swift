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
    public internal(set) var sourceIdentifier: (any Hashable & Sendable)?

    /// What leads from the list before to the list as it is, while that is told; nil outside of `listMonitorDidChange`.
    public internal(set) var changes: ListChanges?

    let home: any MonitorHome
    var from: From<Object>
    var sectionBy: SectionBy<Object>?
    var engine: ListEngine
    var observers = WeakObservers<Calls>()
    var step: ListEngine.Step?
    var batches: ListBatches<Object>
    var lastUpdated: Set<ListContents.Item> = []
    /// The number of the refetch that was asked for last.
    var refetches = 0
    /// The number of the refetch whose list it is.
    var arrived = 0
    /// The numbers of those that are on their way.
    var pending: Set<Int> = []
    /// How often another list has taken the place of one.
    var replacements = 0
    /// Whether the list is being fetched anew and still is what it was.
    public var isPendingRefetch: Bool { pending.contains { $0 > arrived } }
    /// Whether observers are being told of commits of which nobody knows what they changed, or of a reset.
    var isAnew = false
    /// What observers were told is about to come.
    var announced = Announced.nothing

    enum Announced {
        case nothing
        case changes
        case refetch
    }

    /// A list that was fetched.
    init(_ from: From<Object>, _ sectionBy: SectionBy<Object>?, _ engine: ListEngine, _ home: any MonitorHome) {
        self.from = from
        self.sectionBy = sectionBy
        self.home = home
        self.engine = engine
        batches = ListBatches(size: from.batchSize)
    }

    // MARK: What it holds

    /// All objects of the class, or of the entity, that the list is one of, in its stores.
    package var everything: From<Object> { from.everything }

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

    func info(_ section: ListContents.Section) -> ListSectionInfo {
        ListSectionInfo(
            identifier: section.name, name: sectionBy?.title(of: section.name) ?? section.name, numberOfObjects: section.count)
    }

    /// The letters of an index beside the list, one for each section.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// The object at a position of the whole list; nil where there is none.
    public subscript(safe index: Int) -> Object? {
        guard engine.contents.items.indices.contains(index) else { return nil }
        return batches.object(at: index, engine.contents.items, home.context, engine.query.root, from.prefetched)
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
    public func objectsInAllSections() throws(StorageError) -> [Object] { try home.context.existing(objectIDs) }

    /// The objects of a section, in order; none where there is no such section.
    public func objects(inSection section: Int) throws(StorageError) -> [Object] {
        guard engine.contents.sections.indices.contains(section) else { return [] }
        return try home.context.existing(engine.contents.items[engine.starts.range(section)].map(id))
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
        let model = home.core.model.schema
        return ObjectID(
            ObjectKey(store: home.core.storeID(Int(item.store)), root: model.entities[engine.query.root].name, key: item.key))
    }

    private func missing(_ place: String) -> Object {
        home.context.fail(
            StorageError(.notFound, "the list of \(Object.self) has \(numberOfObjects) objects and none at \(place)"))
        return hollow(ListContents.Item(key: 0, store: 0))
    }

    /// An object without values, for a row that is gone.
    func hollow(_ item: ListContents.Item) -> Object {
        home.context.loadingStore = item.store
        let object = Object(_new: item.key, engine.query.plan.entity, home.context)
        object._flags = ManagedObject.Flags.deleted
        object._dirty = 0
        return object
    }

    /// The identities of the objects in their sections as a value, to be sent and compared.
    public var snapshot: ListSnapshot<Object> { snapshot(updated: nil) }

    /// The same, with what is new of the values.
    func snapshot(updated changes: ListChanges?) -> ListSnapshot<Object> {
        let updated = changes == nil ? [] : lastUpdated
        var snapshot = ListSnapshot<Object>(
            engine.contents, stores: ListStores(home.core, root: engine.query.root), updated: updated)
        snapshot.isAnew = isAnew
        return snapshot
    }

}
