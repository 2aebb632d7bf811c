public import PolystoreStorage

/// A dump of all contents of a store as lines of JSON objects: rows with key, entity, and values, then pairs of link tables.
public struct Dump {
    private let contents: Contents

    /// Creates a dump of the given contents.
    package init(_ contents: Contents) { self.contents = contents }

    /// Passes the lines to `body`, in the order of entities and keys.
    public func lines(_ body: (String) throws(StorageError) -> Void) throws(StorageError) {
        let schema = contents.schema
        for root in schema.roots {
            _ = try contents.rows(root) { batch throws(StorageError) in
                for index in 0..<batch.count { try body(try Self.line(batch.row(index), schema)) }
            }
        }
        for (link, description) in schema.links.enumerated() {
            _ = try contents.links(link) { pairs throws(StorageError) in
                for pair in pairs {
                    try body(
                        "{\"link\":\(JSONWriter.quoted(description.name)),\"owner\":\(pair.owner),\"rank\":\(pair.rank),\"member\":\(pair.member)}"
                    )
                }
            }
        }
    }

    /// Returns the line of a row.
    public static func line(_ row: borrowing RowView, _ schema: Schema) throws(StorageError) -> String {
        let description = schema[row.entity]
        var text = "{\"entity\":\(JSONWriter.quoted(description.name)),\"key\":\(row.key),\"version\":\(row.version)"
        for (slot, property) in description.slots.enumerated() {
            guard let value = Value(row[slot], as: property.type) else {
                throw StorageError(
                    .corrupted,
                    "\(description.name).\(property.name) of object \(row.key) contains ill-formed bytes; restore a backup of the store")
            }
            if !value.isNull { text += ",\(JSONWriter.quoted(property.name)):\(JSONWriter.write(ValueText.json(value)))" }
        }
        return text + "}"
    }
}
