import Foundation
import Polystore
import PolystoreCatalog
import PolystoreStorage
import TestStores
import Testing

/// The engines whose databases are used in place.
enum InPlaceEngine: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgresql

    var testDescription: String { rawValue }

    static var available: [InPlaceEngine] { TestStore.server == nil ? [.sqlite] : allCases }
}

/// A database of another program, with that program as a witness: `sqlite3` or `psql`.
final class InPlaceDatabase {
    let engine: InPlaceEngine
    /// The URL with which it is used in place.
    let url: String
    private let place: String

    init(_ engine: InPlaceEngine, _ script: String? = nil) throws {
        self.engine = engine
        switch engine {
        case .sqlite:
            place = try ForeignDatabases.sqlite(script ?? InPlaceScript.sqlite)
            url = "sqlite:\(place)?catalog=inplace"
        case .postgresql:
            let made = try ForeignDatabases.postgreSQL(script ?? InPlaceScript.postgreSQL)
            place = made.schema
            url = made.url.replacing("catalog=foreign", with: "catalog=inplace")
        }
    }

    deinit { if engine == .postgresql { ForeignDatabases.drop(place) } }

    /// The schema, or the path of the file.
    var name: String { place }

    /// The URL with another way to read it.
    func url(catalog: String) -> String { url.replacing("catalog=inplace", with: "catalog=\(catalog)") }

    /// What the other program prints for SQL; values of a row with a bar between them.
    @discardableResult
    func sql(_ text: String) throws -> [String] {
        let answer =
            switch engine {
            case .sqlite:
                try ForeignDatabases.run("sqlite3", ["-bail", place], "PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;\n" + text)
            case .postgresql: try Self.sql(text, place)
            }
        // The first line is the number of milliseconds.
        return Array(answer.split(separator: "\n").map(String.init).dropFirst())
    }

    /// What `psql` prints for SQL in a schema.
    @discardableResult
    static func sql(_ text: String, _ schema: String) throws -> String {
        try ForeignDatabases.run(
            "psql", ["-qAt", "-v", "ON_ERROR_STOP=1", "-d", TestStore.server ?? ""],
            "SET search_path = \(schema); SET TimeZone = 'UTC'; SELECT 5000;\n" + text)
    }

    /// All that is in the database, tables and triggers, as its engine lists them.
    func objects() throws -> [String] {
        switch engine {
        case .sqlite: try sql("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2")
        case .postgresql:
            try sql(
                """
                SELECT relkind, relname FROM pg_class WHERE relnamespace = '\(place)'::regnamespace UNION ALL
                SELECT 't', tgname FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = '\(place)'::regnamespace AND NOT tgisinternal
                UNION ALL SELECT 'f', proname FROM pg_proc WHERE pronamespace = '\(place)'::regnamespace ORDER BY 1, 2
                """)
        }
    }

    /// A stack over the database, with the model that its tables give.
    func stack() throws -> DataStack {
        let probe = try OpenDatabase(url)
        probe.close()
        let stack = try DataStack(schema: probe.schema)
        try stack.addStorageAndWait(try StoreCatalog.standard.store(at: StoreURL(url)))
        return stack
    }
}

extension DataStack {
    func object(_ entity: String, _ key: Int64) throws -> DynamicObject {
        try #require(try fetchAll(From<DynamicObject>(entity: entity)).first { $0.objectID.key.key == key })
    }
}

extension WriteTransaction {
    func make(_ entity: String, _ values: [String: Value] = [:], _ references: [String: ManagedObject] = [:]) throws -> DynamicObject {
        let object = try create(Into<DynamicObject>(entity: entity))
        for (name, value) in values { try object.setValue(value, for: name) }
        for (name, other) in references { try object.setObject(other, for: name) }
        return object
    }

    func object(_ entity: String, _ key: Int64) throws -> DynamicObject {
        try #require(try fetchAll(From<DynamicObject>(entity: entity)).first { $0.objectID.key.key == key })
    }
}
