/// A part of a row or a history entry, in the form in which a store keeps it.
package struct StoredColumn: Sendable, Hashable {
    /// The name of the column, or of the whole record in a store without columns.
    package let name: String
    /// The type of the value, in the words of the store.
    package let type: String
    /// The bytes of the value; nil if there is no value.
    package let bytes: [UInt8]?

    /// Creates a part.
    package init(name: String, type: String, bytes: [UInt8]?) {
        self.name = name
        self.type = type
        self.bytes = bytes
    }
}
