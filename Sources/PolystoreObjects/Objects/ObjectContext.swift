internal import PolystoreFoundation
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
    /// The live objects. While there are any, the context retains itself: one retain for all of them instead of one for each (a tenth of the
    /// time of a fetch).
    @exclusivity(unchecked) private var objects: LiveObjects

    /// The sessions of a transaction or a read; nil if each load is a separate short read.
    @exclusivity(unchecked) var sessions: SessionPool?
    /// The sessions that all reads of the resolution of a conflict use, so that they see one state of each store.
    var snapshots: [Int: ReadSession]?
    /// The time limit of the current fetch. Sessions that existed before have their own limits.
    var limit: WorkLimit?
    /// The changes of a transaction; nil if the context is read-only.
    @exclusivity(unchecked) package var tracker: ChangeTracker?
    /// The stores whose commits a view context could not merge.
    var unread: UnreadStores = [:]
    /// The error with which a store refuses the pending changes until more values are assigned. Reads merge the changes meanwhile.
    var refusal: StorageError?
    /// The destinations that were assigned to objects which represent rows of a batch, until the rows are written. A destination whose
    /// creation was undone meanwhile is in no identity map, and its key may belong to another object.
    var rowDestinations: [(object: ManagedObject, slot: Int, destination: ManagedObject)] = []
    /// Whether a request of the context is being measured, so that its parts are not reported.
    var isMeasured = false
    /// The errors that getters and setters could not throw.
    private var failures = UnthrownErrors()
    /// The store of the object that is being created.
    @exclusivity(unchecked) package var loadingStore: Int32 = 0
    /// The fields of the rows from which objects are being created.
    var loadingFields = FetchPlan.Fields.all
    /// The probe that records the properties of a key path, if this context resolves one.
    let probe: KeyPathProbe?
    let scratch = RowBatch(capacity: 4)
    private var lookup: StoreLookup

    init(stack: StackCore, model: StackModel, probe: KeyPathProbe? = nil) {
        self.stack = stack
        self.model = model
        self.probe = probe
        isProbe = probe != nil
        isStrict = stack.relationships == .strict
        objects = LiveObjects(stack, model)
        lookup = StoreLookup(stack, model)
    }

    /// Returns the identity map of an entity's hierarchy in a store, which may have been added after the context was created.
    @inline(__always)
    package func identityMap(_ entity: EntityIndex, _ store: Int) -> IdentityMap { objects.map(entity, store) }

    /// The live objects of each hierarchy in each store, as their identity maps.
    var livePlaces: [(store: Int, root: EntityIndex, map: IdentityMap)] { objects.places }

    /// All live objects, by store and root entity.
    var liveObjects: [(store: Int, root: EntityIndex, objects: [ManagedObject])] {
        livePlaces.map { ($0.store, $0.root, $0.map.objects) }
    }

    /// Returns the position of the store and the root entity of an identity.
    func place(of key: ObjectKey) throws(StorageError) -> (position: Int, entity: EntityIndex) { try lookup.find(key) }

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
    func welcome() { if objects.add() { _ = Unmanaged.passRetained(self) } }

    /// Unregisters an object that is being released and no longer uses the context.
    func forget(_ object: ManagedObject) {
        if !isProbe { objects.removeFromMap(object) }
        if objects.remove() { Unmanaged.passUnretained(self).release() }
    }

    /// The first error that a getter or setter could not throw.
    var loadError: StorageError? { failures.first }

    /// Records the first error that could not be thrown where it occurred. If no transaction, no read and no method such as `load` throws it,
    /// it is reported to the logger, once for each property.
    @inline(never)
    package func fail(_ error: StorageError) {
        let isThrownLater = sessions != nil || tracker != nil
        // Outside of any access to the errors: a logger may use the objects of the context, and fail itself.
        let isReported = !isThrownLater && failures.shouldReport(error)
        failures.add(isReported ? StoreLogging.report(error, fileName: #fileID, lineNumber: #line, functionName: #function) : error)
    }

    /// Discards the recorded error, because the failed work was undone.
    func forgetFailure() { failures.first = nil }

    /// Whether a method is running that only reads, and throws the first error as soon as it ends.
    var isReading: Bool { failures.isReading }

    /// Runs work, and throws an error that the work could only record. It does not count as a failure of the whole then.
    ///
    /// - Parameter assigns: Whether the work may assign properties, so that those that could not be loaded must be remembered.
    package func throwingFailures<R>(assigns: Bool = false, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let former = (failures.first, failures.isThrown, failures.isReading)
        (failures.first, failures.isThrown, failures.isReading) = (nil, true, !assigns)
        defer { (failures.first, failures.isThrown, failures.isReading) = former }
        let value = try body()
        try throwFailure()
        return value
    }

    /// Runs an assignment that returns whether it was not refused, and throws an error that it could only record. A refused assignment does
    /// not count as a failure of the whole then; one that was performed in part does.
    func throwingRefusal(_ assign: () -> Bool) throws(StorageError) {
        let former = failures.first
        failures.first = nil
        let isPerformed = assign(), error = failures.first
        if former != nil || !isPerformed { failures.first = former }
        if let error { throw error }
    }

    /// Throws the recorded error.
    func throwFailure() throws(StorageError) { if let loadError { throw loadError } }

    /// Throws the recorded error and discards it, so that the caller can continue.
    func takeFailure() throws(StorageError) {
        defer { failures.first = nil }
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
    private func storeID(of object: ManagedObject) -> UUID { objects.storeID(of: object) }

    /// Records the error for a cell that could not be decoded. Generated code uses the placeholder instead.
    ///
    /// - Parameter cause: The error with which the type of a coded attribute refuses its value; nil if the value is damaged.
    @inline(never)
    public func _undecodable(_ row: borrowing RowView, _ slot: Int, _ cause: (any Error)? = nil) {
        if let probe { return probe.isRefused = true }
        let description = model.schema[row.entity]
        // An unfetched cell is nil regardless of its type.
        if row[slot].isNull, !loadingFields.includes(slot, description.slots[slot]) { return }
        let property = description.slots[slot].name, text = "\(description.name).\(property) of object \(row.key) contains a value that "
        let details = StorageError.Details(entity: description.name, property: property, keys: [row.key])
        func mismatch(_ cause: any Error) -> String { (cause as? DecodingError)?.mismatch ?? "decoding it threw \(type(of: cause))" }
        let error =
            if let cause {
                StorageError(
                    .schemaMismatch,
                    "\(text)does not fit the present form of its type: \(mismatch(cause)); decode older values in init(from:), for example with "
                        + "decodeIfPresent and a default, or keep the old type and migrate its values to another attribute",
                    details: details, cause: cause)
            } else {
                StorageError(.corrupted, "\(text)is not valid for its type", details: details)
            }
        didFailToLoad(.init(store: loadingStore, root: description.root, key: row.key, name: property), error)
        fail(error)
    }
}
