import Foundation
import PolystoreStorage
import RawSessions

@testable import PolystorePostgreSQL

/// The server that `.ci/run` starts for the tests; never one that happens to run.
enum TestServer {
    static let url = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]

    /// Its address with another database, whichever one the tests run over.
    static func url(database: String) throws -> String {
        guard let url, var parts = URLComponents(string: url) else { throw StorageError(.notFound, "there is no server") }
        parts.path = "/\(database)"
        guard let address = parts.string else { throw StorageError(.invalidConfiguration, "no address has the database \(database)") }
        return address
    }

    /// Its database.
    static var database: String? { url.flatMap { URLComponents(string: $0) }.map { String($0.path.dropFirst()) } }

    /// Its socket file.
    static var socket: String? {
        guard let options = url.flatMap({ URLComponents(string: $0)?.queryItems }) else { return nil }
        func option(_ name: String) -> String? { options.first { $0.name == name }?.value }
        guard let host = option("host"), let port = option("port") else { return nil }
        return "\(host)/.s.PGSQL.\(port)"
    }
}

/// A store of one entity in a schema of its own.
struct TestStore {
    let store: PostgreSQLStore
    let name: String

    static let schema = Result {
        try Schema(
            version: "V1", entities: [Entity("Note", attributes: [Attribute("text", .string), Attribute("data", .data, isOptional: true)])])
    }

    /// - Parameter host: The folder of a proxy's socket; nil for the server itself.
    init(
        _ options: String = "", name: String = "polystore_\(UUID().uuidString.lowercased())", host: String? = nil, creates: Bool = true
    ) throws {
        self.name = name
        guard let url = TestServer.url else { throw StorageError(.notFound, "there is no server") }
        let address = host.map { "postgresql:///\(TestServer.database ?? "")?host=\($0)&port=5432&user=postgres" } ?? url
        store = try PostgreSQLStore(url: StoreURL("\(address)&x-schema=\(name)\(options)"))
        if creates { _ = try store.open(OpenRequest(schema: Self.schema.get())) }
    }

    static func admin() throws -> PostgreSQLConnection {
        guard let url = TestServer.url else { throw StorageError(.notFound, "there is no server") }
        return try PostgreSQLConnection(conninfo: url, schema: "public")
    }

    /// Erases the store, whatever has become of its connections.
    func erase() {
        try? store.close()
        try? Self.admin().execute("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
    }

    /// Rows with one text and the same bytes.
    func rows(_ keys: [Int64], _ text: String, _ bytes: UnsafeRawBufferPointer? = nil) -> RowSource {
        RowSource(count: keys.count) { range, batch in
            for key in keys[range] {
                let cell = batch.cell(for: .string(text)), cells = batch.appendRow(key: key, version: 1, entity: 0, slots: 2)
                cells[0] = cell
                cells[1] = bytes.flatMap { bytes in bytes.baseAddress.map { Cell.blob($0, bytes.count) } } ?? .null
            }
        }
    }

    func insert(_ writer: any StorageWriter, _ text: String) throws {
        let key = try writer.reserveKeys(0, count: 1).lowerBound
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: rows([key], text))]))
    }

    func insert(_ text: String) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try insert(writer, text)
        _ = try writer.commit(CommitRecord())
    }

    func count() throws -> Int { Int(try Self.admin().text("SELECT count(*) FROM \"\(name)\".\"Note\"") ?? "") ?? -1 }
}
