internal import PolystoreFoundation
internal import PolystoreStorage

/// The encoded form of an object or snapshot, by stored names. Values have their Swift types, so that the strategies of the encoder apply;
/// lists and JSON are encoded as their contents, and relationships as identities.
package struct EncodedValues: Encodable {
    private(set) var members: [(name: String, value: any Encodable)] = []

    package init() {}

    /// Adds an attribute.
    package mutating func add(_ name: String, _ value: Value, coder: String?) {
        if coder != nil, case .data(let data) = value, let text = String(data: data, encoding: .utf8),
            let node = try? JSONParser.parse(text)
        {
            members.append((name, EncodedJSON(value: node.value)))
        } else {
            members.append((name, value.natural ?? Optional<Bool>.none))
        }
    }

    /// Adds another value.
    package mutating func add(_ name: String, _ value: some Encodable) { members.append((name, value)) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NameKey.self)
        for member in members { try container.encode(member.value, forKey: NameKey(stringValue: member.name)) }
    }
}

/// A coding key with a given name.
private struct NameKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A JSON value, for any encoder.
private struct EncodedJSON: Encodable {
    let value: JSONValue

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .array(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(EncodedJSON(value: item.value)) }
        case .object(let members):
            var container = encoder.container(keyedBy: NameKey.self)
            for member in members { try container.encode(EncodedJSON(value: member.node.value), forKey: NameKey(stringValue: member.name)) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try Self.encode(value, to: encoder)
        case .string(let value): try Self.encode(value, to: encoder)
        case .number(let text):
            if let number = Int64(text) {
                try Self.encode(number, to: encoder)
            } else {
                try Self.encode(Double(text) ?? 0, to: encoder)
            }
        }
    }

    private static func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension ManagedObject {
    /// Returns the attributes by stored names, to-one relationships as identities, and the identity as `objectID`.
    ///
    /// - Throws: The error of loading unfetched attributes, which is `unplannedLoad` under strict loading.
    final func encodedValues() throws(StorageError) -> EncodedValues {
        var encoded = EncodedValues()
        if _isPrototype { return encoded }
        try _context.loadForReading(self)
        encoded.add("objectID", objectID.description)
        let row = encodedRow()
        let cells = row.mutableCells(0)
        for (index, slot) in description.slots.enumerated() {
            if slot.destination == nil {
                encoded.add(slot.name, Value(cells[index], as: slot.type) ?? .null, coder: slot.attribute?.coder)
            } else {
                encoded.add(slot.name, cells[index].isNull ? nil : _context.objectKey(at: self, index, cells[index].int).description)
            }
        }
        withExtendedLifetime(row) {}
        return encoded
    }
}
