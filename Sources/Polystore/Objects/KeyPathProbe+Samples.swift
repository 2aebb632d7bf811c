internal import Foundation
internal import PolystoreStorage

extension Attribute {
    /// Values for which a computed property is likely to differ from the attribute. The most common ones come first, because programs can
    /// handle them.
    var samples: [Value] {
        let values = allowedValues.isEmpty ? Self.samples(type, isCoded: coder != nil) : Array(allowedValues.prefix(8))
        return isOptional ? values + [.null] : values
    }

    private static func samples(_ type: ValueType, isCoded: Bool) -> [Value] {
        switch type {
        case .bool: [.bool(true), .bool(false)]
        case .int16, .int32, .int64: [1, 2, 3, 7, 12, 99, 101, 1000, 0, -1, -12].map { .int($0) }
        case .float, .double: [1, 0.5, 2.25, 100.75, 0, -1.5].map { .double($0) }
        case .decimal: ["1", "0.5", "2.255", "100.75", "0", "-1.5"].map { .decimal(Decimal(string: $0) ?? 0) }
        case .string:
            ["ab", "Ab Cd", " é x ", "a", "", String(repeating: "Long, longer. ", count: 10), "7"].map { .string($0) } + references
        case .date: [86_400_000_001, 1_700_000_000_123_456, 981_173_106_000_000, 0, -1].map { .date($0) }
        case .uuid: [1, 2].map { .uuid(UUID(uuid: ($0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))) }
        case .url: ["https://example.com/a/B?c=d#e", "file:///x/y.txt", "a:b"].map { .string($0) }
        case .data where isCoded:
            ["[3,1,2]", "[\"b\",\"A\",\"b\"]", "[true,false]", "[]", "{}", "7", "\"b\"", "[0.5,-1]", "{\"b\":1}"].map {
                .data(Data($0.utf8))
            }
        case .data: [[3, 1, 2], [255], []].map { .data(Data($0)) }
        }
    }

    /// The texts of identities, which are the only values of references.
    private static let references = [1, 2].map { Value.string(ObjectKey(store: .placeholder, root: "Root", key: $0).description) }
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
