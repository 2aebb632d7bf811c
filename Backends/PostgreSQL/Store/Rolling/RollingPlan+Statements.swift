#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension RollingPlan {
    /// Returns the statements that create the tables and columns of the newer version; none of them writes a row.
    func expanding(_ schema: String) -> [String] {
        var statements = newRoots.map { next.createTable(root: $0) }
        statements += next.indexes().filter { newRoots.contains($0.root) }.map(\.creation)
        for link in newLinks { statements += [next.createTable(link: link), next.createMemberIndex(link)] }
        for table in shared {
            let name = SQLText.quoted(next.table(table.root))
            for column in table.columns {
                let type = next.dialect.typeName(column.type)
                switch column.source {
                case .kept: break
                case .converted:
                    statements.append("ALTER TABLE \(name) ADD COLUMN \(SQLText.quoted(column.name)) \(type)")
                case .added(let constant, let scope):
                    let value = scope.numbers == nil ? constant.map { " DEFAULT \($0)" } ?? "" : ""
                    statements.append("ALTER TABLE \(name) ADD COLUMN \(SQLText.quoted(column.name)) \(type)\(value)")
                }
            }
        }
        statements.append("ALTER TABLE polystore_history ADD COLUMN changes_next bytea")
        return statements + RollingTriggers(self, schema: schema).writingCreation()
    }

    /// Returns the statements that enable programs of the newer version, whose queries all have their indexes by now.
    func readying(_ schema: String) -> [String] { RollingTriggers(self, schema: schema).deletingCreation() }

    /// The required references of entities that only the newer version has, each with a query that finds objects without one.
    var requiredReferences: [(entity: String, property: String, missing: String)] {
        let schema = mapping.destination, roots = Set(newRoots)
        var references: [(entity: String, property: String, missing: String)] = []
        for entity in schema.descriptions where roots.contains(entity.root) && !entity.isAbstract {
            for (slot, description) in entity.slots.enumerated() {
                guard case .toOne(let relationship, _) = description.content, !relationship.isOptional else { continue }
                let scope = schema[entity.root].isHierarchy ? " AND \"_entity\" = \(next.entityNumbers[entity.index])" : ""
                let rows = "\(SQLText.quoted(next.table(entity.root))) WHERE \(SQLText.quoted(next.column(entity.index, slot))) IS NULL"
                references.append((entity.name, relationship.name, "SELECT \"_id\"::int8 FROM \(rows)\(scope) LIMIT 20"))
            }
        }
        return references
    }

    /// The values that fill the rows of a table that both versions share.
    struct Filling {
        let table: Shared
        /// The assignments.
        let assignments: String
        /// The condition on the rows that are not filled yet.
        let condition: String
    }

    /// The tables whose rows have to be filled.
    var fillings: [Filling] {
        shared.compactMap { table in
            var assignments: [String] = [], conditions: [String] = []
            for column in table.columns {
                let name = SQLText.quoted(column.name)
                switch column.source {
                case .kept: break
                case .converted(let conversion):
                    let value = conversion.forward("")
                    assignments.append("\(name) = \(value)")
                    conditions.append("\(name) IS DISTINCT FROM \(value)")
                case .added(let constant, let scope):
                    guard let constant, let condition = scope.condition("") else { continue }
                    assignments.append("\(name) = CASE WHEN \(condition) THEN COALESCE(\(name), \(constant)) END")
                    conditions.append("\(name) IS NULL AND \(condition)")
                }
            }
            if assignments.isEmpty { return nil }
            return Filling(
                table: table, assignments: assignments.joined(separator: ", "),
                condition: conditions.map { "(\($0))" }.joined(separator: " OR "))
        }
    }

    /// Returns the statements that leave only the newer version.
    func contracting(_ schema: String) -> [String] {
        var statements = RollingTriggers(self, schema: schema).removal()
        statements += removedIndexes.map(\.removal)
        for link in removedLinks { statements.append("DROP TABLE \(SQLText.quoted(old.table(link: link)))") }
        let wanted = Set(mapping.destination.roots.map { final.keySequence($0) })
        for root in removedRoots {
            statements.append("DROP TABLE \(SQLText.quoted(old.table(root)))")
            // The counter is kept, so that keys are not reused if the entity returns.
            if wanted.contains(old.keySequence(root)) { statements.append("DROP SEQUENCE \(SQLText.quoted(old.keySequence(root)))") }
        }
        for table in shared { statements += contracting(table) }
        let moves = moved.sorted { $0.key < $1.key }
        statements += moves.enumerated().map { rename($1.value, "polystore_moving_\($0)") }
        statements += moves.enumerated().map { rename("polystore_moving_\($0)", $1.key) }
        return statements
    }

    private func contracting(_ table: Shared) -> [String] {
        let name = SQLText.quoted(next.table(table.root))
        var gone = table.removed.map(\.name), statements: [String] = [], renames: [(from: String, to: String)] = []
        for column in table.columns {
            switch column.source {
            case .kept: break
            case .converted(let conversion): gone.append(conversion.old)
            case .added(let constant, let scope):
                if constant != nil, scope.numbers == nil {
                    statements.append("ALTER TABLE \(name) ALTER COLUMN \(SQLText.quoted(column.name)) DROP DEFAULT")
                }
            }
            if column.name != column.finalName { renames.append((column.name, column.finalName)) }
        }
        statements += gone.map { "ALTER TABLE \(name) DROP COLUMN \(SQLText.quoted($0))" }
        // Columns are renamed by way of a temporary name, because they may swap names.
        func rename(_ from: String, _ to: String) -> String {
            "ALTER TABLE \(name) RENAME COLUMN \(SQLText.quoted(from)) TO \(SQLText.quoted(to))"
        }
        statements += renames.enumerated().map { rename($1.from, "polystore_moving_\($0)") }
        statements += renames.enumerated().map { rename("polystore_moving_\($0)", $1.to) }
        return statements
    }

    /// Returns the statements that leave only the older version.
    func abandoning(_ schema: String) -> [String] {
        var statements = RollingTriggers(self, schema: schema).removal()
        statements += freshIndexes.map { "DROP INDEX IF EXISTS \(SQLText.quoted($0.name))" }
        statements += newLinks.map { "DROP TABLE \(SQLText.quoted(next.table(link: $0)))" }
        for root in newRoots {
            statements.append("DROP TABLE \(SQLText.quoted(next.table(root)))")
            statements.append("DROP SEQUENCE IF EXISTS \(SQLText.quoted(next.keySequence(root)))")
        }
        for table in shared {
            for column in ownColumns(table) {
                statements.append(
                    "ALTER TABLE \(SQLText.quoted(next.table(table.root))) DROP COLUMN \(SQLText.quoted(column.name))")
            }
        }
        return statements + ["ALTER TABLE polystore_history DROP COLUMN changes_next"]
    }

    private func ownColumns(_ table: Shared) -> [RollingColumn] {
        table.columns.filter { if case .kept = $0.source { false } else { true } }
    }

    /// The elements that only the newer version has, for people to read, each with a query that finds a row.
    var nextOnly: [(path: String, query: String)] {
        var queries = newRoots.map { (mapping.destination[$0].name, "SELECT 1::int8 FROM \(SQLText.quoted(next.table($0))) LIMIT 1") }
        for link in newLinks {
            queries.append(
                (mapping.destination.links[link].name, "SELECT 1::int8 FROM \(SQLText.quoted(next.table(link: link))) LIMIT 1"))
        }
        for table in shared {
            for column in table.columns {
                guard case .added(let constant, let scope) = column.source else { continue }
                let rows = scope.condition("").map { " AND \($0)" } ?? ""
                queries.append(
                    (
                        column.path,
                        "SELECT 1::int8 FROM \(SQLText.quoted(next.table(table.root))) WHERE \(SQLText.quoted(column.name)) "
                            + "IS DISTINCT FROM \(constant ?? "NULL")\(rows) LIMIT 1"
                    ))
            }
        }
        return queries
    }

    private func rename(_ relation: String, _ name: String) -> String {
        "ALTER TABLE \(SQLText.quoted(relation)) RENAME TO \(SQLText.quoted(name))"
    }

    /// Returns a description of the complete step, for people to read.
    func lines(_ schema: String) -> [String] {
        ["-- expand"] + expanding(schema) + ["-- backfill, batch by batch"]
            + fillings.map { "UPDATE \(SQLText.quoted(next.table($0.table.root))) SET \($0.assignments) WHERE \($0.condition)" }
            + freshIndexes.map { Self.concurrently($0.creation) } + readying(schema) + ["-- contract"] + contracting(schema)
    }

    /// Returns the statement that creates an index without blocking writers.
    static func concurrently(_ creation: String) -> String {
        creation.replacing("INDEX ", with: "INDEX CONCURRENTLY ", maxReplacements: 1)
    }
}
#endif
