package import PolystoreFoundation
package import PolystoreStorage

/// The state that the sessions of an open store share, as far as the engines have it in common.
package protocol SQLCore: AnyObject {
    /// The position of the parts of a row in a result.
    associatedtype Layout: Sendable

    /// The metadata of the store.
    var metadata: StoreMetadata { get }
    /// The tables that sessions read.
    var tables: SQLTables { get }
    /// The compiler of the statements.
    var compiler: SQLCompiler { get }
    /// The compiled statements.
    var statements: SQLStatements<Layout> { get }
}

extension SQLCore {
    /// The identity of the store.
    package var storeID: UUID { metadata.storeID }

    /// Returns the token of a history position.
    package func token(_ position: Int64) -> HistoryToken { HistoryToken(store: storeID, position: position) }

    /// Returns the history position of a token, or nil for no token.
    package func position(_ token: HistoryToken?) throws(StorageError) -> Int64? {
        guard let token else { return nil }
        guard token.store == storeID else {
            throw StorageError(
                .tokenExpired, "the token belongs to another store; read all objects again, and continue from a token of this store")
        }
        return token.position
    }

    /// Returns an entry of the history, in terms of the model version in which it was written.
    ///
    /// - Parameter row: Its position, time, author and changes.
    package func entry(_ row: [Value]) throws(StorageError) -> HistoryEntry {
        guard case .int(let position) = row[0], case .int(let time) = row[1], case .string(let author) = row[2],
            case .data(let bytes) = row[3]
        else { throw .damagedHistory }
        return HistoryEntry(token: token(position), time: time, author: author, changes: try Self.changes(bytes))
    }

    /// Decodes the changes of an entry.
    package static func changes(_ bytes: Data) throws(StorageError) -> HistoryChanges {
        guard let changes = bytes.withUnsafeBytes(HistoryRecorder.decode) else { throw .damagedHistory }
        return changes
    }
}
