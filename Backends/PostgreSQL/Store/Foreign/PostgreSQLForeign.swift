#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// An opened schema of another program, with connections whose views have the layout of Polystore's own tables.
struct PostgreSQLForeign: Sendable {
    /// The SQLSTATE for a value that has no form in Polystore, in a class that neither the standard nor the server uses.
    static let refusalState = "PS001"

    /// The metadata of the store.
    let metadata: StoreMetadata
    /// The remarks on parts that are left out or read differently.
    let remarks: [CatalogRemark]
    private let conninfo: String
    private let schema: String
    private let views: String

    /// The statements that create replacements for Polystore's own tables, which are empty here, and the function that refuses a value.
    private static let standIns = """
        CREATE TEMP VIEW polystore_notes AS SELECT ''::text AS name, ''::bytea AS value WHERE false;
        \(refusal)
        """

    /// The statement that creates the function that refuses a value.
    static let refusal = """
        CREATE FUNCTION pg_temp.polystore_refuse(value text, place text) RETURNS text LANGUAGE plpgsql STABLE AS $$
            BEGIN RAISE EXCEPTION USING ERRCODE = '\(refusalState)', MESSAGE = place; END $$
        """

    /// Reads the catalog of a schema.
    ///
    /// - Parameter request: The model of the program. Without one, indexes that are not unique are part of the schema.
    init(conninfo: String, schema: String, _ request: OpenRequest) throws(StorageError) {
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schema)
        try connection.checkVersion()
        // A single snapshot, so that all parts of the catalog are consistent.
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var reader = PostgreSQLCatalogReader(connection, schema: schema, readsIndexes: request.schema == nil)
        var source = try reader.catalog().source()
        try source.adopt(request)
        let identity = try PostgreSQLCatalogRows(connection).database()
        try connection.execute("COMMIT")
        metadata = try StoreMetadata(source, identity: "\(identity)\n\(schema)\n\(source.identityHash)")
        remarks = source.remarks
        self.conninfo = conninfo
        self.schema = schema
        views = source.views(SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)).joined(separator: ";\n")
    }

    /// Opens a connection with views in the layout of Polystore's own tables.
    ///
    /// Its search path is the schema; temporary names take precedence over those of any schema.
    func reader() throws(StorageError) -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schema)
        try Self.explaining(schema) { () throws(StorageError) in
            try connection.execute(Self.standIns)
            if !views.isEmpty { try connection.execute(views) }
        }
        return connection
    }

    /// Runs `work`, which creates temporary views, and names the missing privilege in its error.
    static func explaining(_ schema: String, _ work: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) { try work() } catch {
            switch error.code {
            case .permissionDenied:
                throw StorageError(
                    .permissionDenied,
                    "the user lacks the privilege to read the schema \"\(schema)\", or to create temporary views in the database (TEMP)",
                    cause: error)
            case .readOnly:
                throw StorageError(
                    .unsupported,
                    "reading foreign tables requires temporary views, which a standby server or a read-only session cannot create; connect "
                        + "to the primary server",
                    cause: error)
            default: throw error
            }
        }
    }
}
#endif
