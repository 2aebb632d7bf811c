internal import Foundation
public import PolystoreStorage
internal import Synchronization

/// What the objects of one transaction, read or fetch share: the identity map, the way to the store, the changes.
///
/// Objects hold their context; the context knows its objects only weakly, so a result lives as long as the program keeps it and
/// nothing leaks. It is confined to one thread at a time, as its objects are.
public final class ObjectContext {
    let stack: StackCore
    let model: StackModel
    let isProbe: Bool
    /// Whether a relationship that is not loaded must not be.
    let isStrict: Bool
    /// The identity maps of the stores of which there were objects.
    private var storeMaps: [Int32: StoreMaps] = [:]
    /// Those of the store that was asked for last: nearly always it is the next one too.
    @exclusivity(unchecked) private var last = StoreMaps(store: -1, storeID: UUID.placeholder, entityCount: 0)
    /// The number of objects that are alive. While there are any the context holds itself: one retain for all of them instead of one
    /// for each (a tenth of the time of a fetch).
    @exclusivity(unchecked) private var liveCount = 0

    /// The sessions of a transaction or a read; nil where each load is a short read of its own.
    @exclusivity(unchecked) var sessions: SessionPool?
    /// When the fetch that goes on has to give up; sessions that were there before have limits of their own.
    var limit: WorkLimit?
    /// The changes of a transaction; nil where nothing may be changed.
    @exclusivity(unchecked) var tracker: ChangeTracker?
    /// The stores of which a view context could not take over what was committed.
    var unread: UnreadStores = [:]
    /// Whether a look-up goes on whose flush would violate a unique constraint.
    var isFlushRefused = false
    /// The first error that a getter or setter could not throw.
    private(set) var loadError: StorageError?
    /// What was reported to the logger of errors that nothing throws.
    private var reportedFailures: Set<FailedPlace> = []
    /// The store that the object being made belongs to.
    @exclusivity(unchecked) var loadingStore: Int32 = 0
    /// What the rows have of which objects are being made.
    var loadingFields = FetchPlan.Fields.all
    /// What a key path reads, when this context resolves one.
    let probe: KeyPathProbe?
    let scratch = RowBatch(capacity: 4)
    /// The store and root of the last id that was looked up, and when: the next one is most often of the same.
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

    /// The identity map of an entity's hierarchy in a store, which may have come after the context.
    @inline(__always)
    func identityMap(_ entity: EntityIndex, _ store: Int) -> IdentityMap {
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

    /// The objects that are alive of a hierarchy in a store, with their map, by place.
    var livePlaces: [(store: Int, root: EntityIndex, map: IdentityMap)] {
        storeMaps.sorted { $0.key < $1.key }.flatMap { store, maps in
            maps.owned.sorted { $0.key < $1.key }.map { (Int(store), $0.key, $0.value) }
        }
    }

    /// Every object that is alive, by store and root entity.
    var liveObjects: [(store: Int, root: EntityIndex, objects: [ManagedObject])] {
        livePlaces.map { ($0.store, $0.root, $0.map.objects) }
    }

    /// The position of the store and the root entity of an identity.
    func place(of key: ObjectKey) throws(StorageError) -> (position: Int, entity: EntityIndex) {
        let changes = stack.storeChanges.load(ordering: .acquiring)
        if let lastPlace, lastPlace.changes == changes, lastPlace.store == key.store, lastPlace.root == key.root {
            return (lastPlace.position, lastPlace.entity)
        }
        guard let position = stack.position(of: key.store) else {
            throw StorageError(.notFound, "the object's store is not part of this stack")
        }
        guard let entity = model.schema.index(of: key.root) else {
            throw StorageError(.notFound, "the model has no entity \"\(key.root)\"", details: .init(entity: key.root))
        }
        lastPlace = (key.store, key.root, position, entity, changes)
        return (position, entity)
    }

    /// The stores that hold an entity.
    ///
    /// - Throws: Also why one of them could not be read when its commits were to be taken over: objects would be given as they were before.
    func stores(for entity: EntityIndex, _ configurations: [String?]?) throws(StorageError) -> [Int] {
        let stores = try stack.stores(for: entity, configurations)
        if !unread.isEmpty { for store in stores { try checkRead(store) } }
        return stores
    }

    /// Throws why a store could not be read when its commits were to be taken over.
    func checkRead(_ store: Int) throws(StorageError) { if let error = unread[store] { throw error } }

    /// Called by an object that comes into being: the context lives at least as long.
    @inline(__always)
    func welcome() {
        if liveCount == 0 { _ = Unmanaged.passRetained(self) }
        liveCount &+= 1
    }

    /// Called by an object that goes away, and does not use the context afterwards.
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

    /// Remembers the first error that could not be thrown where it happened. Where no transaction and no read throws it at its end, it is
    /// reported to the logger, once for each property.
    @inline(never)
    func fail(_ error: StorageError) {
        var error = error
        if sessions == nil, tracker == nil {
            let place = FailedPlace(code: error.code, entity: error.details.entity, property: error.details.property)
            if reportedFailures.insert(place).inserted {
                error = StoreLogging.report(error, fileName: #fileID, lineNumber: #line, functionName: #function)
            }
        }
        if loadError == nil { loadError = error }
    }

    /// Forgets what `fail` remembered: what it was about was undone.
    func forgetFailure() { loadError = nil }

    /// Runs work, and throws what it could only remember: it is no failure of the whole then.
    func throwingFailures<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let former = loadError
        loadError = nil
        defer { loadError = former }
        let value = try body()
        try throwFailure()
        return value
    }

    /// Throws what `fail` remembered.
    func throwFailure() throws(StorageError) { if let loadError { throw loadError } }

    /// Throws what `fail` remembered, once: who learns of it can go on.
    func takeFailure() throws(StorageError) {
        defer { loadError = nil }
        try throwFailure()
    }

    func objectKey(of object: ManagedObject) -> ObjectKey {
        // An object that stands for no row has no description, and records that its identity was read.
        if let probe { return probe.recordIdentity(object) }
        return ObjectKey(
            store: storeID(of: object), root: model.schema.entities[object.description.root].name, key: object._key)
    }
}

extension ObjectContext {
    /// A context for objects that stand for no row: what their declarations say is read from them.
    public static func _prototypes() -> ObjectContext { ObjectContext(stack: .none, model: .none, probe: KeyPathProbe()) }

    /// The identity of the object that a slot refers to.
    func objectKey(at object: ManagedObject, _ slot: Int, _ key: Int64) -> ObjectKey {
        let destination = object.description.slots[slot].destination ?? object.description.index
        return ObjectKey(
            store: storeID(of: object), root: model.schema.entities[model.schema[destination].root].name, key: key)
    }

    /// The identity of the store of an object, also when the store was removed from the stack.
    private func storeID(of object: ManagedObject) -> UUID {
        (last.store == object._store ? last : storeMaps[object._store])?.storeID ?? stack.storeID(Int(object._store))
    }

    /// Records why a cell could not be decoded; generated code uses the placeholder instead.
    @inline(never)
    public func _undecodable(_ row: borrowing RowView, _ slot: Int) {
        if let probe { return probe.isRefused = true }
        let description = model.schema[row.entity]
        // What was left out is nil whatever its type.
        if row[slot].isNull, !loadingFields.includes(slot, description.slots[slot]) { return }
        fail(
            StorageError(
                .corrupted,
                "\(description.name).\(description.slots[slot].name) of object \(row.key) holds a value that its type does not allow",
                details: .init(entity: description.name, property: description.slots[slot].name, keys: [row.key])))
    }

    /// Called before the first assignment to a clean object.
    func willChange(_ object: ManagedObject, _ slot: Int) {
        guard let tracker else { return }
        tracker.changed.append(object)
        // Work that outlives a closure can meet others: what it began with is needed to tell who changed what.
        if sessions == nil { tracker.bases[ObjectIdentifier(object)] = object.encodedRow() }
    }

    /// Whether an object of this context can be changed.
    func canAssign(_ object: ManagedObject) -> Bool { tracker != nil && !object.isDeletedObject }

    /// Reports an assignment that is not made: a setter cannot throw, and a mistake of the program must not end a server. The context
    /// remembers it, so that a transaction or read that goes on throws it at its end.
    @discardableResult
    func refuseAssignment(_ object: ManagedObject, _ property: String) -> StorageError {
        let reason = object.isDeletedObject ? "assigned after the object was deleted" : "assigned outside its transaction"
        let name = object.description.name
        let error = StoreLogging.reportMisuse(
            StorageError(
                .readOnly,
                "\(name).\(property) was \(reason), and was not changed; use transaction.edit(object) and assign to the object that it returns",
                details: .init(entity: name, property: property, keys: [object._key])))
        fail(error)
        return error
    }

    func touchHigh(_ object: ManagedObject, _ slot: Int) {
        guard let tracker else { return }
        // What is kept under its address may be of changes that were given up, or of an object that is gone.
        if object._dirty >> 63 == 0 { tracker.highSlots[ObjectIdentifier(object)] = nil }
        tracker.highSlots[ObjectIdentifier(object), default: SlotMask()].insert(slot)
    }
}
