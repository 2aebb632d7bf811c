internal import PolystoreStorage

extension ManagedObject {
    /// Returns the value of an attribute by its stored name; nil if the entity has no such attribute, which is reported as misuse.
    final func attributeValue(_ name: String) -> Value? {
        if _isPrototype { return sample(of: name) }
        guard let slot = slot(ofAttribute: name) else { return nil }
        _check(slot)
        let batch = row(masked: slot)
        return withExtendedLifetime(batch) { Value(batch.mutableCells(0)[slot], as: description.slots[slot].type) }
    }

    /// Assigns an attribute by its stored name, as a generated setter does.
    final func setAttributeValue(_ value: Value, _ name: String) {
        guard !_isPrototype, let slot = slot(ofAttribute: name), _dirty != 0 || _isAssignable(slot) else { return }
        do throws(ValueError) {
            let normal = try description.normalise(value, slot: slot)
            _touch(slot)
            let batch = row(masked: slot)
            batch.mutableCells(0)[slot] = batch.cell(for: normal)
            withExtendedLifetime(batch) { _reload(batch.row(0), Self.mask(slot)) }
        } catch {
            let _: Value? = _refuse(error, slot)
        }
    }

    /// Returns the value that a prototype, which has no schema, holds for an attribute of its class.
    private final func sample(of name: String) -> Value? {
        guard let slot = type(of: self)._slotNames.firstIndex(of: name),
            let attribute = type(of: self).declaration.attributes.first(where: { $0.name == name })
        else { return nil }
        _check(slot)
        return held(slot, as: attribute.type)
    }

    private final func slot(ofAttribute name: String) -> Int? {
        if let slot = description.slot(name), description.slots[slot].attribute != nil { return slot }
        _ = StoreLogging.reportMisuse(
            StorageError(
                .invalidConfiguration,
                "\(description.name) has no attribute \"\(name)\"\(Suggestion.nearest(name, in: description.slots.map(\.name)))",
                details: .init(entity: description.name, property: name)))
        return nil
    }

    /// The mask of a slot; that of the last bit represents several.
    private static func mask(_ slot: Int) -> UInt64 { 1 << UInt64(min(slot, 63)) }

    /// Returns a row with the values of the slots of a mask.
    private final func row(masked slot: Int) -> RowBatch {
        let batch = RowBatch(capacity: 1)
        _encode(batch.appendRow(key: _key, version: _version, entity: Int(_entity), slots: description.slots.count), batch, Self.mask(slot))
        return batch
    }
}
