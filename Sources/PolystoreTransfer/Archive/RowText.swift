package import PolystoreStorage

/// Texts of rows and pairs as JSON objects, one on each line.
package enum RowText {
    /// Returns a row: its entity, primary key, version, and the values that are not nil.
    ///
    /// - Throws: `corrupted`, which names the property and the key, for a value that is ill-formed.
    package static func line(_ row: borrowing RowView, _ schema: Schema) throws(StorageError) -> String {
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

    /// Returns a pair of a link table.
    static func line(_ pair: LinkPair, of link: LinkDescription) -> String {
        "{\"link\":\(JSONWriter.quoted(link.name)),\"owner\":\(pair.owner),\"rank\":\(pair.rank),\"member\":\(pair.member)}"
    }
}
