import PolystoreSchema
import Testing

/// The way back to the version before: what was renamed goes back to its name, what is only new is lost.
@Suite struct ReturningTests {
    private func schemas(_ old: [Entity], _ new: [Entity]) throws -> (old: Schema, new: Schema) {
        (try Schema(version: "1", entities: old), try Schema(version: "2", entities: new))
    }

    /// The older name of each newer one in the mapping back of the only entity.
    private func origins(_ old: Schema, _ new: Schema) -> [String: String] {
        let mapping = SchemaMapping(from: new, backTo: old)
        var result: [String: String] = [:]
        for part in mapping.entities {
            for (slot, source) in part.slots.enumerated() {
                guard case .slot(let origin, _) = source else { continue }
                result[old[part.destination].slots[slot].name] = new[part.source].slots[origin].name
            }
        }
        return result
    }

    @Test func aRevertRestoresOriginalNames() throws {
        let (old, new) = try schemas(
            [
                Entity("Owner", relationships: [Relationship("pets", to: "Pet", .toMany, inverse: "owners")]),
                Entity(
                    "Pet", attributes: [Attribute("name", .string)],
                    relationships: [Relationship("owners", to: "Owner", .toMany, inverse: "pets")]),
            ],
            [
                Entity("Owner", relationships: [Relationship("animals", to: "Animal", .toMany, inverse: "owners", originalName: "pets")]),
                Entity(
                    "Animal", attributes: [Attribute("label", .string, originalName: "name")],
                    relationships: [Relationship("owners", to: "Owner", .toMany, inverse: "animals")], originalName: "Pet"),
            ])
        let mapping = SchemaMapping(from: new, backTo: old)
        #expect(mapping.destination == old && mapping.source == new)
        #expect(
            mapping.changes.map(\.description) == [
                "entity Animal was renamed to Pet", "Pet.label was renamed to name", "Owner.animals was renamed to pets",
            ])
        #expect(mapping.changes.allSatisfy { $0.effect == .inferred })
        #expect(mapping.entities.count == 2 && origins(old, new) == ["name": "label"])
        // Pairs begin with the entity whose name comes first: Animal comes before Owner, Pet after it.
        #expect(mapping.links == [.link(0, isFlipped: true)])
        // Without the way back the newer names mean nothing to the older version.
        #expect(SchemaMapping(from: new, to: old).changes.contains { $0.loss == "the objects of Animal" })
    }

    @Test func namesThatWereExchangedAreExchangedBack() throws {
        let (old, new) = try schemas(
            [Entity("Note", attributes: [Attribute("a", .string), Attribute("b", .int64)])],
            [Entity("Note", attributes: [Attribute("a", .int64, originalName: "b"), Attribute("b", .string, originalName: "a")])])
        #expect(origins(old, new) == ["a": "b", "b": "a"])
        #expect(
            SchemaMapping(from: new, backTo: old).changes.map(\.description) == [
                "Note.a was renamed to b", "Note.b was renamed to a", "the attributes of Note are declared in another order",
            ])
    }

    @Test func aRevertLosesNewDataAndRestoresRemovedItemsEmpty() throws {
        let (old, new) = try schemas(
            [Entity("Note", attributes: [Attribute("kept", .string), Attribute("gone", .string, isOptional: true)])],
            [Entity("Note", attributes: [Attribute("kept", .string), Attribute("added", .int64, defaultValue: .int(1))]), Entity("Tag")])
        let changes = SchemaMapping(from: new, backTo: old).changes
        #expect(changes.compactMap(\.loss) == ["the values of Note.added", "the objects of Tag"])
        #expect(changes.map(\.path) == ["Note.added", "Note.gone", "Tag"])
    }

    @Test func aHintFromAnEarlierStepIsNotARenameInARevert() throws {
        let kept = Entity("B", attributes: [Attribute("y", .int64, originalName: "x")], originalName: "A")
        var grown = kept
        grown.attributes += [Attribute("x", .int64, isOptional: true)]
        let (old, new) = try schemas([kept], [grown, Entity("A")])
        #expect(origins(old, new) == ["y": "y"])
    }
}
