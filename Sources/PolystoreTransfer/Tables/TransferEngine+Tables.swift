public import PolystoreStorage

extension TransferEngine {
    /// Copies objects to new tables as a person would declare them in SQL, which every program can read.
    ///
    /// Each entity becomes a table of its name, with the primary key `id` and a column for each attribute; a to-one relationship becomes a
    /// column with a foreign key, and a many-to-many relationship a table of two foreign keys. Tables, rows and constraints are made in one
    /// transaction. The target then opens as the database of another program, with the same entities, values and references.
    ///
    /// The time is that of reading the source, twice if columns of the target cannot store every value of the source exactly, and of writing
    /// the target. The memory does not depend on the number of objects.
    ///
    /// - Parameters:
    ///   - source: An open store.
    ///   - target: A store of an SQL database that is not open. A file is created if it does not exist. Other tables of it remain.
    ///   - options: The selected objects, the accepted losses and whether the copy is verified. An accepted loss can also be the name of an
    ///     attribute, whose values are then stored approximately, or of an ordered relationship, whose order is lost.
    ///   - report: Receives the progress from time to time.
    /// - Returns: The digests of the copied rows and pairs.
    /// - Throws: `unsupported` for a target without SQL tables, and for a model that tables cannot express; `dataLossRefused` for values that
    ///   the target cannot store exactly; `alreadyExists` if one of the tables exists; `invalidConfiguration` for options that do not fit;
    ///   `validationFailed` for objects that violate the rules of their entity; `corrupted` if the copy differs; `cancelled`. After an error
    ///   the target is as it was.
    public func transferTables(
        from source: OpenStore, to target: any StorageInterface, _ options: TransferOptions = TransferOptions(),
        report: @escaping Report = { _ in }
    ) throws(StorageError) -> TransferReport {
        let storage = try Self.storage(target), work = try begin(from: source, options)
        defer { work.end() }
        let copy = try TableCopy(work, storage, limit)
        if let obstacle = try storage.obstacle(to: copy.tables) { throw obstacle }
        if let refusal = try copy.refusals().first { throw refusal }
        return try copy.run(report)
    }

    /// Returns the tables that `transferTables` would make, and what would prevent it. Writes nothing.
    ///
    /// - Parameters:
    ///   - source: An open store, whose objects are read if the target cannot store all values of their types exactly.
    ///   - target: A store of an SQL database that is not open.
    ///   - options: The options of the transfer.
    /// - Throws: `unsupported` for a target without SQL tables; errors of the options; `cancelled`.
    public func planTables(
        from source: OpenStore, to target: any StorageInterface, _ options: TransferOptions = TransferOptions()
    ) throws(StorageError) -> TransferTables {
        let storage = try Self.storage(target), work: TransferWork
        do throws(StorageError) { work = try begin(from: source, options) } catch {
            switch error.code {
            case .dataLossRefused, .invalidConfiguration, .invalidPredicate:
                let tables = storage.plainTables(source.schema)
                return TransferTables(
                    statements: tables.preamble + tables.statements + tables.finishing, notes: tables.notes, refusals: [error.message])
            default: throw error
            }
        }
        defer { work.end() }
        let copy = try TableCopy(work, storage, limit), tables = copy.tables
        var refusals = try copy.refusals()
        if let obstacle = try storage.obstacle(to: tables) { refusals.append(obstacle) }
        return TransferTables(
            statements: tables.preamble + tables.statements + tables.finishing, notes: tables.notes, refusals: refusals.map(\.message))
    }

    private static func storage(_ target: any StorageInterface) throws(StorageError) -> any PlainTablesStorage {
        if let storage = target.ability((any PlainTablesStorage).self) { return storage }
        throw StorageError(
            .unsupported, "a store of the type \(type(of: target).storeType) has no SQL tables; choose a target in an SQL database")
    }
}
