public import Polystore

/// The base class of declarations in the form of CoreStore. Fields are properties of special types.
/// ```swift
/// class Dog: Animal {
///     let nickname = Value.Optional<String>("nickname")
///     let master = Relationship.ToOne<Person>("master")
/// }
/// ```
/// Each field is a separate object, so objects of this class cost several times as much as those of `@Model` classes; the benchmarks print
/// both. A `CoreStoreSchema` declares the entities, before any object is created.
open class CoreStoreObject: ManagedObject {
    private final let fields: ContiguousArray<FieldBase>
    private final let layout: ClassLayout

    /// Creates the object of a row.
    public required init(_row row: borrowing RowView, _ context: borrowing ObjectContext) {
        layout = ConstructionFrame.layout(of: Self.self)
        fields = ConstructionFrame.take(layout.fieldCount)
        super.init(_row: row, context)
        bind()
        for field in fields { field.load(row, context) }
    }

    /// Creates a new object.
    public required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext) {
        layout = ConstructionFrame.layout(of: Self.self)
        fields = ConstructionFrame.take(layout.fieldCount)
        super.init(_new: key, entity, context)
        bind()
        for field in fields { field.begin() }
    }

    private func bind() {
        let owner = Unmanaged.passUnretained(self)
        for (index, field) in fields.enumerated() {
            field.owner = owner
            if index < layout.slots.count { field.slot = layout.slots[index] }
        }
    }

    deinit {
        // Fields are nearly always released together with their object. A field that the program still retains finds its row again on
        // access.
        let origin = _isPrototype ? nil : _place
        for field in fields {
            field.owner = nil
            field.origin = origin
        }
    }

    /// The stored name of the entity.
    open override class var _entityName: String { ClassLayout.of(self).declaration.name }

    /// The declaration of the entity.
    open override class var declaration: Polystore.Entity { ClassLayout.of(self).declaration }

    /// The stored names of the slots.
    open override class var _slotNames: [String] { ClassLayout.of(self).slotNames }

    /// The slots whose initial values the class computes for each object. These are all slots, because every field has an initial value.
    open override class var _initialSlots: [Int] { Array(_slotNames.indices) }

    /// Loads the values of a newer row.
    open override func _reload(_ row: borrowing RowView, _ mask: UInt64) {
        super._reload(row, mask)
        for field in fields where field.slot < 0 || Self._has(mask, field.slot) { field.load(row, _context) }
    }

    /// Writes the cells of the slots in a mask.
    open override func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64) {
        for field in fields where field.slot >= 0 && Self._has(mask, field.slot) { cells[field.slot] = field.encoded(batch) }
    }

    /// Returns the primary key in the slot of a to-one relationship.
    open override func _reference(_ slot: Int) -> Int64? { field(slot)?.reference }

    /// Sets the primary key in the slot of a to-one relationship.
    open override func _setReference(_ slot: Int, _ key: Int64?) { field(slot)?.reference = key }

    private func field(_ slot: Int) -> FieldBase? {
        layout.fieldOfSlot.indices.contains(slot) ? fields[layout.fieldOfSlot[slot]] : nil
    }

    /// Creates an object that represents no row, whose fields have their names.
    final class func prototype() -> Self {
        _ = ConstructionFrame.take(nil)
        return Self(_new: 0, 0, ObjectContext._prototypes())
    }

    /// The fields, those of the class itself before those of its superclasses.
    final var declaredFields: ContiguousArray<FieldBase> { fields }

    /// Loads the fields of an object that represents no row from a snapshot, so that their accessors compute values from it.
    final func represent<Object>(_ snapshot: ObjectSnapshot<Object>) { for field in fields { field.load(snapshot) } }
}
