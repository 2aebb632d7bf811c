import Foundation
import Polystore
import PolystoreSQLite

/// A database of another program with authors and books.
enum Foreign {
    static func store(_ path: String) throws -> OpenStore {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "sqlite3", path,
            """
            CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER REFERENCES author(id));
            INSERT INTO author VALUES (7, 'George Eliot');
            INSERT INTO book VALUES (1, 'Middlemarch', 7);
            """,
        ]
        try process.run()
        process.waitUntilExit()
        return try OpenStore(
            opening: SQLiteStore(url: StoreURL("sqlite:\(path)?catalog=foreign")),
            OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
    }
}
