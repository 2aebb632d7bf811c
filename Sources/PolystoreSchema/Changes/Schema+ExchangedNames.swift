extension Schema {
    /// Returns the paths of the declarations that an older schema of the same hash has under the name of another one, such as `Person.first`.
    ///
    /// The older schema is stored alike, so a store does not notice that its data have other names now.
    package func exchangedNames(since older: Schema) -> [String] {
        if older.hash != hash { return [] }
        func exchanged(_ before: [Renames.Declaration], _ after: [Renames.Declaration]) -> [String] {
            let origins = Renames(from: before, to: after, .forward).origins
            return after.map(\.name).filter { name in origins[name] != name }
        }
        var paths = exchanged(older.entities.map { ($0.name, $0.originalName) }, entities.map { ($0.name, $0.originalName) })
        for (before, after) in zip(older.entities, entities) {
            let names =
                exchanged(before.attributes.map { ($0.name, $0.originalName) }, after.attributes.map { ($0.name, $0.originalName) })
                + exchanged(before.relationships.map { ($0.name, $0.originalName) }, after.relationships.map { ($0.name, $0.originalName) })
            paths += names.map { "\(after.name).\($0)" }
        }
        return paths
    }
}
