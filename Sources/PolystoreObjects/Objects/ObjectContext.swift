internal import Foundation
public import PolystoreStorage
internal import Synchronization

/// The shared state of the objects of one transaction, read or fetch: the identity map, the access to the stores, the changes.
///
/// Objects retain their context, and the context references its objects weakly, so a result lives as long as the program retains it and
/// nothing leaks. The context is confined to one thread at a time, like its objects.
public final class ObjectContext {
    let stack: StackCore
    let model: StackModel
    let isProbe: Bool
    /// Whether access to a relationship that is not loaded is an error.
    let isStrict: Bool
    /// The identity maps of the stores with objects in this context.
    private var storeMaps: [Int32: StoreMaps] = [:]
    /// The identity maps of the most recently used store, which is usually the next one too.
    @exclusivity(unchecked) private var last = StoreMaps(store: -1, storeID: UUID.placeholder, entityCount: 0)
    /// The number of live objects. While there are any, the context retains itself: one retain for all of them instead of one for each (a
    /// tenth of the time of a fetch).
    @exclusivity(unchecked) private var liveCount = 0

    /// The sessions of a transaction or a read; nil if each load is a separate short read.
    @exclusivity(unchecked) var sessions: SessionPool?
    /// The time limit of the current fetch. Sessions that existed before have their own limits.
    var limit: WorkLimit?
    /// The changes of a transaction; nil if the context is read-only.
    @exclusivity(unchecked) package var tracker: ChangeTracker?
    /// The stores whose commits a view context could not merge.
    var unread: UnreadStores = [:]
    /// Whether a lookup is in progress whose flush would violate a unique constraint.
    var isFlushRefused = false
    /// The first error that a getter or setter could not throw.
    private(set) var loadError: StorageError?
    /// The failures already reported to the logger, of errors that no method throws.
    private var reportedFailures: Set<FailedPlace> = []
    /// The store of the object that is being created.
    @exclusivity(unchecked) package var loadingStore: Int32 = 0
    /// The fields of the rows from which objects are being created.
    var loadingFields = FetchPlan.Fields.all
    /// The probe that records the properties of a key path, if this context resolves one.
    let probe: KeyPathProbe?
    let scratch = RowBatch(capacity: 4)
    /// The store and root of the last id that was looked up, and the state of the stack then: the next id is usually of the same.
    private var lastPlace: (store: UUID, root: String, position: Int, entity: EntityIndex, changes: Int)?

    private struct FailedPlace: Hashable {
        let code: StorageError.Code
        let entity: String?
        let property: String?
    }

    init(stack: StackCore, model: StackModel, probe: KeyPathProbe? = nil) {
        self.stack = stack
        self.model = model
        self.probe = probe
        isProbe = probe != nil
        isStrict = stack.relationships == .strict
    }

    /// Returns the identity map of an entity's hierarchy in a store, which may have been added after the context was created.
    @inline(__always)
    package func identityMap(_ entity: EntityIndex, _ store: Int) -> IdentityMap {
        if last.store == store, let map = last.maps[entity] { return map.takeUnretainedValue() }
        return makeIdentityMap(entity, store)
    }

    @inline(never)
    private func makeIdentityMap(_ entity: EntityIndex, _ store: Int) -> IdentityMap {
        let position = Int32(truncatingIfNeeded: store)
        last =
            storeMaps[position]
            ?? StoreMaps(store: position, storeID: stack.storeID(store), entityCount: model.schema.entities.count)
        storeMaps[position] = last
        return last.map(entity, root: model.schema[entity].root)
    }

    /// The live objects of each hierarchy in each store, as their identity maps.
    var livePlaces: [(store: Int, root: EntityIndex, map: IdentityMap)] {
        storeMaps.sorted { $0.key < $1.key }.flatMap { store, maps in
            maps.owned.sorted { $0.key < $1.key }.map { (Int(store), $0.key, $0.value) }
        }
    }

    /// All live objects, by store and root entity.
    var liveObjects: [(store: Int, root: EntityIndex, objects: [ManagedObject])] {
        livePlaces.map { ($0.store, $0.root, $0.map.objects) }
    }

    /// Returns the position of the store and the root entity of an identity.
    func place(of key: ObjectKey) throws(StorageError) -> (position: Int, entity: EntityIndex) {
        let changes = stack.storeChanges.load(ordering: .acquiring)
        if let lastPlace, lastPlace.changes == changes, lastPlace.store == key.store, lastPlace.root == key.root {
            return (lastPlace.position, lastPlace.entity)
        }
        guard let position = stack.position(of: key.store) else {
            throw StorageError(.notFound, "the store of \(key.root) \(key.key) is not part of this stack")
        }
        guard let entity = model.schema.index(of: key.root) else {
            throw StorageError(.notFound, "the model has no entity \"\(key.root)\"", details: .init(entity: key.root))
        }
        lastPlace = (key.store, key.root, position, entity, changes)
        return (position, entity)
    }

    /// Returns the stores that hold an entity.
    ///
    /// - Throws: Also the error for which the commits of one of them could not be merged: its objects would be outdated.
    func stores(for entity: EntityIndex, _ configurations: [String?]?) throws(StorageError) -> [Int] {
        let stores = try stack.stores(for: entity, configurations)
        if !unread.isEmpty { for store in stores { try checkRead(store) } }
        return stores
    }

    /// Throws the error for which the commits of a store could not be merged.
    func checkRead(_ store: Int) throws(StorageError) { if let error = unread[store] { throw error } }

    /// Registers a new object. The context lives at least as long as the object.
    @inline(__always)
    func welcome() {
        if liveCount == 0 { _ = Unmanaged.passRetained(self) }
        liveCount &+= 1
    }

    /// Unregisters an object that is being released and no longer uses the context.
    func forget(_ object: ManagedObject) {
        if !isProbe {
            if last.store != object._store { last = storeMaps[object._store] ?? last }
            if last.store == object._store {
                last.maps[Int(object._entity)]?._withUnsafeGuaranteedRef {
                    $0.remove(object._key, Unmanaged.passUnretained(object).toOpaque())
                }
            }
        }
        liveCount &-= 1
        if liveCount == 0 { Unmanaged.passUnretained(self).release() }
    }

    /// Records the first error that could not be thrown where it occurred. If no transaction and no read throws it at its end, it is
    /// reported to the logger, once for each property.
    @inline(never)
    package func fail(_ error: StorageError) {
        var error = error
        if sessions == nil, tracker == nil {
            let place = FailedPlace(code: error.code, entity: error.details.entity, property: error.details.property)
            if reportedFailures.insert(place).inserted {
                error = StoreLogging.report(error, fileName: #fileID, lineNumber: #line, functionName: #function)
            }
        }
        if loadError == nil { loadError = error }
    }

    /// Discards the recorded error, because the failed work was undone.
    func forgetFailure() { loadError = nil }

    /// Runs work, and throws an error that the work could only record. It does not count as a failure of the whole then.
    func throwingFailures<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let former = loadError
        loadError = nil
        defer { loadError = former }
        let value = try body()
        try throwFailure()
        return value
    }

    /// Throws the recorded error.
    func throwFailure() throws(StorageError) { if let loadError { throw loadError } }

    /// Throws the recorded error and discards it, so that the caller can continue.
    func takeFailure() throws(StorageError) {
        defer { loadError = nil }
        try throwFailure()
    }

    package func objectKey(of object: ManagedObject) -> ObjectKey {
        // An object that represents no row has no description, and records that its identity was read.
        if let probe { return probe.recordIdentity(object) }
        return ObjectKey(
            store: storeID(of: object), root: model.schema.entities[object.description.root].name, key: object._key)
    }
}

extension ObjectContext {
    /// Returns a context for objects that represent no row, from which declarations are read.
    public static func _prototypes() -> ObjectContext { ObjectContext(stack: .none, model: .none, probe: KeyPathProbe()) }

    /// Returns the identity of the object that a slot references.
    func objectKey(at object: ManagedObject, _ slot: Int, _ key: Int64) -> ObjectKey {
        let destination = object.description.slots[slot].destination ?? object.description.index
        return ObjectKey(
            store: storeID(of: object), root: model.schema.entities[model.schema[destination].root].name, key: key)
    }

    /// Returns the identity of the store of an object, also if the store was removed from the stack.
    private func storeID(of object: ManagedObject) -> UUID {
        (last.store == object._store ? last : storeMaps[object._store])?.storeID ?? stack.storeID(Int(object._store))
    }

    /// Records the error for a cell that could not be decoded. Generated code uses the placeholder instead.
    @inline(never)
    public func _undecodable(_ row: borrowing RowView, _ slot: Int) {
        if let probe { return probe.isRefused = true }
        let description = model.schema[row.entity]
        // An unfetched cell is nil regardless of its type.
        if row[slot].isNull, !loadingFields.includes(slot, description.slots[slot]) { return }
        fail(
            StorageError(
                .corrupted,
                "\(description.name).\(description.slots[slot].name) of object \(row.key) contains a value that is not valid for its type",
                details: .init(entity: description.name, property: description.slots[slot].name, keys: [row.key])))
    }

    /// Prepares the first assignment to a clean object.
    func willChange(_ object: ManagedObject, _ slot: Int) {
        guard let tracker else { return }
        tracker.changed.append(object)
        // A detached transaction can conflict with others: its initial rows are needed to determine which transaction changed which
        // property.
        if sessions == nil { tracker.bases[ObjectIdentifier(object)] = object.encodedRow() }
    }

    /// Returns whether an object of this context can be changed.
    func canAssign(_ object: ManagedObject) -> Bool { tracker != nil && !object.isDeletedObject }

    /// Reports an assignment that is not performed: a setter cannot throw, and a programming error must not end a server. The context
    /// records it, so that the current transaction or read throws it at its end.
    @discardableResult
    func refuseAssignment(_ object: ManagedObject, _ property: String) -> StorageError {
        let reason = object.isDeletedObject ? "assigned after the object was deleted" : "assigned outside its transaction"
        let name = object.description.name
        let error = StoreLogging.reportMisuse(
            StorageError(
                .readOnly,
                "\(name).\(property) was \(reason) and was not changed; assign to the object that transaction.edit(object) returns",
                details: .init(entity: name, property: property, keys: [object._key])))
        fail(error)
        return error
    }

    func touchHigh(_ object: ManagedObject, _ slot: Int) {
        guard let tracker else { return }
        // An entry under its address may belong to discarded changes, or to a released object.
        if object._dirty >> 63 == 0 { tracker.highSlots[ObjectIdentifier(object)] = nil }
        tracker.highSlots[ObjectIdentifier(object), default: SlotMask()].insert(slot)
    }
}
