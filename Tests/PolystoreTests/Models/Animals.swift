import Foundation
import Polystore

class Animal: ManagedObject {
    enum _Schema {
        @inlinable static var base: Int { ManagedObject._Schema.end }
        @inlinable static var end: Int { base + 2 }
    }
    override class var declaration: Entity {
        Entity(
            "Animal", isAbstract: true, attributes: [Attribute("name", .string, defaultValue: .string(""))],
            relationships: [Relationship("owner", to: "Person", .toOne, inverse: "pets")])
    }
    override class var _slotNames: [String] { super._slotNames + ["name", "owner"] }
    final var name: String {
        get { _check(_Schema.base + 0); return __name }
        set { if let value = _accept(newValue, _Schema.base + 0) { _touch(_Schema.base + 0); __name = value } }
    }
    @exclusivity(unchecked) private final var __name: String
    final var owner: Person? {
        get { _one(_Schema.base + 1, __owner, Person.self) }
        set { _setOne(_Schema.base + 1, newValue) }
    }
    @exclusivity(unchecked) private final var __owner: Int64?
    required init(_row row: borrowing RowView, _ context: borrowing ObjectContext) {
        __name = Self._decode(row, _Schema.base + 0, context)
        __owner = Self._decode(row, _Schema.base + 1, context)
        super.init(_row: row, context)
    }
    required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext) {
        __name = ""
        __owner = nil
        super.init(_new: key, entity, context)
    }
    override func _reload(_ row: borrowing RowView, _ mask: UInt64) {
        super._reload(row, mask)
        if Self._has(mask, _Schema.base + 0) { __name = Self._decode(row, _Schema.base + 0, _context) }
        if Self._has(mask, _Schema.base + 1) { __owner = Self._decode(row, _Schema.base + 1, _context) }
    }
    override func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64) {
        super._encode(cells, batch, mask)
        if Self._has(mask, _Schema.base + 0) { cells[_Schema.base + 0] = __name._encode(batch) }
        if Self._has(mask, _Schema.base + 1) { cells[_Schema.base + 1] = __owner._encode(batch) }
    }
    override func _reference(_ slot: Int) -> Int64? { slot == _Schema.base + 1 ? __owner : super._reference(slot) }
    override func _setReference(_ slot: Int, _ key: Int64?) {
        if slot == _Schema.base + 1 { __owner = key } else { super._setReference(slot, key) }
    }
}

final class Dog: Animal {
    enum _Schema {
        @inlinable static var base: Int { Animal._Schema.end }
        @inlinable static var end: Int { base + 2 }
    }
    override class var declaration: Entity {
        Entity(
            "Dog", parent: "Animal",
            attributes: [
                Attribute("size", Size.valueType, defaultValue: Size.placeholder.attributeValue, allowedValues: Size.allowedValues),
                Attribute("born", .date, isOptional: true),
            ])
    }
    override class var _slotNames: [String] { super._slotNames + ["size", "born"] }
    var size: Size {
        get { _check(_Schema.base + 0); return __size }
        set { _touch(_Schema.base + 0); __size = newValue }
    }
    @exclusivity(unchecked) private var __size: Size
    var born: Date? {
        get { _check(_Schema.base + 1); return __born }
        set { if let value = _accept(newValue, _Schema.base + 1) { _touch(_Schema.base + 1); __born = value } }
    }
    @exclusivity(unchecked) private var __born: Date?
    required init(_row row: borrowing RowView, _ context: borrowing ObjectContext) {
        __size = Self._decode(row, _Schema.base + 0, context)
        __born = Self._decode(row, _Schema.base + 1, context)
        super.init(_row: row, context)
    }
    required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext) {
        __size = .small
        __born = nil
        super.init(_new: key, entity, context)
    }
    override func _reload(_ row: borrowing RowView, _ mask: UInt64) {
        super._reload(row, mask)
        if Self._has(mask, _Schema.base + 0) { __size = Self._decode(row, _Schema.base + 0, _context) }
        if Self._has(mask, _Schema.base + 1) { __born = Self._decode(row, _Schema.base + 1, _context) }
    }
    override func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64) {
        super._encode(cells, batch, mask)
        if Self._has(mask, _Schema.base + 0) { cells[_Schema.base + 0] = __size._encode(batch) }
        if Self._has(mask, _Schema.base + 1) { cells[_Schema.base + 1] = __born._encode(batch) }
    }
}
