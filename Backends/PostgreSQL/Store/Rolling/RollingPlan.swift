#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The layout of two versions of a model in the same tables, while programs of both versions are live.
///
/// An element with the same form in both versions is one column, under its older name. An element with another form in the newer version is
/// a second column beside the older one, and triggers write each when the other is written. An element of only one version is ignored by
/// the other.
struct RollingPlan {
    /// A hierarchy that both versions have.
    struct Shared {
        /// The hierarchy in the newer version.
        let root: EntityIndex
        /// The hierarchy in the older version.
        let origin: EntityIndex
        /// The columns of the newer version, in their order.
        let columns: [RollingColumn]
        /// The columns that only the older version has.
        let removed: [RemovedColumn]
    }

    let mapping: SchemaMapping
    /// The tables of the older version.
    let old: SQLTables
    /// The tables of the newer version, by the names that they have until the end of the step.
    let next: SQLTables
    /// The tables of the newer version, by the names that they have afterwards.
    let final: SQLTables
    let shared: [Shared]
    /// The current names of tables, indexes and sequences of the newer version that have another name afterwards.
    let moved: [String: String]
    /// The indexes of the newer version to create on tables that both versions share.
    let freshIndexes: [SQLTables.IndexStatement]
    /// The indexes that only the older version has, on tables that both versions share.
    let removedIndexes: [SQLTables.IndexStatement]

    /// The hierarchies and link tables that only the newer version has.
    var newRoots: [EntityIndex] { mapping.destination.roots.filter { mapping.origins(ofRoot: $0).isEmpty } }
    var newLinks: [Int] { mapping.links.indices.filter { mapping.links[$0] == .none } }
    /// The hierarchies and link tables that only the older version has.
    var removedRoots: [EntityIndex] { mapping.source.roots.filter { root in !shared.contains { $0.origin == root } } }
    var removedLinks: [Int] { mapping.source.links.indices.filter { !mapping.links.contains(.link($0, isFlipped: false)) } }

    /// Creates the plan of a step.
    ///
    /// - Throws: `unsupported`, naming the element that cannot be kept in both forms.
    init(_ step: MigrationStep, from before: StoreMetadata, to after: StoreMetadata) throws(StorageError) {
        let mapping = step.mapping
        let old = SQLTables(mapping.source, .postgreSQL, entityNumbers: before.entityNumbers)
        let final = SQLTables(mapping.destination, .postgreSQL, entityNumbers: after.entityNumbers)
        let pairs = try RollingChecks(step, old, final).pairs()
        var shared: [Shared] = []
        for (root, origin) in pairs {
            let parts = mapping.entities.filter { mapping.destination[$0.destination].root == root }
            let draft = RollingColumns(root, origin, parts, old, final)
            shared.append(Shared(root: root, origin: origin, columns: try draft.columns(), removed: try draft.removed()))
        }
        var columns: [EntityIndex: [Int: String]] = [:]
        for table in shared { for (index, column) in table.columns.enumerated() { columns[table.root, default: [:]][index] = column.name } }
        var names = RollingNames(mapping, old, final, pairs)
        func tables(_ moved: [String: String]) -> SQLTables {
            SQLTables(
                mapping.destination, .postgreSQL, entityNumbers: after.entityNumbers, moved: moved, movedColumns: columns)
        }
        let roots = Set(shared.map(\.root)), origins = Set(shared.map(\.origin))
        let drafted = tables(names.moved).indexes()
        let known = Dictionary(
            old.indexes().filter { origins.contains($0.root) }.map { ($0.definition, $0.name) }, uniquingKeysWith: { first, _ in first })
        for index in drafted { names.place(index.name, known[index.definition]) }
        let next = tables(names.moved)
        freshIndexes = next.indexes().filter { roots.contains($0.root) && known[$0.definition] == nil }
        let wanted = Set(drafted.map(\.definition))
        removedIndexes = old.indexes().filter { origins.contains($0.root) && !wanted.contains($0.definition) }
        moved = names.moved
        self.mapping = mapping
        self.old = old
        self.final = final
        self.next = next
        self.shared = shared
    }
}

extension SQLTables.IndexStatement {
    /// The definition of the index without its name.
    var definition: String {
        creation.replacing(SQLText.quoted(name), with: "", maxReplacements: 1)
    }
}

/// The current names of relations of the newer version: the name of the older relation, or a separate one if its own name is taken.
private struct RollingNames {
    private(set) var moved: [String: String] = [:]
    private var taken: Set<String>

    init(_ mapping: SchemaMapping, _ old: SQLTables, _ final: SQLTables, _ pairs: [(root: EntityIndex, origin: EntityIndex)]) {
        let (source, destination) = (mapping.source, mapping.destination)
        taken = Set(source.roots.flatMap { [old.table($0), old.keySequence($0)] } + old.indexes().map(\.name))
        taken.formUnion(source.links.indices.flatMap { [old.table(link: $0), old.memberIndex($0)] })
        let origins = Dictionary(pairs.map { ($0.root, $0.origin) }, uniquingKeysWith: { first, _ in first })
        for root in destination.roots {
            place(final.table(root), origins[root].map { old.table($0) })
            place(final.keySequence(root), origins[root].map { old.keySequence($0) })
        }
        for (link, origin) in mapping.links.enumerated() {
            let before: Int? = if case .link(let before, _) = origin { before } else { nil }
            place(final.table(link: link), before.map { old.table(link: $0) })
            place(final.memberIndex(link), before.map { old.memberIndex($0) })
        }
    }

    /// Assigns a current name to a relation that replaces an older one or is new.
    mutating func place(_ name: String, _ older: String?) {
        if let older {
            if older != name { moved[name] = older }
        } else if taken.contains(name) {
            moved[name] = "polystore_next_\(moved.count)"
        }
    }
}
#endif
