import Foundation
import Polystore

// The expansion of a model, as the macro and the generator print it.

enum Size: String, Codable, AttributeValue, CaseIterable { case small, medium, large }

class Person: ManagedObject {
    enum _Schema {
        @inlinable static var base: Int { ManagedObject._Schema.end }
        @inlinable static var end: Int { base + 4 }
    }

    override class var declaration: Entity {
        Entity(
            "Person",
            attributes: [
                Attribute(
                    "name", String.valueType, isOptional: String.isOptionalAttribute, defaultValue: .string(""),
                    allowedValues: String.allowedValues),
                Attribute(
                    "age", Int.valueType, isOptional: Int.isOptionalAttribute, defaultValue: .int(0), allowedValues: Int.allowedValues),
                Attribute("email", String?.valueType, isOptional: String?.isOptionalAttribute, allowedValues: String?.allowedValues),
            ],
            relationships: [
                Relationship("partner", to: "Person", .toOne, inverse: "partner"),
                Relationship("pets", to: "Animal", .toMany, inverse: "owner", deleteRule: .cascade),
            ],
            indexes: [Index(["age"])],
            uniqueConstraints: [UniqueConstraint(["email"])])
    }
    override class var _slotNames: [String] { super._slotNames + ["name", "age", "email", "partner"] }

    final var name: String {
        get { _check(_Schema.base + 0); return __name }
        set { if let value = _acceptBytes(newValue, _Schema.base + 0) { _touch(_Schema.base + 0); __name = value } }
    }
    @exclusivity(unchecked) private final var __name: String
    final var age: Int {
        get { _check(_Schema.base + 1); return __age }
        set { _touch(_Schema.base + 1); __age = newValue }
    }
    @exclusivity(unchecked) private final var __age: Int
    final var email: String? {
        get { _check(_Schema.base + 2); return __email }
        set { if let value = _acceptBytes(newValue, _Schema.base + 2) { _touch(_Schema.base + 2); __email = value } }
    }
    @exclusivity(unchecked) private final var __email: String?
    final var partner: Person? {
        get { _one(_Schema.base + 3, __partner, Person.self) }
        set { _setOne(_Schema.base + 3, newValue) }
    }
    @exclusivity(unchecked) private final var __partner: Int64?
    final var pets: Set<Animal> {
        get { _set("pets", Animal.self) }
        set { _setMany("pets", newValue) }
    }

    required init(_row row: borrowing RowView, _ context: borrowing ObjectContext) {
        __name = Self._decode(row, _Schema.base + 0, context)
        __age = Self._decode(row, _Schema.base + 1, context)
        __email = Self._decode(row, _Schema.base + 2, context)
        __partner = Self._decode(row, _Schema.base + 3, context)
        super.init(_row: row, context)
    }
    required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext) {
        __name = ""
        __age = 0
        __email = nil
        __partner = nil
        super.init(_new: key, entity, context)
    }
    override func _reload(_ row: borrowing RowView, _ mask: UInt64) {
        super._reload(row, mask)
        if Self._has(mask, _Schema.base + 0) { __name = Self._decode(row, _Schema.base + 0, _context) }
        if Self._has(mask, _Schema.base + 1) { __age = Self._decode(row, _Schema.base + 1, _context) }
        if Self._has(mask, _Schema.base + 2) { __email = Self._decode(row, _Schema.base + 2, _context) }
        if Self._has(mask, _Schema.base + 3) { __partner = Self._decode(row, _Schema.base + 3, _context) }
    }
    override func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64) {
        super._encode(cells, batch, mask)
        if Self._has(mask, _Schema.base + 0) { cells[_Schema.base + 0] = __name._encode(batch) }
        if Self._has(mask, _Schema.base + 1) { cells[_Schema.base + 1] = __age._encode(batch) }
        if Self._has(mask, _Schema.base + 2) { cells[_Schema.base + 2] = __email._encode(batch) }
        if Self._has(mask, _Schema.base + 3) { cells[_Schema.base + 3] = __partner._encode(batch) }
    }
    override func _reference(_ slot: Int) -> Int64? {
        switch slot {
        case _Schema.base + 3: __partner
        default: super._reference(slot)
        }
    }
    override func _setReference(_ slot: Int, _ key: Int64?) {
        switch slot {
        case _Schema.base + 3: __partner = key
        default: super._setReference(slot, key)
        }
    }

    struct Snapshot: Sendable {
        let objectID: ObjectID<Person>
        let version: Int64
        let name: String
        let age: Int
        let email: String?
        let partner: ObjectID<Person>?
    }
    func snapshot() -> Snapshot {
        Snapshot(
            objectID: objectID, version: version, name: name, age: age, email: email,
            partner: _target(__partner, _Schema.base + 3))
    }
}
