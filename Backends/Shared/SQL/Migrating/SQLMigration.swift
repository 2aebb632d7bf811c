package import PolystoreStorage

/// The effect of a migration step on the tables of an engine, as statements.
///
/// Rewritten rows and pairs go to tables with temporary names, so that every session can read the older version until `finishing`.
package struct SQLMigration: Sendable {
    /// The tables of the newer version.
    package let new: SQLTables
    /// The tables that are written from scratch, by the names that they have until `finishing`.
    package let building: SQLTables
    /// The rows and links that the caller has to write.
    package let work: MigrationWork

    private let old: SQLTables
    private let changes: [EntityIndex: SQLTableChange]
    private let keptLinks: [Int: Int]

    /// Creates the plan of a step.
    package init(_ step: MigrationStep, from before: StoreMetadata, to after: StoreMetadata, _ dialect: SQLDialect) {
        let mapping = step.mapping
        let old = SQLTables(mapping.source, dialect, entityNumbers: before.entityNumbers)
        let new = SQLTables(mapping.destination, dialect, entityNumbers: after.entityNumbers)
        var changes: [EntityIndex: SQLTableChange] = [:]
        for root in mapping.destination.roots where !step.writtenRoots.contains(root) {
            changes[root] = SQLTableChange(root, mapping, old, new)
        }
        var keptLinks: [Int: Int] = [:]
        for (link, origin) in mapping.links.enumerated() {
            guard case .link(let before, false) = origin,
                mapping.source.links[before].isOrdered == mapping.destination.links[link].isOrdered
            else { continue }
            // A link table is kept only where the row keys of both sides stay the same, which is the case where no hierarchies are merged.
            let sides = [mapping.destination.links[link].owner, mapping.destination.links[link].member]
            if sides.allSatisfy({ mapping.origins(ofRoot: mapping.destination[$0].root).count <= 1 }) { keptLinks[link] = before }
        }
        let roots = mapping.destination.roots.filter { changes[$0] == nil }
        let links = mapping.destination.links.indices.filter { keptLinks[$0] == nil }
        work = MigrationWork(roots: Set(roots), links: Set(links))
        var names: [String: String] = [:]
        for table in roots.map({ new.table($0) }) + links.map({ new.table(link: $0) }) { names[table] = "polystore_new_\(names.count)" }
        self.old = old
        self.new = new
        self.changes = changes
        self.keptLinks = keptLinks
        building = SQLTables(mapping.destination, dialect, entityNumbers: after.entityNumbers, moved: names)
    }

    private func rename(_ table: String, _ name: String) -> String {
        "ALTER TABLE \(SQLText.quoted(table)) RENAME TO \(SQLText.quoted(name))"
    }

    /// Returns the statements that create the tables to be written from scratch, without indexes.
    package func preparing() -> [String] {
        work.roots.sorted().map { building.createTable(root: $0) } + work.links.sorted().map { building.createTable(link: $0) }
    }

    /// Returns the statements that replace the old version with the new one, without its indexes.
    package func finishing() -> [String] {
        var statements: [String] = []
        let kept = keptIndexes, origins = Set(changes.values.map(\.origin))
        for index in old.indexes() where !kept.contains(index.name) {
            // Dropping a table drops its indexes, except for an index that is a table of its own.
            if origins.contains(index.root) || index.isTable { statements.append(index.removal) }
        }
        for root in old.schema.roots where !origins.contains(root) { statements.append("DROP TABLE \(SQLText.quoted(old.table(root)))") }
        for link in old.schema.links.indices where !keptLinks.values.contains(link) {
            statements.append("DROP TABLE \(SQLText.quoted(old.table(link: link)))")
        }
        for (link, before) in keptLinks.sorted(by: { $0.key < $1.key }) where old.table(link: before) != new.table(link: link) {
            statements.append("DROP INDEX \(SQLText.quoted(old.memberIndex(before)))")
        }
        statements += renaming()
        for (_, change) in changes.sorted(by: { $0.key < $1.key }) { statements += change.statements }
        return statements
    }

    /// Returns the statements that rename tables. Tables may swap names, so that all tables that are kept get a temporary name first.
    private func renaming() -> [String] {
        var moves: [(from: String, to: String)] = []
        for (root, change) in changes.sorted(by: { $0.key < $1.key }) { moves.append((old.table(change.origin), new.table(root))) }
        for (link, before) in keptLinks.sorted(by: { $0.key < $1.key }) {
            moves.append((old.table(link: before), new.table(link: link)))
        }
        moves.removeAll { $0.from == $0.to }
        let away = moves.enumerated().map { rename($1.from, "polystore_moving_\($0)") }
        let back = moves.enumerated().map { rename("polystore_moving_\($0)", $1.to) }
        let fresh =
            work.roots.sorted().map { rename(building.table($0), new.table($0)) }
            + work.links.sorted().map { rename(building.table(link: $0), new.table(link: $0)) }
        return away + back + fresh
    }

    /// Returns the indexes to create after `finishing`. Those of link tables are not included, because they have no constraint and belong
    /// to no hierarchy.
    package func indexing() -> [SQLTables.IndexStatement] {
        let kept = keptIndexes
        return new.indexes().filter { !kept.contains($0.name) }
    }

    /// Returns the statements that create the indexes of link tables after `finishing`.
    package func linkIndexing() -> [String] {
        new.schema.links.indices.filter { link in keptLinks[link].map { old.table(link: $0) != new.table(link: link) } ?? true }
            .map(new.createMemberIndex)
    }

    /// The names of the indexes that are kept.
    private var keptIndexes: Set<String> {
        let after = Dictionary(new.indexes().map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(
            old.indexes().compactMap { index -> String? in
                guard let same = after[index.name], same.creation == index.creation, let change = changes[same.root],
                    change.origin == index.root, change.touched.isDisjoint(with: index.columns + index.conditionColumns)
                else { return nil }
                return index.name
            })
    }

    /// Returns a description of the complete step, for people to read.
    package func lines() -> [String] {
        preparing() + work.roots.sorted().map { "-- rows of \(new.schema.entities[$0].name) are rewritten" }
            + work.links.sorted().map { "-- pairs of \(new.schema.links[$0].name) are rewritten" } + finishing()
            + indexing().map(\.creation)
            + linkIndexing()
    }
}

extension SQLTables {
    /// Returns the statement that finds the keys of rows that violate the constraint of an index, two of each group.
    package func duplicates(_ index: IndexStatement) -> String {
        let (columns, condition) = constrained(index)
        return """
            SELECT min("_id"), max("_id") FROM \(SQLText.quoted(table(index.root))) \
            WHERE \(condition) GROUP BY \(columns) \
            HAVING count(*) > 1 ORDER BY 1 LIMIT 10
            """
    }
}
