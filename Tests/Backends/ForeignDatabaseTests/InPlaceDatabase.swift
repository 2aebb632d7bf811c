import Foundation
import Polystore
import PolystoreCatalog
import PolystoreStorage
import TestStores
import Testing

/// The engines whose databases are used in place.
enum InPlaceEngine: String, CaseIterable, CustomTestStringConvertible {
    case sqlite

    var testDescription: String { rawValue }

    static var available: [InPlaceEngine] { allCases }
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
        }
    }

    /// The URL with another way to read it.
    func url(catalog: String) -> String { url.replacing("catalog=inplace", with: "catalog=\(catalog)") }

    /// What the other program prints for SQL; values of a row with a bar between them.
    @discardableResult
    func sql(_ text: String) throws -> [String] {
        let answer =
            switch engine {
            case .sqlite: try ForeignDatabases.run("sqlite3", ["-bail", place], "PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;\n" + text)
            }
        return Array(answer.split(separator: "\n").map(String.init).dropFirst())
    }

    /// All that is in the database, tables and triggers, as its engine lists them.
    func objects() throws -> [String] {
        switch engine {
        case .sqlite: try sql("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2")
        }
    }

    /// A stack over the database, with the model that its tables give.
    func stack() throws -> DataStack {
        let probe = try OpenStore(url)
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

extension Transaction {
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
