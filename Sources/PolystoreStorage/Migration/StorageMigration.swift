/// One step of a store from a version of the model to the next.
public struct MigrationStep: Sendable {
    /// Where everything comes from.
    public let mapping: SchemaMapping
    /// The hierarchies of the newer version that the caller writes, even where the store could change them in place: those that were
    /// asked for, and those with references to objects whose keys change.
    public let writtenRoots: Set<EntityIndex>

    /// A step.
    public init(_ mapping: SchemaMapping, writtenRoots: Set<EntityIndex> = []) {
        self.mapping = mapping
        self.writtenRoots = writtenRoots.union(mapping.rootsWithOtherReferences)
    }
}

/// What the caller of a step has to write: everything else the store takes over or changes in place.
public struct MigrationWork: Sendable {
    /// Hierarchies of the newer version, which are empty.
    public var roots: Set<EntityIndex>
    /// Link tables of the newer version, which are empty.
    public var links: Set<Int>

    /// Work.
    public init(roots: Set<EntityIndex>, links: Set<Int>) {
        self.roots = roots
        self.links = links
    }
}

/// A step on its way: one transaction of the store, alone among all writers, that ends in the old version or in the new one.
///
/// The calls come in this order: `prepare`, loads into `destination`, `finish`, anything in `destination`, `commit`; `end` at any time. After
/// a kill at any moment the store has the old version, or after the commit the new one. It is confined to the thread that began it.
public protocol StorageMigration: AnyObject {
    /// Everything by the old version, until `finish`. Changes are allowed before `prepare`; its `commit` ends nothing.
    var source: any StorageWriter { get }

    /// Everything by the new version: after `prepare` for the loads of what the caller writes, after `finish` for everything. Its `commit`
    /// ends nothing.
    var destination: any StorageWriter { get }

    /// Makes room for what the caller writes.
    func prepare() throws(StorageError) -> MigrationWork

    /// Puts the new version in the place of the old one: changes in place, makes indexes, removes what is left over.
    ///
    /// - Parameters:
    ///   - keys: The keys that objects have in the new version.
    ///   - limits: The first key of each new hierarchy that no object has: its counter rises to it.
    /// - Throws: `uniqueConstraintViolated` naming a new constraint that objects violate, with keys of such objects.
    func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError)

    /// Commits, with one entry of the history for everything that was changed by the sessions, loads left out; the store is open with the
    /// new version then. Sessions of the old one fail with `schemaMismatch` or `storeClosed`.
    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken?

    /// Ends the step; without a commit it is undone. A second call does nothing.
    func end()
}
