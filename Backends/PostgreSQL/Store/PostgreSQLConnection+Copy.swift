#if PostgreSQL
internal import CLibPQ
internal import PolystoreStorage

extension PostgreSQLConnection {
    /// The encoder of a copy into the table of a hierarchy: the one that goes on, or a new one.
    ///
    /// The server works on rows while the next are encoded; ending the copy waits for it. So it ends only when the connection is used for
    /// something else, and what the server refuses is thrown then.
    func copy(_ root: EntityIndex, _ make: () -> PostgreSQLCopyEncoder) throws(StorageError) -> PostgreSQLCopyEncoder {
        if let copying, copying.root == root { return copying }
        try endCopy()
        let encoder = make()
        roundTrips += 1
        PQclear(try checked(PQexec(handle, encoder.sql)))
        copying = encoder
        return encoder
    }

    /// Sends the bytes of a copy and empties the buffer.
    func send(_ buffer: WireBuffer) throws(StorageError) {
        let bytes = buffer.bytes
        let sent = PQputCopyData(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        buffer.clear()
        if sent != 1 { throw lost }
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
        PQputCopyEnd(handle, nil)
        var failure: StorageError?
        while let result = PQgetResult(handle) {
            if PQresultStatus(result) != PGRES_COMMAND_OK { failure = failure ?? PostgreSQLError(result).error(tables) }
            PQclear(result)
        }
        if let failure { throw failure }
    }

    /// Gives up the copy that goes on; the transaction has failed then.
    func abandonCopy() {
        guard copying != nil else { return }
        copying = nil
        PQputCopyEnd(handle, "stopped")
        while let result = PQgetResult(handle) { PQclear(result) }
    }
}
#endif
