internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// An error that ends a program: a store has refused a migration, and its version differs from the program's.
struct ProgramEnded: Error {}

/// Migrations to the next version of the model.
extension ProgramRun {
    func migrate(_ step: ProgramStep, _ changes: [ProgramChange]) throws {
        var version = ProgramVersion(after: schema), made: [ProgramChange] = []
        for change in changes where version.make(change) { made.append(change) }
        var naive = state.naive
        let refusals = naive.migrate(made, keys: state.keys.mapValues(\.key))
        let former = state
        var renames = ProgramRenames(made, schema)
        let delivered = try histories(&renames, isBefore: true)
        forgetObservers()
        try closeStores()
        losses.formUnion(version.schema.changes(since: schema).filter { $0.loss != nil }.map(\.path))
        do {
            try places.migrate(try history(versions + [version.schema]))
        } catch let error as StorageError where refusals.contains(error.code) {
            // One of two stores may have been migrated.
            if target.count > 1 { throw ProgramEnded() }
            try openStores()
            try verify(step, former.naive)
            throw ProgramEnded()
        }
        if let code = refusals.first { throw difference(step, "error \(code)", "done") }
        versions.append(version.schema)
        state.naive = naive
        rename(renames)
        try openStores()
        committed = state
        try compareHistories(step, delivered, renames)
        if !renames.changesRows { try compareVersions(step) }
    }

    /// Updates the keys to the new names of the roots of hierarchies.
    private func rename(_ renames: ProgramRenames) {
        func renamed(_ key: ObjectKey) -> ObjectKey {
            ObjectKey(store: key.store, root: renames.entities[key.root] ?? key.root, key: key.key)
        }
        state.keys = state.keys.mapValues(renamed)
        state.numbers = Dictionary(state.numbers.map { (renamed($0.key), $0.value) }) { $1 }
        known = Dictionary(known.map { (renamed($0.key), $0.value) }) { $1 }
    }

    // MARK: Unchanged data

    /// Checks that a migration does not change the versions of objects.
    private func compareVersions(_ step: ProgramStep) throws {
        let former = lastVersions
        try stack.read(synchronous: { source in
            for root in schema.roots {
                for object in try source.fetchAll(From<DynamicObject>(entity: schema.entities[root].name)) {
                    guard let before = former[number(object)] else { continue }
                    try compare(
                        step, .text("version \(before) of \(number(object))"), .text("version \(object.version) of \(number(object))"))
                }
            }
        })
    }

    /// Returns the history entries of the objects that stay, in the names of the next version.
    private func histories(_ renames: inout ProgramRenames, isBefore: Bool) throws -> [[String]] {
        try (0..<target.count).map { home in
            guard stack.storages[home].capabilities.contains(.history) else { return [] }
            let entries = try stack.history(HistoryRequest(excluding: ["migration"]), of: .storage(stack.storages[home])).transactions
            return entries.map { entry in
                let changes = Array(entry.changes).compactMap { text($0, &renames, isBefore: isBefore) }
                return "\(entry.author.name): \(changes.sorted().joined(separator: ", "))"
            }
        }
    }

    private func text(_ change: ObjectChange, _ renames: inout ProgramRenames, isBefore: Bool) -> String? {
        let names = renames
        func renamed(_ name: String) -> String? { names.vague.contains(name) ? nil : isBefore ? names.properties[name] ?? name : name }
        guard let number = known[change.key] else { return nil }
        if isBefore, renames.gone.contains(change.entity) { renames.numbers.insert(number) }
        if renames.numbers.contains(number) { return nil }
        switch change.kind {
        case .inserted: return "\(number) +"
        case .deleted: return "\(number) -"
        case .updated(let names):
            let kept = names.compactMap(renamed).sorted()
            return kept.isEmpty ? nil : "\(number) \(kept)"
        case .relinked(let name): return renamed(name).map { "\(number) links \($0)" }
        }
    }

    private func compareHistories(_ step: ProgramStep, _ before: [[String]], _ renames: ProgramRenames) throws {
        var renames = renames
        for (home, (before, after)) in zip(before, try histories(&renames, isBefore: false)).enumerated() {
            try compare(step, .text("history \(before)"), .text("history \(after)"))
            guard stack.storages[home].capabilities.contains(.history) else { continue }
            guard let token = tokens[home] else { continue }
            let request = HistoryRequest(after: token, excluding: ["migration"])
            let newer = try stack.history(request, of: .storage(stack.storages[home])).transactions
            try compare(step, .text("newer than the token 0"), .text("newer than the token \(newer.count)"))
        }
    }
}

/// The effect of changes of a model on names.
struct ProgramRenames {
    var entities: [String: String] = [:]
    var properties: [String: String] = [:]
    /// Properties that were removed, or whose history may differ.
    var vague: Set<String> = []
    /// Entities that were removed, and objects that belonged to them.
    var gone: Set<String> = []
    var numbers: Set<Int> = []
    /// Whether objects lose or gain references.
    var changesRows = false

    init(_ changes: [ProgramChange], _ schema: Schema) {
        for change in changes {
            switch change {
            case .renameEntity(let name, let new):
                entities[name] = new
                // Of two to-many sides the one that comes first by its names has the changes of pairs: it may be the other one now.
                vague.formUnion(sides(schema) { $0 == name || $1 == name })
                // References between stores contain the name.
                if schema.entities.contains(where: { $0.attributes.contains { $0.crossReference != nil } }) { changesRows = true }
            case .renameAttribute(_, let name, let new): properties[name] = new
            case .renameRelationship(_, let name, let new):
                properties[name] = new
                vague.formUnion(sides(schema) { $0 == $1 }.intersection([name] + inverses(name, schema)))
            case .removeAttribute(_, let name), .retype(_, let name, _): vague.insert(name)
            case .removeRelationship(_, let name), .reshape(_, let name, _), .addInverse(_, let name, _), .removeInverse(_, let name):
                vague.formUnion([name] + inverses(name, schema))
                changesRows = true
            case .removeEntity(let name):
                gone.insert(name)
                let leading = schema.entities.flatMap { entity in
                    entity.relationships.filter { $0.destination == name || entity.name == name }
                }
                vague.formUnion(leading.flatMap { [$0.name, $0.inverse].compactMap { $0 } })
                changesRows = true
            case .addAttribute, .require, .relax, .addEntity, .makeConcrete, .addRelationship, .addIndex, .removeIndex, .addUnique,
                .removeUnique:
                break
            }
        }
        vague.formUnion(vague.compactMap { properties[$0] })
    }

    /// Returns the names of both sides of the to-many relationships between entities of which a condition is true.
    private func sides(_ schema: Schema, _ isMeant: (_ owner: String, _ destination: String) -> Bool) -> Set<String> {
        let found = schema.entities.flatMap { entity in
            entity.relationships.filter { $0.cardinality != .toOne && isMeant(entity.name, $0.destination) }
        }
        return Set(found.flatMap { [$0.name, $0.inverse].compactMap { $0 } })
    }

    /// Returns the other side of a relationship, by their names, which are unique.
    private func inverses(_ name: String, _ schema: Schema) -> [String] {
        schema.entities.flatMap(\.relationships).filter { $0.name == name }.compactMap(\.inverse)
    }
}
