internal import Foundation
public import Polystore
internal import PolystoreInMemory
internal import PolystoreLMDB
internal import PolystorePostgreSQL
internal import PolystoreSQLite

/// The stores under test; each call makes a new one in a place of its own. PostgreSQL takes part when `POLYSTORE_TEST_POSTGRES` names
/// a server, as `.ci/run` does.
public enum TestStore: String, CaseIterable, Sendable {
    case memory, sqlite, lmdb, postgresql

    /// The server, where there is one.
    public static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]

    /// The stores that this machine has.
    public static var all: [TestStore] { allCases.filter { $0 != .postgresql || server != nil } }

    /// A new store in a place of its own.
    public func make(configuration: String? = nil) -> any StorageInterface {
        make(named: "polystore_\(UUID().uuidString.lowercased())", configuration: configuration)
    }

    /// A store in a place of a name. One in memory is always new, and takes changes.
    public func make(named name: String, configuration: String? = nil, readOnly: Bool = false) -> any StorageInterface {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        switch self {
        case .memory: return InMemoryStore(configuration: configuration)
        case .sqlite: return SQLiteStore(path: path + ".db", configuration: configuration, readOnly: readOnly)
        case .lmdb: return LMDBStore(path: path + ".lmdb", configuration: configuration, readOnly: readOnly)
        case .postgresql:
            return PostgreSQLStore(conninfo: Self.server ?? "", configuration: configuration, schema: name, readOnly: readOnly)
        }
    }
}
