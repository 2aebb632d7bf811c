#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A file of Core Data, with one table for each hierarchy of entities (`ZPERSON` with the key `Z_PK`, the entity number `Z_ENT` and the
/// version `Z_OPT`), one for each many-to-many relationship, and the entity numbers in `Z_PRIMARYKEY`.
struct CoreDataFile {
    /// An entity with its number in the file.
    struct Entry {
        let number: Int16
        let name: String
        /// The number of the parent entity; 0 for none.
        let parent: Int16
    }

    /// The maximum entity number. Core Data gives greater numbers to the transactions and changes of its history.
    private static let mostEntities = 16_000

    /// The identity that Core Data gave the file.
    let storeID: UUID
    /// The entities, by number.
    let entries: [Entry]
    /// The names and declared types of the columns of each table.
    let columns: [String: [String: String]]
    /// The folder of the data that is stored outside of the file.
    let folder: String
    private let model: XcodeDataModel.Version?

    /// Reads the structure of a file.
    ///
    /// - Throws: `notADatabase` for a file that Core Data did not make.
    init(_ connection: SQLiteConnection, model: URL?, folder: String) throws(StorageError) {
        let rows = SQLiteCatalogRows(connection)
        let tables = try rows.tables().filter { $0.type == "table" }.map(\.name)
        guard tables.contains("Z_PRIMARYKEY"), tables.contains("Z_METADATA") else {
            throw StorageError(
                .notADatabase,
                "the SQLite file was not created by Core Data: it has no Z_PRIMARYKEY and Z_METADATA; the option catalog=foreign reads any "
                    + "tables")
        }
        let identity = try connection.rows("SELECT Z_UUID FROM main.Z_METADATA LIMIT 1", [.string]).first?.first?.text ?? ""
        guard let storeID = UUID(uuidString: identity) else { throw StorageError(.corrupted, "the file's Z_METADATA has no valid Z_UUID") }
        self.storeID = storeID
        entries = try connection.rows(
            "SELECT Z_ENT, Z_NAME, ifnull(Z_SUPER, 0) FROM main.Z_PRIMARYKEY ORDER BY Z_ENT", [.int64, .string, .int64]
        )
        .filter { $0[0].number > 0 && $0[0].number < Self.mostEntities }
        .map { Entry(number: Int16($0[0].number), name: $0[1].text, parent: Int16(clamping: $0[2].number)) }
        var columns: [String: [String: String]] = [:]
        for table in tables where table.hasPrefix("Z") {
            let found = try rows.columns(table).map { ($0.name, $0.type) }
            columns[table] = Dictionary(found, uniquingKeysWith: { first, _ in first })
            guard columns[table]?["Z_PK"] != nil else { continue }
            if try !rows.holdsKeys(table, "Z_PK") {
                throw StorageError(.corrupted, "the table \(table) has primary keys that are not valid in Core Data")
            }
        }
        self.columns = columns
        self.folder = folder
        do throws(SchemaError) {
            self.model = try model.map { url throws(SchemaError) in try XcodeDataModel(contentsOf: url).version() }
        } catch {
            throw StorageError(error)
        }
    }

    /// Returns the entities and the source of their rows.
    func source() throws(StorageError) -> CatalogSource {
        if let model { return try CoreDataModelled(self, model).source() }
        return try CoreDataUnmodelled(self).source()
    }

    /// Returns the `Z_ENT` number of each entity of a schema. An entity without objects may have no number in the file.
    func numbers(_ schema: Schema) -> [Int16] {
        let known = Dictionary(entries.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        var free = Int16(Self.mostEntities)
        return schema.entities.map { entity in
            if let number = known[entity.name] { return number }
            free += 1
            return free
        }
    }

    /// Returns Core Data's name of a table or column.
    static func name(_ text: String) -> String { "Z" + text.uppercased() }

    /// Returns the source of the rows of a hierarchy.
    func rows(table: String, columns: [String: String]) -> CatalogSource.Rows {
        CatalogSource.Rows(
            source: "main.\(SQLText.quoted(table)) AS t", key: "t.\"Z_PK\"", entity: "t.\"Z_ENT\"",
            version: "min(max(ifnull(t.\"Z_OPT\", 1), 1), \(CatalogKey.greatest))",
            columns: columns)
    }

    /// Returns the rank of a row from one of Core Data's columns, limited to bounds that no order reaches, because new ranks are computed
    /// from existing ones.
    static func rank(_ column: String) -> String {
        let most: Int64 = 1 << 60
        return "max(min(ifnull(t.\(SQLText.quoted(column)), 0), \(most)), -\(most))"
    }

    /// The tables of many-to-many relationships.
    var joins: [CoreDataJoin] { columns.keys.sorted().compactMap { CoreDataJoin($0, columns: columns[$0].map { Array($0.keys) } ?? []) } }
}
#endif
