public import Foundation
public import PolystoreStorage

/// Somebody else's database as a store sees it: a schema, and where the rows and pairs of it come from.
public struct CatalogSource: Sendable {
    /// Where the rows of a hierarchy come from. In all of the SQL the table is called `t`.
    public struct Rows: Sendable {
        /// What follows FROM.
        public var source: String
        /// The key.
        public var key: String
        /// The number of the entity; nil without a hierarchy.
        public var entity: String?
        /// The version.
        public var version: String
        /// The values by the names of the hierarchy's columns.
        public var columns: [String: String]

        /// Rows of a table.
        public init(source: String, key: String, entity: String? = nil, version: String = "1", columns: [String: String]) {
            self.source = source
            self.key = key
            self.entity = entity
            self.version = version
            self.columns = columns
        }
    }

    /// The schema.
    public let schema: Schema
    /// Where the rows of each root entity come from, by its name.
    public var rows: [String: Rows]
    /// The statement that gives owner, rank and member, by the name of the link.
    public let links: [String: String]
    /// What is left out or read otherwise than it is declared, for people to read.
    public let remarks: [CatalogRemark]
    /// How the rows of each entity are written, by its name.
    var written: [String: CatalogWriting] = [:]
    /// How the pairs of each link are written, by its name.
    var pairs: [String: InPlaceTables.Pairs] = [:]

    /// A source.
    public init(schema: Schema, rows: [String: Rows], links: [String: String], remarks: [CatalogRemark]) {
        self.schema = schema
        self.rows = rows
        self.links = links
        self.remarks = remarks
    }

    /// The views that have the names and columns of our tables, for one connection.
    ///
    /// - Parameter tables: The tables of the schema.
    public func views(_ tables: SQLTables) -> [String] {
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
    /// The metadata of somebody else's database, which keeps none itself.
    ///
    /// - Parameters:
    ///   - source: What the database is for us.
    ///   - identity: What tells the database from every other one.
    ///   - numbers: What `_entity` holds for each entity, by its index; nil for a source without hierarchies.
    public init(_ source: CatalogSource, identity: String, numbers: [Int16]? = nil) throws(StorageError) {
        try self.init(source, storeID: UUID(digestOf: identity), numbers: numbers)
    }

    /// The metadata of somebody else's database that has an identity of its own.
    public init(_ source: CatalogSource, storeID: UUID, numbers: [Int16]? = nil) throws(StorageError) {
        let numbers = numbers ?? source.schema.entities.indices.map { Int16(truncatingIfNeeded: $0 + 1) }
        try self.init(entries: [
            "format": String(Self.currentFormat), "store": storeID.uuidString, "schema": source.schema.json,
            "entities": numbers.map(String.init).joined(separator: ","),
        ])
    }
}

extension UUID {
    /// The same for the same text: the first sixteen bytes of its digest, marked as such a UUID (RFC 9562, version 8).
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
