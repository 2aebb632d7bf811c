package import PolystoreStorage

/// Writes rows and pairs as JSON objects, one on each line.
package struct RowLines {
    /// The parts of the lines of an entity that are the same for each row.
    private struct Parts {
        let start: [UInt8]
        /// The name of each slot with its punctuation.
        let names: [[UInt8]]
    }

    private let schema: Schema
    private let parts: [Parts]

    /// Prepares the lines of a schema's rows.
    package init(_ schema: Schema) {
        self.schema = schema
        parts = schema.descriptions.map { description in
            Parts(
                start: Array("{\"entity\":\(JSONWriter.quoted(description.name)),\"key\":".utf8),
                names: description.slots.map { Array(",\(JSONWriter.quoted(Self.member($0.name))):".utf8) })
        }
    }

    /// Appends the line of a row: its entity, primary key, version, and the values that are not nil.
    ///
    /// - Throws: `corrupted`, which names the property and the key, for a value that is ill-formed.
    package func append(_ row: borrowing RowView, to bytes: inout [UInt8]) throws(StorageError) {
        let parts = parts[row.entity], slots = schema[row.entity].slots
        bytes += parts.start
        bytes += String(row.key).utf8
        bytes += Self.version
        bytes += String(row.version).utf8
        for slot in slots.indices where !row[slot].isNull {
            bytes += parts.names[slot]
            if !Self.append(row[slot], slots[slot].type, to: &bytes) {
                let name = schema[row.entity].name
                throw StorageError(
                    .corrupted, "\(name).\(slots[slot].name) of object \(row.key) contains ill-formed bytes; restore a backup of the store",
                    details: .init(entity: name, property: slots[slot].name, keys: [row.key]))
            }
        }
        bytes += Self.end
    }

    /// Returns the name of a property's member. It begins with a period if a member of each line has the name of the property.
    package static func member(_ property: String) -> String { reserved.contains(property) ? "." + property : property }

    private static let reserved = [ArchiveFormat.Name.entity, ArchiveFormat.Name.key, ArchiveFormat.Name.version]
    private static let version = Array(",\"version\":".utf8), end = Array("}\n".utf8)

    /// Appends the line of a pair.
    func append(_ pair: LinkPair, of link: LinkDescription, to bytes: inout [UInt8]) {
        let text = "{\"link\":\(JSONWriter.quoted(link.name)),\"owner\":\(pair.owner),\"rank\":\(pair.rank),\"member\":\(pair.member)}\n"
        bytes += text.utf8
    }

    /// Appends the JSON of a cell. Returns false if it is ill-formed.
    ///
    /// Whole numbers and plain ASCII texts, which most cells are, are written without a `Value`.
    package static func append(_ cell: Cell, _ type: ValueType, to bytes: inout [UInt8]) -> Bool {
        if type == .int64, cell.kind == .int {
            bytes += String(cell.int).utf8
            return true
        }
        if type == .string, cell.kind == .text, isPlain(cell.bytes) {
            bytes.append(UInt8(ascii: "\""))
            bytes += cell.bytes
            bytes.append(UInt8(ascii: "\""))
            return true
        }
        guard let value = Value(cell, as: type) else { return false }
        bytes += JSONWriter.write(ValueText.json(value)).utf8
        return true
    }

    /// Whether a text consists of printable ASCII characters that JSON does not escape.
    private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        text.allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
