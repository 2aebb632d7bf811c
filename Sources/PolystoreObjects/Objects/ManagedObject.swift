public import PolystoreStorage

/// The base class of all persistent objects.
///
/// Classes are declared with the `@Model` macro or generated from a model file; both produce the same code. An object belongs to the
/// context that created it and is not Sendable: use ids (`ObjectID`) and snapshots across isolation domains. Properties can be read as long
/// as the object is alive. Assignments are allowed only in the transaction to which the object belongs: elsewhere, and after the object was
/// deleted, an assignment has no effect and is reported to the logger as a programming error.
///
/// Members whose names begin with an underscore are for generated code.
open class ManagedObject {
    /// The end of the slots before the first subclass.
    public enum _Schema {
        /// Zero.
        @inlinable public static var end: Int { 0 }
    }

    package struct Flags {
        /// Every read takes the slow path: the object is a probe, or has unfetched attributes.
        static let slow: UInt16 = 1
        /// The object is not yet in the store.
        static let new: UInt16 = 2
        /// The object records the properties that a key path reads.
        static let probe: UInt16 = 4
        /// The object was deleted in this context.
        package static let deleted: UInt16 = 8
        /// The object represents a row of a batch. The store decides whether it gets a row under its own key.
        static let rowOnly: UInt16 = 16
        /// The values of the object were taken over as the row of a batch, which later assignments would not change.
        static let taken: UInt16 = 32
        /// The object was created in this context, so that all of its relationships count as prefetched.
        static let created: UInt16 = 64
    }

    /// The context. It retains itself while it has objects, see `ObjectContext.welcome`.
    private final let owner: Unmanaged<ObjectContext>
    /// The primary key, unique within the hierarchy.
    public final let _key: Int64
    /// The version of the row from which the object was read; 0 before the object is in the store.
    @exclusivity(unchecked) public final var _version: Int64
    /// A bit for each assigned slot. Bit 63 represents all slots from 63 upwards, and is set for a new object.
    @exclusivity(unchecked) public final var _dirty: UInt64
    /// State that most objects do not have. Nil costs nothing when objects are created and released.
    @exclusivity(unchecked) final var extras: ObjectExtras?
    @exclusivity(unchecked) @usableFromInline package final var _flags: UInt16
    /// The index of the entity in the schema of the stack.
    public final let _entity: Int16
    /// The position of the store in the stack.
    package final let _store: Int32

    /// The stored name of the entity; generated. Declarations refer to each other by it, because the references may be circular.
    open class var _entityName: String { "" }

    /// The declaration of the entity; generated.
    open class var declaration: Entity { Entity("") }

    /// The stored names of the slots, in order; generated.
    open class var _slotNames: [String] { [] }

    /// The slots whose initial value the class computes for each object; generated.
    open class var _initialSlots: [Int] { [] }

    /// Creates an object from a row. Generated subclasses decode their slots first.
    public required init(_row row: borrowing RowView, _ context: borrowing ObjectContext) {
        owner = .passUnretained(context)
        context.welcome()
        _key = row.key
        _version = row.version
        _dirty = 0
        _flags = 0
        _entity = Int16(truncatingIfNeeded: row.entity)
        _store = context.loadingStore
    }

    /// Creates a new object. Generated subclasses set their defaults first.
    public required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext) {
        owner = .passUnretained(context)
        context.welcome()
        _key = key
        _version = 0
        _dirty = 1 << 63
        _flags = context.isProbe ? Flags.slow | Flags.probe | Flags.new : Flags.new | Flags.created
        _entity = Int16(truncatingIfNeeded: entity)
        _store = context.loadingStore
    }

    deinit { owner._withUnsafeGuaranteedRef { $0.forget(self) } }

    /// Replaces the values of the slots in a mask and, for a full mask, the version; generated.
    open func _reload(_ row: borrowing RowView, _ mask: UInt64) { if mask == .max { _version = row.version } }

    /// Encodes the slots of a mask as cells; generated.
    open func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64) {}

    /// Returns the key in the slot of a to-one relationship; generated.
    open func _reference(_ slot: Int) -> Int64? { nil }

    /// Sets the key in the slot of a to-one relationship; generated.
    open func _setReference(_ slot: Int, _ key: Int64?) {}

    /// Encodes the attributes by their stored names, to-one relationships as the URIs of identities, and the object's own identity as
    /// `objectID`.
    ///
    /// To-many relationships are not included, because each would require a lookup. A snapshot includes them.
    /// - Throws: The error of loading attributes that were not fetched, which is `unplannedLoad` under strict loading; any error of the encoder.
    open func encode(to encoder: any Encoder) throws { try encodedValues().encode(to: encoder) }
}

extension ManagedObject {
    /// The context of the object.
    public final var _context: ObjectContext { owner.takeUnretainedValue() }

    /// The known to-many relationships, by position.
    package final var _collections: [Int: ToManyState] {
        get { extras?.collections ?? [:] }
        _modify {
            let extras = madeExtras()
            yield &extras.collections
        }
    }

    final func madeExtras() -> ObjectExtras {
        if let extras { return extras }
        let made = ObjectExtras()
        extras = made
        return made
    }

    /// Returns whether a mask contains a slot.
    @inlinable @inline(__always)
    public static func _has(_ mask: UInt64, _ slot: Int) -> Bool { mask & (1 &<< UInt64(truncatingIfNeeded: slot < 63 ? slot : 63)) != 0 }

    /// Prepares the read of a slot. Called before each read.
    @inlinable @inline(__always)
    public final func _check(_ slot: Int) { if _flags & 1 != 0 { _slow(slot) } }

    /// Prepares the assignment of a slot. Called before each assignment.
    @inlinable @inline(__always)
    public final func _touch(_ slot: Int) {
        if _dirty == 0 { _firstTouch(slot) }
        if slot < 63 { _dirty |= 1 &<< UInt64(truncatingIfNeeded: slot) } else { _touchHigh(slot) }
    }

    /// Returns the value in the normalized form that stores keep, or records the reason for its refusal and returns nil.
    @inlinable @inline(__always)
    public final func _accept<V: AttributeValue>(_ value: V, _ slot: Int) -> V? {
        if _dirty == 0, !_isAssignable(slot) { return nil }
        var value = value
        if let error = V._normalise(&value) { return _refuse(error, slot) }
        return value
    }

    /// Works like `_accept` for attributes with further limits: the allowed values of a generated class, and the length of text, URLs and
    /// data that are indexed.
    public final func _acceptBytes<V: AttributeValue>(_ value: V, _ slot: Int) -> V? {
        if _dirty == 0, !_isAssignable(slot) { return nil }
        var value = value
        if let error = V._normalise(&value) { return _refuse(error, slot) }
        do throws(ValueError) {
            _ = try description.normalise(value.attributeValue, slot: slot)
            return value
        } catch {
            return _refuse(error, slot)
        }
    }

    /// Whether an unchanged object can be assigned to: it belongs to a running transaction and was not deleted. Reports a violation.
    @inline(never) @usableFromInline
    final func _isAssignable(_ slot: Int) -> Bool {
        if _context.canAssign(self) { return true }
        _context.refuseAssignment(self, description.slots[slot].name)
        return false
    }

    /// Records the reason for the refusal of a value. The transaction throws it at its end.
    @inline(never)
    public final func _refuse<V>(_ error: ValueError, _ slot: Int) -> V? {
        var error = error
        error.entity = description.name
        error.attribute = description.slots[slot].name
        _context.fail(StorageError(error))
        return nil
    }

    @_effects(releasenone) @inline(never) @usableFromInline
    final func _slow(_ slot: Int) {
        // Values that were already returned must not be released here: only values that were never read are replaced.
        if _isPrototype { _context.probe?.recordAttribute(self, slot) } else { _context.loadLeftOut(self, slot) }
    }

    @inline(never) @usableFromInline
    final func _firstTouch(_ slot: Int) { _context.willChange(self, slot) }

    @inline(never) @usableFromInline
    final func _touchHigh(_ slot: Int) {
        if lacks(slot) { _context.complete(self, description.slots[slot].name) }
        _context.touchHigh(self, slot)
        _dirty |= 1 << 63
    }

    /// The description of the object's entity in the schema.
    package final var description: EntityDescription { _context.model.schema[Int(_entity)] }

    /// The location from which the object can be found or loaded again after its release.
    public final var _place: ObjectPlace { ObjectPlace(context: _context, store: _store, entity: _entity, key: _key) }

    /// Whether the object is a prototype, which represents no row.
    public final var _isPrototype: Bool { _flags & Flags.probe != 0 }

    final var isNew: Bool { _flags & Flags.new != 0 }
    final var isCreatedHere: Bool { _flags & Flags.created != 0 }
    package final var isDeletedObject: Bool { _flags & Flags.deleted != 0 }
    final var isRowOnly: Bool { _flags & Flags.rowOnly != 0 }
}

extension ManagedObject {
    /// The version of the row, which each update increments by one; 0 for an object that is not yet in the store.
    public final var version: Int64 { _version }

    /// Whether the object has uncommitted assignments.
    public final var hasChanges: Bool { _dirty != 0 }

    /// Whether the object was deleted: in its transaction, or in the store as far as its context knows.
    public final var isDeleted: Bool { isDeletedObject }

    /// The stored name of the object's own entity.
    public final var entityName: String { description.name }
}

extension ManagedObject: Encodable {}

extension ManagedObject: Hashable {
    /// Returns whether both are the same instance. Two instances of one row belong to different contexts.
    public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a === b }

    /// Hashes the identity of the instance.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject {
    /// Assigns attributes of a new object by their stored names.
    ///
    /// - Throws: The error of a value that its attribute does not allow.
    func assign(_ values: [String: Value]) throws(StorageError) {
        let description = description, batch = encodedRow()
        let cells = batch.mutableCells(0)
        var assigned: [Int] = []
        for (name, value) in values {
            guard let slot = description.slot(name), description.slots[slot].attribute != nil else { continue }
            do throws(ValueError) {
                cells[slot] = batch.cell(for: try description.normalise(value, slot: slot))
            } catch {
                throw StorageError(error)
            }
            assigned.append(slot)
        }
        withExtendedLifetime(batch) { _reload(batch.row(0), .max) }
        for slot in assigned { _touch(slot) }
    }
}

extension QueryPredicate {
    /// The values that attributes must have for the predicate to be true.
    var demandedEqualities: [String: Value] {
        switch node {
        case .compare(let a, .equal, let b):
            switch (a.node, b.node) {
            case (.path(let path), .value(let value)), (.value(let value), .path(let path)):
                path.names.count == 1 ? [path.names[0]: value] : [:]
            case (.path, _), (.outer, _), (.value, _), (.variable, _), (.function, _), (.conditional, _), (.related, _), (.aggregate, _):
                [:]
            }
        case .and(let parts): parts.reduce(into: [:]) { $0.merge($1.demandedEqualities) { first, _ in first } }
        case .constant, .compare, .isIn, .between, .text, .open, .related, .quantified, .isEntity, .or, .not: [:]
        }
    }
}

extension ManagedObject {
    /// Returns the present values as a row.
    func encodedRow() -> RowBatch {
        let batch = RowBatch(capacity: 1)
        encode(into: batch)
        return batch
    }

    /// Appends the present values as a row to a batch.
    func encode(into batch: RowBatch) {
        complete()
        encodePresent(into: batch)
    }

    /// Appends the present values as a row to a batch, with placeholders for unfetched ones.
    func encodePresent(into batch: RowBatch) {
        let cells = batch.appendRow(key: _key, version: _version, entity: Int(_entity), slots: description.slots.count)
        _encode(cells, batch, .max)
    }

    /// Returns the present values by stored name.
    package func currentValues() -> [String: Value] {
        // A view does not retain its batch.
        let batch = encodedRow()
        return withExtendedLifetime(batch) { values(batch.row(0)) }
    }

    /// Returns the values of a row of this object's entity by stored name.
    package func values(_ row: borrowing RowView) -> [String: Value] {
        var values: [String: Value] = [:]
        for (index, slot) in description.slots.enumerated() { values[slot.name] = Value(row[index], as: slot.type) ?? .null }
        return values
    }
}

extension ManagedObject {
    /// The probe that records accesses to a prototype object.
    private final var _probe: KeyPathProbe? { _flags & Flags.probe == 0 ? nil : _context.probe }

    /// Returns the destination of a to-one relationship. Called by generated getters.
    public final func _one<T: ManagedObject>(_ slot: Int, _ key: Int64?, _ type: T.Type = T.self) -> T? {
        if let probe = _probe { return probe.recordReference(self, slot, _context) }
        guard let key = key ?? _unfetchedReference(slot) else { return nil }
        return _context.target(self, slot, key) as? T
    }

    /// Returns the key of a to-one relationship that was not read with the object.
    private final func _unfetchedReference(_ slot: Int) -> Int64? {
        if _flags & Flags.slow == 0 { return nil }
        _context.loadLeftOut(self, slot)
        return _reference(slot)
    }

    /// Sets the destination of a to-one relationship and updates the inverse. Called by generated setters.
    public final func _setOne(_ slot: Int, _ target: ManagedObject?) {
        if _context.refusesUnread(self, description.slots[slot].name) { return }
        _context.relate(self, slot, to: target)
    }

    /// Returns the destinations of an unordered to-many relationship. Called by generated getters.
    public final func _set<T: ManagedObject>(_ name: String, _ type: T.Type = T.self) -> Set<T> {
        if let probe = _probe { return probe.recordMembers(self, name, _context) { (members: [T]) in Set(members) } }
        return Set(_context.typedMembers(self, name, type))
    }

    /// Returns the destinations of an ordered to-many relationship, in order. Called by generated getters.
    public final func _list<T: ManagedObject>(_ name: String, _ type: T.Type = T.self) -> [T] {
        if let probe = _probe { return probe.recordMembers(self, name, _context) { (members: [T]) in members } }
        return _context.typedMembers(self, name, type)
    }

    /// Sets the destinations of a to-many relationship to exactly these objects and updates the inverse. Called by generated setters.
    public final func _setMany(_ name: String, _ members: some Sequence<ManagedObject>) {
        _context.setMembers(self, name, Array(members))
        _context.planAssigned(self, name)
    }
}
