/// Collects the changes from one schema to another, entity by entity.
struct SchemaComparison {
    let old: Schema
    let new: Schema
    let direction: Renames.Direction
    let entities: Renames
    var changes: [SchemaChange] = []
    /// The entity of the older version that is being compared.
    private var former: String?

    init(from old: Schema, to new: Schema, _ direction: Renames.Direction) {
        self.old = old
        self.new = new
        self.direction = direction
        entities = Renames(
            from: old.entities.map { ($0.name, $0.originalName) }, to: new.entities.map { ($0.name, $0.originalName) }, direction)
    }

    /// Returns all changes, or an empty array if both schemas have the same stored form.
    static func changes(from old: Schema, to new: Schema, _ direction: Renames.Direction) -> [SchemaChange] {
        if old.hash == new.hash { return [] }
        var comparison = SchemaComparison(from: old, to: new, direction)
        comparison.compareEntities()
        return comparison.changes.isEmpty
            ? [SchemaChange("", "the entities or properties are declared in another order")] : comparison.changes
    }

    /// Records a change.
    ///
    /// - Parameter property: The property of the older version of which data is lost.
    mutating func add(
        _ path: String, _ description: String, _ effect: SchemaChange.Effect = .inferred, of property: String? = nil,
        isAddition: Bool = false
    ) {
        changes.append(
            SchemaChange(path, description, effect, formerEntity: former, formerProperty: property, isAddition: isAddition))
    }

    mutating func compareEntities() {
        for before in old.entities {
            former = before.name
            if let name = entities.successors[before.name], let index = new.index(of: name) {
                compare(before, new.entities[index])
            } else {
                let effect: SchemaChange.Effect = before.isAbstract ? .inferred : .lossy("the objects of \(before.name)")
                add(before.name, "entity \(before.name) was removed", effect)
            }
        }
        former = nil
        for after in new.entities where entities.origins[after.name] == nil { add(after.name, "entity \(after.name) was added") }
    }

    private mutating func compare(_ before: Entity, _ after: Entity) {
        let name = after.name
        if before.name != name { add(name, "entity \(before.name) was renamed to \(name)") }
        if entities.follow([before.parent].compactMap { $0 }) != [after.parent].compactMap({ $0 }) {
            add(
                name, "the parent of \(name) changed from \(before.parent ?? "none") to \(after.parent ?? "none")",
                .undecided("which objects of one hierarchy become objects of the other"))
        }
        if before.isAbstract != after.isAbstract {
            add(
                name, "\(name) became \(after.isAbstract ? "abstract" : "concrete")",
                after.isAbstract ? .undecided("which entity the objects of \(name) itself belong to") : .inferred)
        }
        compareAttributes(before, after)
        compareRelationships(before, after)
        compareRules(before, after)
    }

    // MARK: Indexes and constraints

    private mutating func compareRules(_ before: Entity, _ after: Entity) {
        let properties = Renames(from: Self.properties(before, in: old), to: Self.properties(after, in: new), direction)
        let indexes = before.indexes.map { $0.renaming(properties.successors) }
        for index in indexes where !after.indexes.contains(index) { add(after.name, "\(Self.text(after, index)) was removed") }
        for index in after.indexes where !indexes.contains(index) { add(after.name, "\(Self.text(after, index)) was added") }
        let constraints = before.uniqueConstraints.map { UniqueConstraint(properties.follow($0.properties)) }
        for constraint in constraints where !after.uniqueConstraints.contains(constraint) {
            add(after.name, "the unique constraint \(Self.text(after, constraint.properties)) was removed")
        }
        for constraint in after.uniqueConstraints where !constraints.contains(constraint) {
            let list = constraint.properties.joined(separator: ", ")
            add(
                after.name, "the unique constraint \(Self.text(after, constraint.properties)) was added",
                .conditional("no two objects of \(after.name) have the same \(list)"))
        }
    }

    private static func text(_ entity: Entity, _ index: Index) -> String {
        let kind =
            switch index.kind {
            case .ordered: "index"
            case .fullText: "full-text index"
            }
        return "the \(kind) \(text(entity, index.properties))\(index.condition.map { " where \($0)" } ?? "")"
    }

    private static func text(_ entity: Entity, _ properties: [String]) -> String { "\(entity.name)(\(properties.joined(separator: ", ")))" }

    /// Returns the properties including inherited ones, because an index can name both.
    private static func properties(_ entity: Entity, in schema: Schema) -> [Renames.Declaration] {
        var result: [Renames.Declaration] = []
        var next: Entity? = entity
        while let current = next {
            result += current.attributes.map { ($0.name, $0.originalName) } + current.relationships.map { ($0.name, $0.originalName) }
            next = current.parent.flatMap(schema.index(of:)).map { schema.entities[$0] }
        }
        return result
    }
}
