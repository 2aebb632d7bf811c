import Foundation
import Polystore
import PolystoreInMemory
import PolystoreLMDB
import PolystorePostgreSQL
import PolystoreSQLite

/// The stores under test; each call makes a new one in a place of its own. PostgreSQL takes part when `POLYSTORE_TEST_POSTGRES` names
/// a server, as `.ci/run` does.
enum TestStore: String, CaseIterable {
    case memory, sqlite, lmdb, postgresql

    static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    static var all: [TestStore] { allCases.filter { $0 != .postgresql || server != nil } }

    func make(configuration: String? = nil) -> any StorageInterface {
        let name = "polystore_\(UUID().uuidString)"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        switch self {
        case .memory: return InMemoryStore(configuration: configuration)
        case .sqlite: return SQLiteStore(path: path + ".db", configuration: configuration)
        case .lmdb: return LMDBStore(path: path + ".lmdb", configuration: configuration)
        case .postgresql: return PostgreSQLStore(conninfo: Self.server ?? "", configuration: configuration, schema: name)
        }
    }

    func stack() throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(make())
        return stack
    }
}
