#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The triggers on the tables of another program, by name. They maintain versions and log for every writer.
///
/// They use only SQL that every version of SQLite since 3.8.2 supports, because the other program opens the file with its own version.
enum SQLiteInPlaceTriggers {
    private static func literal(_ text: String) -> String { "'\(SQLText.doubling("'", in: text))'" }

    private static let now = "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000"

    /// Returns statements that raise the version of a row. They have no conflict clause, because the clause of the statement that fired the
    /// trigger would apply instead.
    private static func raise(_ source: String, _ key: String) -> String {
        let place = "source = \(source) AND \"key\" = \(key)"
        return
            "INSERT INTO polystore_versions SELECT \(source), \(key), 1 WHERE NOT EXISTS (SELECT 1 FROM polystore_versions WHERE \(place)); "
            + "UPDATE polystore_versions SET version = version + 1 WHERE \(place);"
    }

    /// Returns the statement that logs a change. The kind is the first letter of insert, update, delete or links.
    ///
    /// An update does not log the columns that it changed: a trigger that names a column prevents its owner from dropping it.
    private static func log(_ source: String, _ key: String, _ kind: String, from rows: String = "") -> String {
        "INSERT INTO polystore_log(time, source, \"key\", kind, changed) SELECT \(now), \(source), \(key), \(kind), '\(InPlaceLog.everything)'\(rows);"
    }

    private static func trigger(_ name: String, _ event: String, _ table: String, when: String? = nil, _ body: String...) -> (
        String, String
    ) {
        let condition = when.map { " WHEN \($0)" } ?? ""
        return (
            name,
            "CREATE TRIGGER \(SQLText.quoted(name)) \(event) ON \(SQLText.quoted(table))\(condition) BEGIN \(body.joined(separator: " ")) END"
        )
    }

    // MARK: Rows

    /// Returns the triggers of a table whose rows are objects.
    ///
    /// Replacing a row does not fire its delete trigger, and a statement that could replace rows need not do so. A trigger therefore first
    /// records in `polystore_replaced` the rows that have conflicting unique values, and another one checks afterwards which of them are
    /// gone.
    ///
    /// - Parameter unique: The columns of each unique index, with their collations.
    static func triggers(_ table: InPlaceTables.Table, unique: [[(column: String, collation: String)]]) -> [(String, String)] {
        let name = table.name, source = literal(name), key = SQLText.quoted(table.key), old = "OLD.\(key)", new = "NEW.\(key)"
        let rows = "FROM \(SQLText.quoted(name)) AS t"
        let equal = unique.map { columns in
            let parts = columns.map { unique in
                let column = SQLText.quoted(unique.column)
                return "t.\(column) = NEW.\(column) COLLATE \(SQLText.quoted(unique.collation))"
            }
            return parts.joined(separator: " AND ")
        }
        let holders = "\(rows) WHERE " + (["t.\(key) = \(new)"] + equal).map { "(\($0))" }.joined(separator: " OR ")
        let others =
            "\(rows) WHERE t.\(key) <> \(old) AND ("
            + (["t.\(key) = \(new)"] + equal).map { "(\($0))" }.joined(separator: " OR ") + ")"
        let bound = "UPDATE OF " + Set([table.key] + unique.joined().map(\.column)).sorted().map(SQLText.quoted).joined(separator: ", ")
        let note = { (holders: String) in
            "DELETE FROM polystore_replaced WHERE source = \(source); INSERT INTO polystore_replaced SELECT \(source), t.\(key) \(holders);"
        }
        let isNoted = "EXISTS (SELECT 1 FROM polystore_replaced WHERE source = \(source))"
        let forget = "DELETE FROM polystore_replaced WHERE source = \(source) AND \"key\" = \(old);"
        return [
            trigger("polystore_\(name)_replace", "BEFORE INSERT", name, when: "EXISTS (SELECT 1 \(holders))", note(holders)),
            trigger("polystore_\(name)_insert", "AFTER INSERT", name, log(source, new, "'i'")),
            trigger(
                "polystore_\(name)_replaced", "AFTER INSERT", name, when: isNoted,
                replaced(source, rows, key, raising: "p.\"key\" = \(new)")),
            trigger("polystore_\(name)_displace", "BEFORE \(bound)", name, when: "EXISTS (SELECT 1 \(others))", note(others)),
            trigger(
                "polystore_\(name)_displaced", "AFTER \(bound)", name,
                when: isNoted, replaced(source, rows, key, raising: "0")),
            trigger(
                "polystore_\(name)_update", "AFTER UPDATE", name, when: "\(old) = \(new)", raise(source, new), log(source, new, "'u'")),
            trigger(
                "polystore_\(name)_move", "AFTER UPDATE", name, when: "\(old) <> \(new)", raise(source, old), raise(source, new),
                log(source, old, "'d'"), log(source, new, "'i'"), forget),
            trigger("polystore_\(name)_delete", "AFTER DELETE", name, raise(source, old), log(source, old, "'d'"), forget),
        ]
    }

    /// Returns the statements that process the recorded rows that are gone, and the one that the new row has replaced.
    ///
    /// - Parameter place: The condition that identifies the replaced row.
    private static func replaced(_ source: String, _ rows: String, _ key: String, raising place: String) -> String {
        let noted = " FROM polystore_replaced AS p WHERE p.source = \(source) AND"
        let isGone = "NOT EXISTS (SELECT 1 \(rows) WHERE t.\(key) = p.\"key\")"
        return """
            INSERT INTO polystore_versions SELECT \(source), p."key", 1\(noted) (\(place) OR \(isGone)) AND NOT EXISTS \
            (SELECT 1 FROM polystore_versions AS v WHERE v.source = \(source) AND v."key" = p."key"); \
            UPDATE polystore_versions SET version = version + 1 WHERE source = \(source) AND "key" IN (SELECT p."key"\(noted) (\(place) OR \(isGone))); \
            \(log(source, "p.\"key\"", "'d'", from: "\(noted) NOT (\(place)) AND \(isGone)")) \
            DELETE FROM polystore_replaced WHERE source = \(source) AND "key" IN (SELECT p."key"\(noted) (\(place) OR \(isGone)));
            """
    }

    // MARK: Pairs

    /// Returns the triggers of a table whose rows are pairs.
    static func triggers(_ pairs: InPlaceTables.Pairs) -> [(String, String)] {
        let name = pairs.name
        func log(_ row: String) -> String {
            let key = pairs.ownerKey(row)
            return Self.log(literal(name), key, "'l'", from: " WHERE \(key) IS NOT NULL")
        }
        return [
            trigger("polystore_\(name)_insert", "AFTER INSERT", name, log("NEW")),
            trigger("polystore_\(name)_update", "AFTER UPDATE", name, log("OLD"), log("NEW")),
            trigger("polystore_\(name)_delete", "AFTER DELETE", name, log("OLD")),
        ]
    }
}
#endif
