#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The state that the sessions over the tables of another program share.
final class SQLiteInPlaceCore: SQLiteCore, @unchecked Sendable {
    private let inPlace: SQLiteInPlace

    init(_ metadata: StoreMetadata, readers: SQLitePool, writer: SQLiteWriterSeat, _ inPlace: SQLiteInPlace) {
        self.inPlace = inPlace
        super.init(metadata, readers: readers, writer: writer)
    }

    override func check(_ connection: SQLiteConnection) throws(StorageError) { try inPlace.check(connection) }

    override func vacuum(_ connection: SQLiteConnection) throws(StorageError) { try inPlace.vacuum() }

    override func reader(_ connection: SQLiteConnection) -> SQLiteReader { SQLiteInPlaceReader(self, connection, inPlace) }

    override func session(_ connection: SQLiteConnection, _ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        try SQLiteInPlaceWriter(begun: self, connection, inPlace)
    }
}
#endif
