public import PolystoreStorage

/// The base class of all objects that a store keeps.
///
/// Classes are declared with the `@Model` macro or generated from a model file; both print the same code. An object belongs to the
/// context that made it and is not Sendable: what crosses isolation domains are ids (`ObjectID`) and snapshots. Reading a property is
/// safe for as long as the object is alive. Assigning is allowed only in the transaction that the object belongs to: elsewhere, and after the
/// object was deleted, the assignment is not made and is reported to the logger as a mistake of the program.
///
/// Members that begin with an underscore are for generated code.
open class ManagedObject {
    /// The slots before those of the first subclass.
    public enum _Schema {
        /// Zero.
        @inlinable public static var end: Int { 0 }
    }

    struct Flags {
        /// Every read takes the slow path: the object is a probe, or attributes of it were left out when it was read.
        static let slow: UInt16 = 1
        /// The object is not yet in the store.
        static let new: UInt16 = 2
        /// The object records which properties a key path reads.
        static let probe: UInt16 = 4
        /// The object was deleted in this context.
        static let deleted: UInt16 = 8
        /// The object stands for a row of a batch: whether it gets a row under its own key is for the store to decide.
        static let rowOnly: UInt16 = 16
    }

    /// The context: it holds itself while it has objects, see `ObjectContext.welcome`.
    private final let owner: Unmanaged<ObjectContext>
    /// The key within the hierarchy.
    public final let _key: Int64
    /// The version of the row that the object was read from; 0 before it is in the store.
    @exclusivity(unchecked) public final var _version: Int64
    /// Bits of the slots that were assigned; bit 63 stands for all from 63 on, and for a new object.
    @exclusivity(unchecked) public final var _dirty: UInt64
    /// What most objects do not have; nil costs nothing when they come and go.
    @exclusivity(unchecked) final var extras: ObjectExtras?
    @exclusivity(unchecked) @usableFromInline final var _flags: UInt16
    /// The index of the entity in the schema of the stack.
    public final let _entity: Int16
    /// The position of the store in the stack.
    final let _store: Int32

    /// The stored name of the entity; generated. Declarations refer to each other by it, because they may refer in circles.
    open class var _entityName: String { "" }

    /// The declaration of the entity; generated.
    open class var declaration: Entity { Entity("") }

    /// The stored names of the slots, in order; generated.
    open class var _slotNames: [String] { [] }

    /// The slots whose initial value the class computes for each object; generated.
    open class var _initialSlots: [Int] { [] }

    /// An object of a row; generated subclasses decode their slots first.
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

    /// A new object; generated subclasses set their defaults first.
    public required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext) {
        owner = .passUnretained(context)
        context.welcome()
        _key = key
        _version = 0
        _dirty = 1 << 63
        _flags = context.isProbe ? Flags.slow | Flags.probe | Flags.new : Flags.new
        _entity = Int16(truncatingIfNeeded: entity)
        _store = context.loadingStore
    }

    deinit { owner._withUnsafeGuaranteedRef { $0.forget(self) } }

    /// Takes over the values of the slots in a mask, and with all of them the version; generated.
    open func _reload(_ row: borrowing RowView, _ mask: UInt64) { if mask == .max { _version = row.version } }

    /// Writes the cells of the slots in a mask; generated.
    open func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64) {}

    /// The key in the slot of a to-one relationship; generated.
    open func _reference(_ slot: Int) -> Int64? { nil }

    /// Sets the key in the slot of a to-one relationship; generated.
    open func _setReference(_ slot: Int, _ key: Int64?) {}

    /// Encodes the attributes by their stored names, to-one relationships as the URIs of identities, and the own one as `objectID`.
    ///
    /// Relationships to many are not part of it: each would be a look-up. A snapshot has them.
    open func encode(to encoder: any Encoder) throws { try encodedValues().encode(to: encoder) }
}

extension ManagedObject {
    /// The context.
    public final var _context: ObjectContext { owner.takeUnretainedValue() }

    /// The to-many relationships that are known, by position.
    final var _collections: [Int: ToManyState] {
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

    /// Whether a mask has a slot.
    @inlinable @inline(__always)
    public static func _has(_ mask: UInt64, _ slot: Int) -> Bool { mask & (1 &<< UInt64(truncatingIfNeeded: slot < 63 ? slot : 63)) != 0 }

    /// Called before a slot is read.
    @inlinable @inline(__always)
    public final func _check(_ slot: Int) { if _flags & 1 != 0 { _slow(slot) } }

    /// Called before a slot is assigned.
    @inlinable @inline(__always)
    public final func _touch(_ slot: Int) {
        if _dirty == 0 { _firstTouch(slot) }
        if slot < 63 { _dirty |= 1 &<< UInt64(truncatingIfNeeded: slot) } else { _touchHigh(slot) }
    }

    /// The value in the form in which stores keep it, or nil after recording why it is refused.
    @inlinable @inline(__always)
    public final func _accept<V: AttributeValue>(_ value: V, _ slot: Int) -> V? {
        if _dirty == 0, !_isAssignable(slot) { return nil }
        var value = value
        if let error = V._normalise(&value) { return _refuse(error, slot) }
        return value
    }

    /// As `_accept` for text, URLs and bytes, which also have limits where they are indexed.
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

    /// Whether a clean object can be assigned to: it belongs to a transaction that goes on and was not deleted. Reports it where it is not.
    @inline(never) @usableFromInline
    final func _isAssignable(_ slot: Int) -> Bool {
        if _context.canAssign(self) { return true }
        _context.refuseAssignment(self, description.slots[slot].name)
        return false
    }

    /// Records why a value was refused; the transaction throws it at its end.
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
        // Nothing that was given out may be released here: only values that nobody has seen are replaced.
        if _isPrototype { _context.probe?.recordAttribute(self, slot) } else { _context.loadLeftOut(self, slot) }
    }

    @inline(never) @usableFromInline
    final func _firstTouch(_ slot: Int) { _context.willChange(self, slot) }

    @inline(never) @usableFromInline
    final func _touchHigh(_ slot: Int) {
        if lacks(slot) { complete() }
        _context.touchHigh(self, slot)
        _dirty |= 1 << 63
    }

    /// What the schema derives of the object's entity.
    final var description: EntityDescription { _context.model.schema[Int(_entity)] }

    /// Where the object is found again when it is gone.
    public final var _place: ObjectPlace { ObjectPlace(context: _context, store: _store, entity: _entity, key: _key) }

    /// Whether the object stands for no row.
    public final var _isPrototype: Bool { _flags & Flags.probe != 0 }

    final var isNew: Bool { _flags & Flags.new != 0 }
    final var isDeletedObject: Bool { _flags & Flags.deleted != 0 }
    final var isRowOnly: Bool { _flags & Flags.rowOnly != 0 }
}

extension ManagedObject {
    /// The version of the row, which each update raises by one; 0 for an object that is not yet in the store.
    public final var version: Int64 { _version }

    /// Whether the object has assignments that were not committed.
    public final var hasChanges: Bool { _dirty != 0 }

    /// Whether the object was deleted: in its transaction, or in the store as far as its context knows.
    public final var isDeleted: Bool { isDeletedObject }

    /// The stored name of the object's own entity.
    public final var entityName: String { description.name }
}

extension ManagedObject {
    /// A new object of a transaction: `Person(context: transaction)`, the same as `transaction.create(Person.self)`.
    ///
    /// - Throws: What `create` does.
    public convenience init(context transaction: BaseTransaction) throws(StorageError) {
        let target = try transaction.target(of: Self.self)
        self.init(_new: try transaction.nextKey(target), target.entity, transaction.context)
        transaction.register(self, target)
    }
}

extension ManagedObject: Encodable {}

extension ManagedObject: Hashable {
    /// Whether both are the same instance; two instances of one row belong to different contexts.
    public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a === b }

    /// Feeds the identity of the instance.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
