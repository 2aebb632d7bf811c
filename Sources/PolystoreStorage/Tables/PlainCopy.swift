/// New tables as a store that opens the database of another program reads them.
package struct PlainCopy {
    /// The place of a table in the schema that is read.
    package struct Place: Sendable {
        /// The entity.
        package let entity: EntityIndex
        /// For each column, the slot that is read.
        package let slots: [Int]

        /// Creates a place.
        package init(_ entity: EntityIndex, slots: [Int]) {
            self.entity = entity
            self.slots = slots
        }
    }

    /// The place of a table of pairs in the schema that is read.
    package struct LinkPlace: Sendable {
        /// The link.
        package let link: Int
        /// Whether the owner is read as the member.
        package let isTurned: Bool

        /// Creates a place.
        package init(_ link: Int, isTurned: Bool) {
            self.link = link
            self.isTurned = isTurned
        }
    }

    /// A session in the transaction. It ends before the transaction.
    package let reader: any StorageReader
    /// The schema that is read.
    package let schema: Schema
    /// The places of the tables.
    package let tables: [Place]
    /// The places of the tables of pairs.
    package let pairs: [LinkPlace]

    /// Creates a copy.
    package init(_ reader: any StorageReader, _ schema: Schema, tables: [Place], pairs: [LinkPlace]) {
        self.reader = reader
        self.schema = schema
        self.tables = tables
        self.pairs = pairs
    }
}
