#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// What the rules of another program's tables say against a change, as errors of the contract.
struct PostgreSQLInPlaceRules: Sendable {
    private struct Rule: Sendable {
        let columns: [String]
        let isKey: Bool
    }

    private let rules: [[String]: Rule]
    private let tables: InPlaceTables

    /// The constraints and unique indexes of a schema.
    init(_ rows: PostgreSQLCatalogRows, _ schema: String, _ tables: InPlaceTables) throws(StorageError) {
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
        for row in try rows.rows(text, [.string, .string, .bool, .string]) {
            let place = [row[0].text, row[1].text]
            rules[place] = Rule(columns: (rules[place]?.columns ?? []) + [row[3].text], isKey: row[2] == .bool(true))
        }
        self.rules = rules
        self.tables = tables
    }

    /// Runs work and turns what the server says against it into an error that names entity and property.
    func explaining<Result>(isDeletion: Bool = false, _ work: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try work() } catch {
            guard let cause = error.cause as? PostgreSQLError.Cause else { throw error }
            throw self.error(cause, isDeletion) ?? error
        }
    }

    private func error(_ cause: PostgreSQLError.Cause, _ isDeletion: Bool) -> StorageError? {
        let table = cause.table ?? "", entity = tables.entity(ofTable: table)
        let name = entity.map { tables.schema.entities[$0].name } ?? table
        let rule = rules[[table, cause.constraint ?? ""]]
        func property(_ column: String) -> String { entity.flatMap { tables.property($0, column: column) } ?? column }
        let properties = (rule?.columns ?? cause.column.map { [$0] } ?? []).map(property)
        func failed(_ message: String) -> StorageError {
            let failure = ValidationFailure(entity: name, property: properties.count == 1 ? properties[0] : nil, key: 0, message)
            return StorageError(
                .validationFailed, "\(failure)", details: .init(entity: name, property: failure.property, failures: [failure]), cause: cause
            )
        }
        switch cause.state {
        case "23505":
            if rule?.isKey == true, entity != nil {
                return StorageError(
                    .alreadyExists, "an object of \(name) with this key is already there", details: .init(entity: name), cause: cause)
            }
            let constraint = label(entity, properties) ?? cause.constraint ?? ""
            return StorageError(
                .uniqueConstraintViolated, "another object of \(name) has the same \(constraint)",
                details: .init(entity: name, constraint: constraint), cause: cause)
        case "23502": return failed("must have a value")
        case "23514": return failed("breaks a condition of the table: \(cause.constraint ?? "")")
        case "23503", "23001":
            if !isDeletion { return failed("refers to an object that is not there") }
            return StorageError(
                .deleteDenied, "an object cannot be deleted: others refer to it by \(name).\(properties.joined(separator: ", "))",
                cause: cause)
        case "22001": return failed("has a text that is longer than its column")
        case "P0001": return failed("is refused by a trigger of the database")
        default: return nil
        }
    }

    private func label(_ entity: EntityIndex?, _ properties: [String]) -> String? {
        guard let entity else { return nil }
        return tables.schema[entity].uniqueConstraints.first { constraint in
            Set(constraint.slots.map { tables.schema[entity].slots[$0].name }) == Set(properties)
        }?.name
    }
}
#endif
