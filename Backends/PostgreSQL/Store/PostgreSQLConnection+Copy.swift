#if PostgreSQL
internal import CLibPQ
internal import PolystoreStorage

extension PostgreSQLConnection {
    /// The size of a message of a copy in bytes: libpq keeps a complete message in memory before it sends it.
    private static let messageBytes = 1 << 20

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
    /// - Throws: The server's error for the rows, in which case it has stored none of them.
    func endCopy() throws(StorageError) {
        guard let encoder = copying else { return }
        copying = nil
        roundTrips += 1
        encoder.finish()
        try send(encoder.buffer)
        if PQputCopyEnd(handle, nil) != 1 { throw explained(lost) }
        var failure: StorageError?
        while let result = next() {
            if PQresultStatus(result) != PGRES_COMMAND_OK { failure = failure ?? explained(PostgreSQLError(result).error(tables)) }
            PQclear(result)
        }
        if let failure { throw failure }
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
