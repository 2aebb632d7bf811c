/// The rules that a schema must keep, checked before anything is derived from it.
struct SchemaRules {
    let entities: [Entity]
    let names: [String: Int]
    let configurations: [String: [String]]

    func check() throws(SchemaError) {
        for entity in entities { try check(entity) }
    }

    private func check(_ entity: Entity) throws(SchemaError) {
        _ = entity
    }
}
