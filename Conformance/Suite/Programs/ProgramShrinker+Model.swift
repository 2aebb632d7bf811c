internal import PolystoreStorage

/// Smaller models.
extension ProgramShrinker {
    /// Returns programs over a model without one of its parts. Running a program shows whether it needs the part.
    static func smallerModels(_ program: GraphProgram) -> [GraphProgram] {
        let schema = program.schema
        var result: [GraphProgram] = []
        func add(_ change: (inout [Entity], inout [String: [String]]) -> Void) {
            var entities = schema.entities, configurations = schema.configurations
            change(&entities, &configurations)
            guard let smaller = try? Schema(version: schema.version, entities: entities, configurations: configurations) else { return }
            var copy = program
            copy.schema = smaller
            result.append(copy)
        }
        let steps = "\(program.steps)"
        for entity in schema.entities where !steps.contains("\"\(entity.name)\"") {
            add { entities, configurations in
                entities.removeAll { $0.name == entity.name }
                for name in configurations.keys { configurations[name]?.removeAll { $0 == entity.name } }
            }
        }
        for (index, entity) in schema.entities.enumerated() {
            for relationship in entity.relationships {
                add { entities, _ in
                    for position in entities.indices {
                        entities[position].relationships.removeAll { other in
                            other == relationship || other.inverse == relationship.name && other.name == relationship.inverse
                        }
                    }
                }
            }
            for attribute in entity.attributes {
                add { entities, _ in
                    entities[index].attributes.removeAll { $0.name == attribute.name }
                    entities[index].indexes.removeAll { $0.properties.contains(attribute.name) }
                    entities[index].uniqueConstraints.removeAll { $0.properties.contains(attribute.name) }
                }
            }
            for position in entity.indexes.indices { add { entities, _ in entities[index].indexes.remove(at: position) } }
            for position in entity.uniqueConstraints.indices {
                add { entities, _ in entities[index].uniqueConstraints.remove(at: position) }
            }
            for position in entity.attributes.indices where entity.attributes[position].defaultValue != nil {
                add { entities, _ in entities[index].attributes[position].defaultValue = nil }
            }
            if entity.isAbstract { add { entities, _ in entities[index].isAbstract = false } }
        }
        if !schema.configurations.isEmpty { add { _, configurations in configurations = [:] } }
        return result
    }
}
