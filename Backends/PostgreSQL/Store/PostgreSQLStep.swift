#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A statement with its parameters.
struct PostgreSQLStep {
    let sql: String
    let parameters: [PostgreSQLParameter]

    init(_ sql: String, _ parameters: [PostgreSQLParameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }

    /// The size of the parameters in bytes.
    var bytes: Int { parameters.reduce(0) { $0 + ($1.bytes?.count ?? 0) } }

    /// Throws if the values exceed the size of a message to the server.
    ///
    /// - Throws: `valueTooLarge`.
    func check() throws(StorageError) {
        // A message also contains lengths, keys and versions.
        if bytes <= PostgreSQLRows.mostBytes + PostgreSQLRows.usualBytes, parameters.count <= Int(UInt16.max) { return }
        throw StorageError(
            .valueTooLarge, "the values of a statement have \(bytes) bytes; the server accepts at most \(PostgreSQLRows.mostBytes)")
    }

    /// Sends a checked step, under the server's name of the statement.
    func send(_ connection: OpaquePointer, _ name: String) -> Int32 {
        // A single block contains all parameters, so that only one pointer has to stay valid. libpq requires an address even for an empty
        // value.
        let block = WireBuffer(capacity: bytes + parameters.count)
        var offsets: [Int?] = []
        for parameter in parameters {
            offsets.append(parameter.bytes.map { _ in block.count })
            parameter.bytes?.withUnsafeBytes(block.append)
            block.append(UInt8(0))
        }
        return withExtendedLifetime(block) {
            let values = offsets.map { offset in
                offset.flatMap { position in block.bytes.baseAddress.map { ($0 + position).assumingMemoryBound(to: CChar.self) } }
            }
            return PQsendQueryPrepared(
                connection, name, Int32(truncatingIfNeeded: parameters.count), values,
                parameters.map { Int32(truncatingIfNeeded: $0.bytes?.count ?? 0) }, [Int32](repeating: 1, count: parameters.count), 1)
        }
    }
}
#endif
