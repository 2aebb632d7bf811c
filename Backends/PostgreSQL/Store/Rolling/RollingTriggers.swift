#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The triggers that synchronize both forms of the data, in PL/pgSQL.
///
/// A session of the newer version identifies itself by a setting of its transaction. Every other session, of whatever program, writes the
/// older form.
struct RollingTriggers {
    /// The setting by which a session identifies itself as one of the newer version.
    static let marking = "SET LOCAL polystore.model = 'next'"
    /// The SQLSTATE for a value of the newer version that has no older form, in a class that is otherwise not used.
    static let refusalState = "PS003"
    /// The SQLSTATE for a deletion that would leave a required reference of the other version without its destination.
    static let denialState = "PS004"

    private let plan: RollingPlan
    /// The schema of the server, by which the triggers qualify the tables, because a writer may have another search path.
    private let schema: String

    init(_ plan: RollingPlan, schema: String) {
        self.plan = plan
        self.schema = schema
    }

    private func place(_ table: String) -> String { "\(SQLText.quoted(schema)).\(SQLText.quoted(table))" }

    /// Returns the statements that create the triggers for writing.
    func writingCreation() -> [String] { plan.shared.compactMap(writing) }

    /// Returns the statements that create the triggers for deleting. They look up references, so they are created after the indexes on
    /// these. Before there are programs of the newer version, neither version has references that the other does not know.
    func deletingCreation() -> [String] { plan.shared.compactMap(deleting) }

    /// Returns the statements that remove the triggers.
    func removal() -> [String] {
        plan.shared.flatMap { table in
            ["write", "delete"].map { "DROP FUNCTION IF EXISTS \(name(table, $0))() CASCADE" }
        }
    }

    private func name(_ table: RollingPlan.Shared, _ event: String) -> String { "polystore_rolling_\(event)_\(table.root)" }

    private func trigger(_ table: RollingPlan.Shared, _ event: String, when: String, next: [String], old: [String], answer: String)
        -> String
    {
        let name = name(table, event)
        let older = old.isEmpty ? "" : "ELSE\n\(old.joined(separator: "\n"))\n"
        let newer = next.isEmpty ? "NULL;" : next.joined(separator: "\n")
        return """
            CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $polystore$
            BEGIN
            IF current_setting('polystore.model', true) = 'next' THEN
            \(newer)
            \(older)END IF;
            RETURN \(answer);
            END $polystore$;
            CREATE TRIGGER \(name) \(when) ON \(SQLText.quoted(plan.next.table(table.root))) FOR EACH ROW EXECUTE FUNCTION \(name)()
            """
    }

    // MARK: Writing

    private func writing(_ table: RollingPlan.Shared) -> String? {
        var next: [String] = [], old: [String] = [], nextInserts: [String] = [], oldInserts: [String] = []
        for column in table.columns {
            let value = "NEW.\(SQLText.quoted(column.name))"
            if let rows = column.guardedRows {
                let scope = rows.condition("NEW.").map { " AND \($0)" } ?? ""
                next.append("IF \(value) IS NULL\(scope) THEN \(refusal(column)) END IF;")
            }
            switch column.source {
            case .kept: break
            case .converted(let conversion):
                if let fits = conversion.fits(value) {
                    next.append("IF \(value) IS NOT NULL AND NOT (\(fits)) THEN \(refusal(column)) END IF;")
                }
                let cast = conversion.before == conversion.after ? "" : "::\(PostgreSQLCodec.column(conversion.before).name)"
                // A value that the newer version did not change also stays unchanged in the older form, including nil instead of a default.
                next.append(
                    "IF TG_OP = 'INSERT' OR \(value) IS DISTINCT FROM OLD.\(SQLText.quoted(column.name)) THEN "
                        + "NEW.\(SQLText.quoted(conversion.old)) := \(value)\(cast); END IF;")
                old.append("\(value) := \(conversion.forward("NEW."));")
            case .added(let constant, let scope):
                // A value of all rows is the default of the column.
                if let constant, let condition = scope.condition("NEW.") {
                    oldInserts.append("IF \(condition) THEN \(value) := \(constant); END IF;")
                }
            }
        }
        for column in table.removed {
            for (constant, scope) in column.constants {
                let assignment = "NEW.\(SQLText.quoted(column.name)) := \(constant);"
                nextInserts.append(scope.condition("NEW.").map { "IF \($0) THEN \(assignment) END IF;" } ?? assignment)
            }
        }
        func onInsert(_ statements: [String]) -> [String] {
            statements.isEmpty ? [] : ["IF TG_OP = 'INSERT' THEN"] + statements + ["END IF;"]
        }
        next += onInsert(nextInserts)
        old += onInsert(oldInserts)
        if next.isEmpty, old.isEmpty { return nil }
        return trigger(table, "write", when: "BEFORE INSERT OR UPDATE", next: next, old: old, answer: "NEW")
    }

    private func refusal(_ column: RollingColumn) -> String {
        "RAISE EXCEPTION USING ERRCODE = '\(Self.refusalState)', MESSAGE = \(Self.text(column.path));"
    }

    private static func text(_ text: String) -> String {
        "E'\(SQLText.doubling("'", in: SQLText.doubling("\\", in: text)))'"
    }

    // MARK: Deleting

    /// Returns the triggers that prevent references unknown to one version from pointing to objects that its programs delete.
    private func deleting(_ table: RollingPlan.Shared) -> String? {
        let next = forgetting(plan.old, table.origin, slots: oldSlots, links: plan.removedLinks)
        let old = forgetting(plan.next, table.root, slots: newSlots, links: plan.newLinks)
        if next.isEmpty, old.isEmpty { return nil }
        return trigger(table, "delete", when: "AFTER DELETE", next: next, old: old, answer: "NULL")
    }

    private struct Place: Hashable {
        let root: EntityIndex
        let column: String
        let destination: EntityIndex
    }

    /// References by their columns, with the entities that require them, for people to read.
    private typealias Places = [Place: [EntityIndex: String]]

    /// The references that only the older version has.
    private var oldSlots: Places {
        let kept = Dictionary(plan.shared.map { ($0.origin, Set($0.removed.map(\.name))) }, uniquingKeysWith: { first, _ in first })
        return places(plan.old) { root, column in kept[root].map { $0.contains(column) } ?? true }
    }

    /// The references that only the newer version has.
    private var newSlots: Places {
        var added: [EntityIndex: Set<String>] = [:]
        for table in plan.shared {
            added[table.root] = Set(table.columns.filter { if case .added = $0.source { true } else { false } }.map(\.name))
        }
        return places(plan.next) { root, column in added[root].map { $0.contains(column) } ?? true }
    }

    private func places(_ tables: SQLTables, _ isOwn: (EntityIndex, String) -> Bool) -> Places {
        var places: Places = [:]
        for entity in tables.schema.descriptions {
            for (slot, description) in entity.slots.enumerated() {
                guard case .toOne(let relationship, _) = description.content, let destination = description.destination else { continue }
                let column = tables.column(entity.index, slot)
                if !isOwn(entity.root, column) { continue }
                let place = Place(root: entity.root, column: column, destination: tables.schema[destination].root)
                places[place, default: [:]][entity.index] = relationship.isOptional ? nil : "\(entity.name).\(relationship.name)"
            }
        }
        return places
    }

    private func forgetting(_ tables: SQLTables, _ root: EntityIndex, slots: Places, links: [Int]) -> [String] {
        var statements: [String] = []
        for (place, required) in slots.sorted(by: { ($0.key.root, $0.key.column) < ($1.key.root, $1.key.column) })
        where place.destination == root {
            let column = SQLText.quoted(place.column), table = self.place(tables.table(place.root)), rows = "\(column) = OLD.\"_id\""
            for (entity, path) in required.sorted(by: { $0.key < $1.key }) where !tables.schema[entity].isAbstract {
                let scope = tables.schema[place.root].isHierarchy ? " AND \"_entity\" = \(tables.entityNumbers[entity])" : ""
                statements.append(
                    "IF EXISTS (SELECT FROM \(table) WHERE \(rows)\(scope)) THEN "
                        + "RAISE EXCEPTION USING ERRCODE = '\(Self.denialState)', MESSAGE = \(Self.text(path)); END IF;")
            }
            statements.append("UPDATE \(table) SET \(column) = NULL, \"_version\" = \"_version\" + 1 WHERE \(rows);")
        }
        for link in links {
            let description = tables.schema.links[link], table = place(tables.table(link: link))
            if tables.schema[description.owner].root == root { statements.append("DELETE FROM \(table) WHERE \"owner\" = OLD.\"_id\";") }
            if tables.schema[description.member].root == root { statements.append("DELETE FROM \(table) WHERE \"member\" = OLD.\"_id\";") }
        }
        return statements
    }
}
#endif
