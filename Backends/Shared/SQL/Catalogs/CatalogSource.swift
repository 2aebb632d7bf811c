package import PolystoreFoundation
package import PolystoreStorage

/// A foreign database as a store presents it: a schema, and the SQL that returns its rows and pairs.
package struct CatalogSource: Sendable {
    /// The source of the rows of a hierarchy. The SQL refers to the table as `t`.
    package struct Rows: Sendable {
        /// The table expression after FROM.
        package var source: String
        /// The expression of the row key.
        package var key: String
        /// The expression of the entity number; nil without a hierarchy.
        package var entity: String?
        /// The expression of the version.
        package var version: String
        /// The expressions of the values, by the names of the hierarchy's columns.
        package var columns: [String: String]

        /// Creates a source of rows from a table.
        package init(source: String, key: String, entity: String? = nil, version: String = "1", columns: [String: String]) {
            self.source = source
            self.key = key
            self.entity = entity
            self.version = version
            self.columns = columns
        }
    }

    /// The schema.
    package private(set) var schema: Schema
    /// The source of the rows of each root entity, by its name.
    package var rows: [String: Rows]
    /// The statement that returns owner, rank and member, by the name of the link.
    package let links: [String: String]
    /// The remarks on parts of the database that are left out or read differently from their declaration, for people to read.
    package let remarks: [CatalogRemark]
    /// The description of how the rows of each entity are written, by its name.
    var written: [String: CatalogWriting] = [:]
    /// The description of how the pairs of each link are written, by its name.
    var pairs: [String: InPlaceTables.Pairs] = [:]

    /// Creates a source.
    package init(schema: Schema, rows: [String: Rows], links: [String: String], remarks: [CatalogRemark]) {
        self.schema = schema
        self.rows = rows
        self.links = links
        self.remarks = remarks
    }

    /// The hash of the schema without indexes, which the owner of the database creates and drops at any time.
    package var identityHash: SchemaHash { get throws(StorageError) { try Self.hashWithoutIndexes(schema) } }

    /// Changes the schema to that of a program if it differs only in ordered indexes without a condition. Requests do not name those.
    package mutating func adopt(_ request: OpenRequest) throws(StorageError) {
        guard let wanted = request.schema, try Self.hashWithoutIndexes(wanted) == identityHash else { return }
        schema = wanted
    }

    private static func hashWithoutIndexes(_ schema: Schema) throws(StorageError) -> SchemaHash {
        var entities = schema.entities
        for index in entities.indices { entities[index].indexes.removeAll { $0.kind == .ordered && $0.condition == nil } }
        do throws(SchemaError) { return try Schema(entities: entities).hash } catch { throw StorageError(error) }
    }

    /// Returns the statements that create views with the names and columns of Polystore's own tables, for one connection.
    ///
    /// - Parameter tables: The tables of the schema.
    package func views(_ tables: SQLTables) -> [String] {
        let roots = schema.roots.compactMap { root in rows[schema.entities[root].name].map { view(root, $0, tables) } }
        let pairs = schema.links.indices.compactMap { link in
            links[schema.links[link].name].map { Self.view(tables.table(link: link), $0) }
        }
        return roots + pairs
    }

    private func view(_ root: EntityIndex, _ rows: Rows, _ tables: SQLTables) -> String {
        var list = ["\(rows.key) AS \"_id\""]
        if schema[root].isHierarchy { list.append("\(rows.entity ?? "1") AS \"_entity\"") }
        list.append("\(rows.version) AS \"_version\"")
        for (index, column) in schema[root].columns.enumerated() {
            list.append("\(rows.columns[column.name] ?? "NULL") AS \(SQLText.quoted(tables.column(root: root, index)))")
        }
        return Self.view(tables.table(root), "SELECT \(list.joined(separator: ", ")) FROM \(rows.source)")
    }

    private static func view(_ name: String, _ select: String) -> String { "CREATE TEMP VIEW \(SQLText.quoted(name)) AS \(select)" }
}

extension StoreMetadata {
    /// Creates the metadata of a foreign database that does not keep its own.
    ///
    /// - Parameters:
    ///   - source: The presentation of the database as a schema.
    ///   - identity: A text that distinguishes the database from every other one.
    ///   - numbers: The `_entity` number of each entity, by its index; nil for a source without hierarchies.
    package init(_ source: CatalogSource, identity: String, numbers: [Int16]? = nil) throws(StorageError) {
        try self.init(source, storeID: UUID(digestOf: identity), numbers: numbers)
    }

    /// Creates the metadata of a foreign database that has an identity of its own.
    package init(_ source: CatalogSource, storeID: UUID, numbers: [Int16]? = nil) throws(StorageError) {
        let numbers = numbers ?? source.schema.entities.indices.map { Int16(truncatingIfNeeded: $0 + 1) }
        try self.init(entries: [
            "format": String(Self.currentFormat), "store": storeID.uuidString, "schema": source.schema.json,
            "entities": numbers.map(String.init).joined(separator: ","),
        ])
    }
}

extension UUID {
    /// Creates a UUID that is the same for the same text: the first sixteen bytes of its digest, marked as such a UUID (RFC 9562, version
    /// 8).
    fileprivate init(digestOf text: String) {
        let words = SchemaHash(of: text).words
        let high = words[0] & ~0xf000 | 0x8000, low = words[1] & ~(3 << 62) | 1 << 63
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * index)) }
        self.init(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7),
                byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }
}
