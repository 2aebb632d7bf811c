#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A translation of violated rules of another program's tables to errors of the contract.
struct PostgreSQLInPlaceRules: Sendable {
    private struct Rule: Sendable {
        let columns: [String]
        let isKey: Bool
    }

    private let rules: [[String]: Rule]
    /// The type of each column, in the words of the server's errors.
    private let types: [[String]: String]
    private let tables: InPlaceTables

    /// Reads the constraints and unique indexes of a schema.
    init(_ connection: PostgreSQLConnection, _ schema: String, _ tables: InPlaceTables) throws(StorageError) {
        let text: SQLText = """
            SELECT c.relname::text, r.conname::text, r.contype = 'p', a.attname::text FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL unnest(r.conkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number WHERE n.nspname = \(bind: .string(schema), .string)
            UNION ALL
            SELECT c.relname::text, i.relname::text, x.indisprimary, a.attname::text FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid
            JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k(number, place)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
            WHERE n.nspname = \(bind: .string(schema), .string) AND x.indisunique
                AND NOT EXISTS (SELECT 1 FROM pg_constraint r WHERE r.conindid = x.indexrelid AND r.contype IN ('p', 'u'))
            """
        var rules: [[String]: Rule] = [:]
        for row in try connection.rows(text, [.string, .string, .bool, .string]) {
            let place = [row[0].text, row[1].text]
            rules[place] = Rule(columns: (rules[place]?.columns ?? []) + [row[3].text], isKey: row[2] == .bool(true))
        }
        self.rules = rules
        self.tables = tables
        types = try Self.types(connection, schema)
    }

    private static func types(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) -> [[String]: String] {
        let text: SQLText = """
            SELECT c.relname::text, a.attname::text, CASE WHEN t.typcategory = 'A' THEN 'array' WHEN t.typname = 'jsonb' THEN 'json'
                ELSE format_type(a.atttypid, a.atttypmod) END
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_type t ON t.oid = a.atttypid
            WHERE n.nspname = \(bind: .string(schema), .string) AND c.relkind IN ('r', 'p', 'f', 'v') AND a.attnum > 0 AND NOT a.attisdropped
            """
        var types: [[String]: String] = [:]
        for row in try connection.rows(text, [.string, .string, .string]) { types[[row[0].text, row[1].text]] = row[2].text }
        return types
    }

    /// The rows that a statement writes: the entity and the slots of the written columns.
    typealias Written = (entity: EntityIndex, slots: [Int])

    /// Runs `work` and translates the server's error to an error that names entity and property.
    func explaining<Result>(
        isDeletion: Bool = false, writing written: Written? = nil, _ work: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) { return try work() } catch {
            guard let cause = error.cause as? PostgreSQLError.Cause else { throw error }
            if let written, PostgreSQLRefusal.states.contains(cause.state) { throw refusal(cause, written) }
            throw self.error(cause, isDeletion) ?? error
        }
    }

    /// Returns the error for a value that the type of its column does not accept. The server names only the type.
    private func refusal(_ cause: PostgreSQLError.Cause, _ written: Written) -> StorageError {
        let table = tables.tables[written.entity], entity = tables.schema[written.entity]
        let slots = written.slots.filter { types[[table.name, table.columns[$0].name]] == cause.refusedType }
        let what = slots.first.flatMap { types[[table.name, table.columns[$0].name]] }.map { " (\($0))" } ?? ""
        let message =
            cause.state == "22001"
            ? "has a string that is longer than its column allows\(what)" : "has a value that the type of its column does not accept\(what)"
        if slots.count < 2 { return tables.isInvalid(entity.name, slots.first.map { entity.slots[$0].name }, message, cause) }
        let names = slots.map { entity.slots[$0].name }.joined(separator: ", ")
        return tables.isInvalid(entity.name, nil, "\(message): one of \(names)", cause)
    }

    private func error(_ cause: PostgreSQLError.Cause, _ isDeletion: Bool) -> StorageError? {
        let table = cause.table ?? "", entity = tables.entity(ofTable: table)
        let name = entity.map { tables.schema.entities[$0].name } ?? table
        let rule = rules[[table, cause.constraint ?? ""]]
        func property(_ column: String) -> String { entity.flatMap { tables.property($0, column: column) } ?? column }
        let properties = (rule?.columns ?? cause.column.map { [$0] } ?? []).map(property)
        func failed(_ message: String) -> StorageError {
            tables.isInvalid(name, properties.count == 1 ? properties[0] : nil, message, cause)
        }
        switch cause.state {
        case "23505":
            if rule?.isKey == true, entity != nil { return tables.keyIsTaken(name, cause) }
            return tables.isNotUnique(name, properties, index: cause.constraint ?? "", cause)
        case "23502": return failed("must have a value")
        case "23514": return failed("violates a CHECK constraint of the table: \(cause.constraint ?? "")")
        case "23503", "23001":
            if !isDeletion { return failed("refers to an object that does not exist") }
            return StorageError(
                .deleteDenied, "an object cannot be deleted: other objects refer to it by \(name).\(properties.joined(separator: ", "))",
                cause: cause)
        case "22001": return failed("has a string that is longer than its column allows")
        case "P0001": return failed("is rejected by a trigger of the database")
        default: return nil
        }
    }
}
#endif
