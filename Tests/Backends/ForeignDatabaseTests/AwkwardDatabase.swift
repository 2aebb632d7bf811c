import Foundation
import PolystoreStorage
import TestStores

/// A database of awkward tables, open, and what its own program says of it.
struct AwkwardDatabase {
    /// An engine with such a database.
    enum Engine: String, Sendable {
        case sqlite, postgresql

        /// The engines that this machine has.
        static var all: [Engine] { TestStore.server == nil ? [.sqlite] : [.sqlite, .postgresql] }
    }

    let tables: [AwkwardTable]
    let database: OpenDatabase
    private let engine: Engine
    /// The path of the file, or the name of the schema.
    private let place: String

    init(_ engine: Engine) throws {
        self.engine = engine
        switch engine {
        case .sqlite:
            tables = AwkwardSQLiteScript.tables
            place = try ForeignDatabases.sqlite(tables.map(\.script).joined(separator: "\n"))
            database = try OpenDatabase("sqlite:\(place)?catalog=foreign")
        case .postgresql:
            tables = AwkwardPostgreSQLScript.tables
            let script = tables.map(\.script).joined(separator: "\n")
            let made = try ForeignDatabases.postgreSQL(AwkwardPostgreSQLScript.start + script + AwkwardPostgreSQLScript.end)
            place = made.schema
            database = try OpenDatabase(made.url.replacing("user=postgres", with: "user=\(place)_reader"))
        }
    }

    func drop() {
        database.close()
        switch engine {
        case .sqlite: try? FileManager.default.removeItem(atPath: place)
        case .postgresql:
            _ = try? print("DROP SCHEMA \(place), \(place)_other CASCADE; DROP OWNED BY \(place)_reader; DROP ROLE \(place)_reader;")
        }
    }

    /// Prints what statements return, one row a line.
    private func print(_ statements: String) throws -> [[Substring]] {
        let text =
            switch engine {
            case .sqlite: try ForeignDatabases.run("sqlite3", ["-bail", "-batch", "-list", place], statements)
            case .postgresql:
                try ForeignDatabases.run(
                    "psql", ["-qAt", "-v", "ON_ERROR_STOP=1", "-d", TestStore.server ?? ""],
                    """
                    SET client_min_messages = warning; SET search_path = \(place); SET DateStyle = 'ISO, MDY'; SET IntervalStyle = postgres;
                    SET bytea_output = hex; SET TimeZone = 'UTC'; SET extra_float_digits = 1; SET lc_monetary = 'C';
                    \(statements)
                    """)
            }
        return text.split(separator: "\n").map { $0.split(separator: "|", omittingEmptySubsequences: false) }
    }

    /// Returns the SQL that prints an expression of a type.
    private func printed(_ sql: String, _ type: ValueType?) -> String {
        switch (engine, type) {
        case (.sqlite, .string?), (.sqlite, .data?): "hex(\(sql))"
        case (.sqlite, .double?): "quote(\(sql))"
        case (.sqlite, _): sql
        case (.postgresql, .string?): "encode(convert_to((\(sql))::text, 'UTF8'), 'hex')"
        case (.postgresql, .data?): "encode(\(sql), 'hex')"
        case (.postgresql, .date?): "trim_scale(extract(epoch FROM \(sql)) * 1000000)::text"
        case (.postgresql, .uuid?): "replace((\(sql))::text, '-', '')"
        case (.postgresql, .bool?): "(\(sql))::int::text"
        case (.postgresql, _): "(\(sql))::text"
        }
    }

    /// Returns the rows that a copy has, by entity, without the refused ones.
    func expectedRows() throws -> [String: [String]] {
        let copied = tables.indices.filter { tables[$0].entity != nil }
        var result: [String: [String]] = [:]
        for fields in try print(copied.map { tables[$0].select($0, printed) }.joined(separator: "\n")) {
            guard fields.count > 1, let position = Int(fields[0]), let key = Int64(fields[1]), let entity = tables[position].entity else {
                throw StorageError(.invalidConfiguration, "the program printed another line")
            }
            if tables[position].refused[key] == nil { result[entity, default: []].append(tables[position].line(fields)) }
        }
        return result.mapValues { $0.sorted() }
    }

    /// Returns the tables and their columns; the column is empty for a table without columns. Partitions of a table of the schema are left out.
    func columns() throws -> [(table: String, column: String)] {
        let statement =
            switch engine {
            case .sqlite:
                "SELECT hex(m.name), hex(i.name) FROM sqlite_schema m, pragma_table_xinfo(m.name) i WHERE m.type = 'table';"
            case .postgresql:
                """
                SELECT encode(convert_to(t.table_name, 'UTF8'), 'hex'), encode(convert_to(coalesce(c.column_name, ''), 'UTF8'), 'hex')
                FROM information_schema.tables t LEFT JOIN information_schema.columns c USING (table_schema, table_name)
                WHERE t.table_schema = current_schema() AND t.table_name NOT IN ('parted_2020', 'parted_b', 'part_of_part');
                """
            }
        return try print(statement).map { (AwkwardText.decoded($0[0]), AwkwardText.decoded($0[1])) }
    }
}
