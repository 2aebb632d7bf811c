internal import Polystore
internal import Synchronization

/// The layout of a class: the assignment of its fields to slots.
final class ClassLayout: Sendable {
    private static let known = Mutex<[ObjectIdentifier: ClassLayout]>([:])
    private static let changes = Atomic(0)
    /// A number that increases whenever a class is assigned a layout.
    static var generation: Int { changes.load(ordering: .acquiring) }
    private static let unknown = ClassLayout(declaration: Polystore.Entity(""), slotNames: [], slots: [], fieldCount: nil)

    let declaration: Polystore.Entity
    let slotNames: [String]
    /// The slot of each field, or -1 for a field that is not in a row.
    let slots: [Int]
    /// The index of the field of each slot.
    let fieldOfSlot: [Int]
    /// The number of fields, or nil for a class that no schema has declared yet.
    let fieldCount: Int?

    init(declaration: Polystore.Entity, slotNames: [String], slots: [Int], fieldCount: Int?) {
        self.declaration = declaration
        self.slotNames = slotNames
        self.slots = slots
        self.fieldCount = fieldCount
        fieldOfSlot = slotNames.indices.map { slot in slots.firstIndex(of: slot) ?? 0 }
    }

    static func of(_ type: CoreStoreObject.Type) -> ClassLayout { known.withLock { $0[ObjectIdentifier(type)] } ?? unknown }

    static func register(_ layout: ClassLayout, for type: CoreStoreObject.Type) {
        known.withLock { $0[ObjectIdentifier(type)] = layout }
        changes.add(1, ordering: .releasing)
    }
}
