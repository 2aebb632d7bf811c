/// Tables for the objects of a schema as a person would declare them in SQL, which every program can read.
package struct PlainTables: Sendable {
    /// A column that stores an attribute or a to-one relationship.
    package struct Column: Sendable {
        /// The name.
        package let name: String
        /// The slot of the entity.
        package let slot: Int
        /// The type of the values.
        package let type: ValueType
        /// Whether the column stores a value exactly; nil for a column that stores every value of its type.
        package let stores: (@Sendable (Cell) -> Bool)?
        /// The name of the loss if the column stores a value only approximately, such as `Book.price`.
        package let loss: String

        /// Creates a column.
        package init(_ name: String, slot: Int, type: ValueType, stores: (@Sendable (Cell) -> Bool)?, loss: String) {
            self.name = name
            self.slot = slot
            self.type = type
            self.stores = stores
            self.loss = loss
        }
    }

    /// The table of an entity. The columns of the slots follow the key.
    package struct Table: Sendable {
        /// The entity.
        package let entity: EntityIndex
        /// The name.
        package let name: String
        /// The name of the primary key.
        package let key: String
        /// The columns, in the order of their slots. One side of a one-to-one relationship has none.
        package let columns: [Column]

        /// Creates a table.
        package init(_ name: String, of entity: EntityIndex, key: String, columns: [Column]) {
            self.entity = entity
            self.name = name
            self.key = key
            self.columns = columns
        }
    }

    /// The table of the pairs of a relationship.
    package struct Pairs: Sendable {
        /// The link of the schema.
        package let link: Int
        /// The name.
        package let name: String
        /// The columns that refer to the owner and to the member.
        package let owner: String, member: String

        /// Creates a table.
        package init(_ name: String, of link: Int, owner: String, member: String) {
            self.link = link
            self.name = name
            self.owner = owner
            self.member = member
        }
    }

    /// A part of the schema that the tables cannot express.
    package struct Refusal: Sendable {
        /// The reason, for people to read.
        package let text: String
        /// The name by which the loss can be accepted; nil if it cannot.
        package let loss: String?

        /// Creates a refusal.
        package init(_ text: String, loss: String? = nil) {
            self.text = text
            self.loss = loss
        }
    }

    /// The schema.
    package let schema: Schema
    /// The tables, with those of superentities first.
    package var tables: [Table] = []
    /// The tables of pairs.
    package var pairs: [Pairs] = []
    /// The statements that choose the place of the tables, for people who run the statements.
    package var preamble: [String] = []
    /// The statements that make the tables, before the rows.
    package var statements: [String] = []
    /// The statements that add constraints and indexes, after the rows.
    package var finishing: [String] = []
    /// The parts of the schema that the tables cannot express and that prevent a copy.
    package var refusals: [Refusal] = []
    /// The rules of the schema that the tables do not enforce, for people to read.
    package var notes: [String] = []

    /// Creates a value without tables.
    package init(_ schema: Schema) { self.schema = schema }
}
