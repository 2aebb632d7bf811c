#if PostgreSQL
internal import CLibPQ
internal import PolystoreStorage

extension PostgreSQLConnection {
    /// The size of a message of a copy in bytes: libpq keeps a complete message in memory before it sends it.
    private static let messageBytes = 1 << 20
    /// The number of rows after which a copy ends, because their keys are kept until then.
    static let mostCopiedRows = 1 << 17

    /// Returns the encoder of a copy into the table of a hierarchy: the current one, or a new one.
    ///
    /// The server processes rows while the next ones are encoded, and ending the copy waits for it. A copy therefore ends only when the
    /// connection is used for another purpose, and errors of the server are thrown then.
    func copy(_ root: EntityIndex, _ make: () -> PostgreSQLCopyEncoder) throws(StorageError) -> PostgreSQLCopyEncoder {
        if let copying, copying.root == root { return copying }
        try prepareToSend()
        let encoder = make()
        roundTrips += 1
        guard PQsendQuery(handle, encoder.sql) == 1 else { throw lost }
        let result = next()
        // A copy that fails to begin ends with another result, which must be read before the connection accepts further requests.
        if PQresultStatus(result) != PGRES_COPY_IN { while let rest = next() { PQclear(rest) } }
        PQclear(try checked(result))
        copying = encoder
        return encoder
    }

    /// Sends the bytes of a copy and empties the buffer.
    func send(_ buffer: WireBuffer) throws(StorageError) {
        defer { buffer.clear() }
        var rest = buffer.bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.messageBytes))
            let start = part.baseAddress?.assumingMemoryBound(to: CChar.self)
            if PQputCopyData(handle, start, Int32(truncatingIfNeeded: part.count)) != 1 { throw explained(lost) }
            flush()
            rest = rest.dropFirst(part.count)
        }
    }

    /// Ends the current copy, if there is one.
    ///
    /// - Throws: The server's error for the rows, in which case it has stored none of them; `validationFailed` for a row that a trigger
    ///   ignores, which all later statements report as well until a rollback.
    func endCopy() throws(StorageError) {
        guard let encoder = copying else { return }
        copying = nil
        roundTrips += 1
        encoder.finish()
        try send(encoder.buffer)
        if PQputCopyEnd(handle, nil) != 1 { throw explained(lost) }
        var failure: StorageError?, stored = 0
        while let result = next() {
            if PQresultStatus(result) == PGRES_COMMAND_OK {
                stored += Int(String(cString: PQcmdTuples(result))) ?? 0
            } else {
                failure = failure ?? explained(PostgreSQLError(result).error(tables))
            }
            PQclear(result)
        }
        if let failure { throw failure }
        // A trigger can also have put a row in another table, such as a partition.
        guard let table = encoder.table, stored < encoder.keys.count else { return }
        guard let refusal = encoder.refusal(try present(encoder.keys, in: table)) else { return }
        answerFailure = refusal
        throw refusal
    }

    /// Returns those of some keys that rows of a table have.
    func present(_ keys: [Int64], in table: String) throws(StorageError) -> Set<Int64> {
        let result = try query("SELECT \"_id\" FROM \(table) WHERE \"_id\" = ANY($1::int8[])", [PostgreSQLParameter(keys: keys)])
        return Set((0..<result.count).compactMap { result.integer($0, 0) })
    }

    /// Aborts the current copy, which makes the transaction fail.
    func abandonCopy() {
        guard copying != nil else { return }
        copying = nil
        if PQputCopyEnd(handle, "stopped") != 1 { return giveUp() }
        while let result = next() { PQclear(result) }
    }
}
#endif
