package import PolystoreStorage

/// The tables of another program that are written in place.
package struct InPlaceTables: Sendable {
    /// A column that stores an attribute or a reference.
    package struct Column: Sendable {
        /// The name.
        package let name: String
        /// A function that converts the SQL of a Polystore value to the form of the column. A value without such a form must cause an
        /// error.
        package let stored: @Sendable (String) -> String
        /// Whether the column stores Polystore's own form, so that equal values are equal in the column.
        package let isPlain: Bool
        /// Whether the column requires a value.
        package let isRequired: Bool
        /// Whether the column is the primary key, which is set by the insertion and never changed.
        package let isKey: Bool

        /// Creates a column.
        package init(
            _ name: String, isPlain: Bool, isRequired: Bool, isKey: Bool = false, stored: @escaping @Sendable (String) -> String
        ) {
            self.name = name
            self.stored = stored
            self.isPlain = isPlain
            self.isRequired = isRequired
            self.isKey = isKey
        }
    }

    /// A table whose rows are objects.
    package struct Table: Sendable {
        /// The name.
        package let name: String
        /// The schema-qualified table name as SQL.
        package let source: String
        /// The primary key.
        package let key: String
        /// The column of each slot.
        package let columns: [Column]

        /// The table name of an insertion, which cannot contain ONLY.
        package var target: String { source.hasPrefix("ONLY ") ? String(source.dropFirst(5)) : source }

        /// The mask of all slots.
        var everything: SlotMask {
            var mask = SlotMask()
            for slot in columns.indices { mask.insert(slot) }
            return mask
        }

        /// The slots of the columns, by column name.
        package var slots: [String: Int] { Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }) }
    }

    /// A table whose rows are the pairs of a relationship.
    package struct Pairs: Sendable {
        /// The name.
        package let name: String
        /// The schema-qualified table name as SQL.
        package let source: String
        /// The table name of an insertion.
        package var target: String { source.hasPrefix("ONLY ") ? String(source.dropFirst(5)) : source }
        /// The columns that refer to the owner and to the member.
        package let owner: Column, member: Column
        /// A function that returns the owner's key, as SQL over a row of the table.
        package let ownerKey: @Sendable (String) -> String
    }

    /// The schema.
    package let schema: Schema
    /// The table of each entity.
    package let tables: [Table]
    /// The table of each link.
    package let pairs: [Pairs]
    /// The entities in an order in which referenced entities precede those that refer to them, as far as there are no cycles.
    package let order: [EntityIndex]

    /// Creates the tables of a database whose catalog was read for writing.
    package init(_ source: CatalogSource) {
        schema = source.schema
        tables = schema.descriptions.map { entity in
            let written = source.written[entity.name]
            return Table(
                name: written?.name ?? "", source: written?.source ?? "", key: written?.key ?? "",
                columns: entity.slots.map { written?.columns[$0.name] ?? Column("", isPlain: true, isRequired: false) { $0 } })
        }
        pairs = schema.links.compactMap { source.pairs[$0.name] }
        order = Self.order(schema)
    }

    /// Returns the assignment of a new Polystore value, given as SQL, to the column of a slot.
    ///
    /// A required property has a value at the end of a transaction, or its object is deleted. Until then a column that requires a value
    /// keeps its old one.
    package func assignment(_ entity: EntityIndex, _ slot: Int, _ value: String) -> String {
        let column = tables[entity].columns[slot], name = SQLText.quoted(column.name), stored = column.stored(value)
        let isRequired =
            switch schema[entity].slots[slot].content {
            case .attribute(let attribute): !attribute.isOptional
            case .toOne(let relationship, _): !relationship.isOptional
            }
        return column.isRequired && isRequired ? "\(name) = coalesce(\(stored), t.\(name))" : "\(name) = \(stored)"
    }

    private static func order(_ schema: Schema) -> [EntityIndex] {
        var result: [EntityIndex] = [], rest = Set(schema.descriptions.indices)
        while let first = rest.min() {
            var free: Set<EntityIndex> = []
            for entity in rest {
                let targets = schema[entity].slots.compactMap(\.destination)
                if targets.allSatisfy({ $0 == entity || !rest.contains($0) }) { free.insert(entity) }
            }
            // A cycle has no natural first entity, so the one with the lowest index begins.
            if free.isEmpty { free.insert(first) }
            result += free.sorted()
            rest.subtract(free)
        }
        return result
    }

    /// Throws if a reference that is the primary key differs from the row key.
    package func checkKey(_ entity: EntityIndex, _ slot: Int, _ row: borrowing RowView) throws(StorageError) {
        if row[slot].kind == .int, row[slot].int == row.key { return }
        let description = schema[entity], property = description.slots[slot].name
        throw StorageError(
            .unsupported,
            "the primary key of \(description.name) is also its reference \(property), and the store assigns keys of new objects: insert "
                + "such rows with the program that owns the database; all other properties can be changed",
            details: .init(entity: description.name, property: property))
    }

    /// Returns the entity whose table has the given name.
    package func entity(ofTable name: String) -> EntityIndex? { tables.firstIndex { $0.name == name } }

    /// Returns the name of the property that a column stores.
    package func property(_ entity: EntityIndex, column: String) -> String? {
        tables[entity].columns.firstIndex { $0.name == column }.map { schema[entity].slots[$0].name }
    }
}

// Violations of the rules of another program's tables, as errors of the contract.
extension InPlaceTables {
    /// Returns the error for a new object whose key is already in use.
    package func keyIsTaken(_ entity: String, _ cause: any Error) -> StorageError {
        StorageError(
            .alreadyExists, "an object of \(entity) with this key already exists", details: .init(entity: entity), cause: cause)
    }

    /// Returns the error for values that violate a unique constraint.
    ///
    /// - Parameters:
    ///   - properties: The properties of the constraint.
    ///   - index: The engine's name of the constraint, for one that the model does not have.
    package func isNotUnique(_ entity: String, _ properties: [String], index: String, _ cause: any Error) -> StorageError {
        let entityConstraints = schema.index(of: entity).map { index in
            schema[index].uniqueConstraints.first { Set($0.slots.map { schema[index].slots[$0].name }) == Set(properties) }
        }
        let known = (entityConstraints ?? nil)?.name, constraint = known ?? index
        var details = StorageError.Details(entity: entity, constraint: constraint)
        if known == nil { details.properties = properties }
        return StorageError(
            .uniqueConstraintViolated, "another object of \(entity) has the same \(constraint)", details: details, cause: cause)
    }

    /// Returns the error for a value that violates a rule of its column.
    package func isInvalid(_ entity: String, _ property: String?, _ message: String, _ cause: any Error) -> StorageError {
        let failure = ValidationFailure(entity: entity, property: property, key: 0, message)
        return StorageError(
            .validationFailed, "\(failure)", details: .init(entity: entity, property: property, failures: [failure]), cause: cause)
    }
}
