#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The answer to a statement that was sent ahead.
final class PostgreSQLAnswer {
    /// The result or the error, once the answer was received.
    var result: Result<PostgreSQLResult, StorageError>?
}
#endif
