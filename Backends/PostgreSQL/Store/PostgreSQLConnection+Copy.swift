#if PostgreSQL
internal import CLibPQ
internal import PolystoreStorage

extension PostgreSQLConnection {
    /// So many bytes go in one message of a copy: libpq holds a message whole before it sends it.
    private static let messageBytes = 1 << 20

    /// The encoder of a copy into the table of a hierarchy: the one that goes on, or a new one.
    ///
    /// The server works on rows while the next are encoded; ending the copy waits for it. So it ends only when the connection is used for
    /// something else, and what the server refuses is thrown then.
    func copy(_ root: EntityIndex, _ make: () -> PostgreSQLCopyEncoder) throws(StorageError) -> PostgreSQLCopyEncoder {
        if let copying, copying.root == root { return copying }
        try prepareToSend()
        let encoder = make()
        roundTrips += 1
        guard PQsendQuery(handle, encoder.sql) == 1 else { throw lost }
        let result = next()
        // A copy that does not begin ends with an answer more, without which the connection takes nothing else.
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

    /// Ends the copy that goes on, if there is one.
    ///
    /// - Throws: What the server refused of its rows; then it has none of them.
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

    /// Gives up the copy that goes on; the transaction has failed then.
    func abandonCopy() {
        guard copying != nil else { return }
        copying = nil
        if PQputCopyEnd(handle, "stopped") != 1 { return giveUp() }
        while let result = next() { PQclear(result) }
    }
}
#endif
