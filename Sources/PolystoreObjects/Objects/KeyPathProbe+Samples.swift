internal import PolystoreStorage

extension Attribute {
    /// Values for which a computed property is likely to differ from the attribute.
    var samples: [Value] {
        let values = allowedValues.isEmpty ? SampleValues.of(type, isCoded: coder != nil) : Array(allowedValues.prefix(1000))
        return isOptional ? values + [.null] : values
    }
}

extension ManagedObject {
    /// Returns the declaration of an attribute by its stored name, from the class or a superclass.
    final func declaredAttribute(_ name: String) -> Attribute? {
        var current: AnyClass? = type(of: self)
        while let type = current as? ManagedObject.Type {
            if let found = type.declaration.attributes.first(where: { $0.name == name }) { return found }
            current = _getSuperclass(type)
        }
        return nil
    }

    /// Returns the value of a slot in its stored form; nil for a cell of another type.
    final func held(_ slot: Int, as type: ValueType) -> Value? {
        let row = row(of: slot)
        return withExtendedLifetime(row) { Value(row.mutableCells(0)[slot], as: type) }
    }

    /// Assigns a value to a slot of a prototype object, which represents no row.
    final func hold(_ value: Value, _ slot: Int) {
        let row = row(of: slot)
        row.mutableCells(0)[slot] = row.cell(for: value)
        withExtendedLifetime(row) { _reload(row.row(0), Self.mask(slot)) }
    }

    private static func mask(_ slot: Int) -> UInt64 { 1 << UInt64(min(slot, 63)) }

    private final func row(of slot: Int) -> RowBatch {
        let batch = RowBatch(capacity: 1)
        _encode(batch.appendRow(key: 0, version: 0, entity: 0, slots: type(of: self)._slotNames.count), batch, Self.mask(slot))
        return batch
    }
}
