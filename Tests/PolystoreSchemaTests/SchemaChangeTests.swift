import PolystoreSchema
import Testing

/// What follows from two versions of a model, what would be lost, and what has to be decided.
@Suite struct SchemaChangeTests {
    private func changes(_ old: [Entity], _ new: [Entity]) throws -> [SchemaChange] {
        try Schema(version: "2", entities: new).changes(since: Schema(version: "1", entities: old))
    }

    /// The changes of one attribute of a type to another form of it.
    private func changes(_ old: Attribute, _ new: Attribute) throws -> [SchemaChange] {
        try changes([Entity("Note", attributes: [old])], [Entity("Note", attributes: [new])])
    }

    private func changes(_ old: Relationship, _ new: Relationship) throws -> [SchemaChange] {
        try changes([Entity("Note", relationships: [old])], [Entity("Note", relationships: [new])])
    }

    @Test func differencesThatAreNotStoredAreNotChanges() throws {
        let rules = AttributeRules(minimum: .int(0))
        #expect(try changes(Attribute("a", .int64), Attribute("a", .int64, defaultValue: .int(1), rules: rules)) == [])
    }

    @Test func entitiesAreAddedRemovedAndRenamed() throws {
        let found = try changes(
            [Entity("Kept"), Entity("Old"), Entity("Shape", isAbstract: true), Entity("Ended")],
            [Entity("Kept"), Entity("New", originalName: "Old"), Entity("Added")])
        #expect(
            found.map(\.description) == [
                "entity Ended was removed", "entity Old was renamed to New", "entity Shape was removed", "entity Added was added",
            ])
        #expect(found.map(\.effect) == [.lossy("the objects of Ended"), .inferred, .inferred, .inferred])
        #expect(found.map(\.loss) == ["the objects of Ended", nil, nil, nil] && found.map(\.path) == ["Ended", "New", "Shape", "Added"])
    }

    @Test func referencesFollowARenamedEntity() throws {
        let found = try changes(
            [
                Entity("Owner", relationships: [Relationship("pets", to: "Pet", .toMany, inverse: "owner")]),
                Entity("Pet", relationships: [Relationship("owner", to: "Owner", inverse: "pets")]), Entity("Pup", parent: "Pet"),
            ],
            [
                Entity("Owner", relationships: [Relationship("animals", to: "Animal", .toMany, inverse: "owner", originalName: "pets")]),
                Entity("Animal", relationships: [Relationship("owner", to: "Owner", inverse: "animals")], originalName: "Pet"),
                Entity("Pup", parent: "Animal"),
            ])
        #expect(found.map(\.description) == ["Owner.pets was renamed to animals", "entity Pet was renamed to Animal"])
    }

    @Test func aHintFromAnEarlierStepIsNotARename() throws {
        let left = Entity("B", attributes: [Attribute("y", .int64, originalName: "x")], originalName: "A")
        var right = left
        right.attributes += [Attribute("x", .int64, isOptional: true)]
        let found = try changes([left], [right, Entity("A")])
        #expect(found.map(\.description) == ["attribute B.x was added", "entity A was added"])
    }

    @Test func twoNamesCanBeExchanged() throws {
        let found = try changes(
            [Entity("Note", attributes: [Attribute("a", .string), Attribute("b", .int64)])],
            [Entity("Note", attributes: [Attribute("b", .string, originalName: "a"), Attribute("a", .int64, originalName: "b")])])
        #expect(found.map(\.description) == ["Note.a was renamed to b", "Note.b was renamed to a"])
        #expect(found.allSatisfy { $0.effect == .inferred })
    }

    @Test(
        arguments: [
            (.int16, .int32), (.int16, .float), (.int32, .int64), (.int32, .double), (.int64, .decimal), (.float, .double), (.url, .string),
        ] as [(ValueType, ValueType)])
    func widerTypesAreInferred(_ old: ValueType, _ new: ValueType) throws {
        let wider = try changes(Attribute("a", old), Attribute("a", new))
        #expect(wider.map(\.description) == ["Note.a changed from \(old.rawValue) to \(new.rawValue)"] && wider[0].effect == .inferred)
        let back = try changes(Attribute("a", new), Attribute("a", old))[0].effect
        if old.isInteger, new.isInteger {
            #expect(back == .conditional("every value of Note.a is in the range of \(old.rawValue)"))
        } else {
            #expect(back == .undecided("what becomes of a value of Note.a that cannot be converted to \(old.rawValue)"))
        }
    }

    @Test(arguments: [(.int64, .double), (.int32, .float), (.string, .data), (.bool, .int16), (.date, .int64)] as [(ValueType, ValueType)])
    func otherTypesAreToBeDecided(_ old: ValueType, _ new: ValueType) throws {
        let found = try changes(Attribute("a", old), Attribute("a", new))
        #expect(found.map(\.effect) == [.undecided("what becomes of a value of Note.a that cannot be converted to \(new.rawValue)")])
    }

    @Test func requiredAttributesNeedADefault() throws {
        let optional = Attribute("a", .int64, isOptional: true), required = Attribute("a", .int64)
        let filled = Attribute("a", .int64, defaultValue: .int(0))
        #expect(try changes(required, optional).map(\.description) == ["Note.a became optional"])
        #expect(try changes(required, optional)[0].effect == .inferred && changes(optional, filled)[0].effect == .inferred)
        #expect(try changes(optional, required)[0].effect == .conditional("Note.a is not nil in any object, as it has no default"))
        let none = [Entity("Note")]
        func added(_ attribute: Attribute) throws -> SchemaChange { try changes(none, [Entity("Note", attributes: [attribute])])[0] }
        #expect(try added(optional).effect == .inferred && added(filled).effect == .inferred)
        #expect(try added(required).effect == .undecided("its value in existing objects, as it has no default"))
        #expect(try changes([Entity("Note", attributes: [required])], none)[0].effect == .lossy("the values of Note.a"))
    }

    @Test func allowedValuesAndCodersChange() throws {
        func limited(_ values: [Int64]) -> Attribute { Attribute("a", .int64, allowedValues: values.map { .int($0) }) }
        #expect(
            try changes(limited([1]), limited([2, 1]))[0].effect == .inferred && changes(limited([1]), limited([]))[0].effect == .inferred)
        #expect(try changes(limited([]), limited([1]))[0].effect == .conditional("no object has another value in Note.a"))
        #expect(try changes(limited([1, 2]), limited([1]))[0].effect == .conditional("no object has another value in Note.a"))
        #expect(try !changes(Attribute("a", .data), Attribute("a", .data, coder: "json"))[0].isInferable)
    }

    @Test func anAttributeThatMovesToTheParentKeepsItsValues() throws {
        let name = Attribute("name", .string)
        let below = [
            Entity("Animal", isAbstract: true), Entity("Cat", parent: "Animal", attributes: [name]),
            Entity("Dog", parent: "Animal", attributes: [name]),
        ]
        let above = [
            Entity("Animal", isAbstract: true, attributes: [name]), Entity("Cat", parent: "Animal"), Entity("Dog", parent: "Animal"),
        ]
        let up = try changes(below, above), down = try changes(above, below)
        #expect(up.count == 3 && up.allSatisfy { $0.effect == .inferred })
        #expect(down.count == 3 && down.allSatisfy { $0.effect == .inferred })
        // Where one of them did not have it, it needs a value there; where one no longer has it, it is lost there.
        var some = below
        some[2].attributes = []
        #expect(try changes(some, above).map(\.isInferable) == [false, true])
        #expect(try changes(above, some).compactMap(\.loss) == ["the values of Animal.name"])
    }

    @Test func parentsAreToBeDecided() throws {
        let found = try changes([Entity("A"), Entity("B")], [Entity("A"), Entity("B", parent: "A")])
        #expect(found.map(\.description) == ["the parent of B changed from none to A"] && !found[0].isInferable)
        #expect(try !changes([Entity("A")], [Entity("A", isAbstract: true)])[0].isInferable)
        #expect(try changes([Entity("A", isAbstract: true)], [Entity("A")])[0].effect == .inferred)
    }

    @Test func relationshipsChangeTheirForm() throws {
        func form(_ cardinality: Cardinality, _ isOptional: Bool = true, _ rule: DeleteRule = .nullify) -> Relationship {
            Relationship("r", to: "Note", cardinality, isOptional: isOptional, deleteRule: rule)
        }
        #expect(try changes(form(.toOne), form(.toMany))[0].effect == .inferred)
        #expect(try changes(form(.toMany), form(.toManyOrdered))[0].effect == .inferred)
        #expect(try changes(form(.toManyOrdered), form(.toMany))[0].effect == .lossy("the order of Note.r"))
        #expect(try changes(form(.toMany), form(.toOne))[0].effect == .undecided("which of several related objects it keeps"))
        #expect(try changes(form(.toOne), form(.toOne, false))[0].effect == .conditional("every object has a related object in Note.r"))
        #expect(
            try changes(form(.toOne), form(.toOne, true, .cascade)).map(\.description)
                == ["the delete rule of Note.r changed from nullify to cascade"])
    }

    @Test func pairsStayOnTheSideThatStays() throws {
        func pair(_ a: [Relationship], _ b: [Relationship]) -> [Entity] { [Entity("A", relationships: a), Entity("B", relationships: b)] }
        let both = pair([Relationship("b", to: "B", inverse: "a")], [Relationship("a", to: "A", .toMany, inverse: "b")])
        let one = pair([Relationship("b", to: "B")], []), neither = pair([], [])
        let half = try changes(both, one)
        #expect(half.map(\.description) == ["relationship B.a was removed"])
        #expect(half.allSatisfy { $0.effect == .inferred })
        #expect(try changes(one, neither)[0].effect == .lossy("the references of A.b"))
        #expect(try changes(one, both).allSatisfy { $0.effect == .inferred })
        let single = pair([Relationship("b", to: "B", inverse: "a")], [Relationship("a", to: "A", inverse: "b")])
        #expect(try changes(one, single).map(\.effect) == [.conditional("no two objects refer to the same object by A.b"), .inferred])
        let apart = pair([Relationship("b", to: "B")], [Relationship("a", to: "A", .toMany)])
        #expect(try changes(apart, both)[0].effect == .undecided("which pairs of the two relationships are kept"))
        let required = pair([Relationship("b", to: "B", isOptional: false)], [])
        #expect(try changes(neither, required)[0].effect == .undecided("the related objects of existing objects"))
    }

    @Test func destinationsMayBecomeWider() throws {
        func model(_ destination: String) -> [Entity] {
            [
                Entity("Animal"), Entity("Dog", parent: "Animal"), Entity("Home", relationships: [Relationship("pet", to: destination)]),
            ]
        }
        #expect(try changes(model("Dog"), model("Animal"))[0].effect == .inferred)
        #expect(try changes(model("Animal"), model("Dog"))[0].effect == .undecided("which objects of Dog it refers to"))
    }

    @Test func indexesAndConstraintsFollowRenamedProperties() throws {
        let old = Entity(
            "Note", attributes: [Attribute("a", .string), Attribute("b", .int64)], indexes: [Index(["a"]), Index(["b"])],
            uniqueConstraints: [UniqueConstraint(["a"])])
        let new = Entity(
            "Note", attributes: [Attribute("c", .string, originalName: "a"), Attribute("b", .int64)], indexes: [Index(["c"])],
            uniqueConstraints: [UniqueConstraint(["c"]), UniqueConstraint(["b", "c"])])
        let found = try changes([old], [new])
        #expect(
            found.map(\.description) == [
                "Note.a was renamed to c", "the index Note(b) was removed", "the unique constraint Note(b, c) was added",
            ])
        #expect(found.map(\.effect) == [.inferred, .inferred, .conditional("no two objects of Note have the same b, c")])
    }

    @Test func conditionsOfIndexesFollowRenamedProperties() throws {
        func note(_ flag: Attribute, _ other: Attribute, _ condition: String) -> Entity {
            Entity("Note", attributes: [Attribute("text", .string), flag, other], indexes: [Index(["text"], where: condition)])
        }
        let old = note(Attribute("a", .int64), Attribute("b", .int64, isOptional: true), "a == 1 AND text != \"a\"")
        let renamed = note(
            Attribute("c", .int64, originalName: "a"), Attribute("b", .int64, isOptional: true), "c == 1 AND text != \"a\"")
        #expect(try changes([old], [renamed]).map(\.description) == ["Note.a was renamed to c"])
        // The same text, about another attribute.
        let swapped = note(
            Attribute("b", .int64, originalName: "a"), Attribute("a", .int64, isOptional: true, originalName: "b"),
            "a == 1 AND text != \"a\"")
        let found = try changes([old], [swapped]).map(\.description)
        #expect(found.contains("the index Note(text) where b == 1 AND text != \"a\" was removed"), "\(found)")
        #expect(found.contains("the index Note(text) where a == 1 AND text != \"a\" was added"), "\(found)")
    }

    @Test func theOrderOfDeclarationsIsAChange() throws {
        let a = Attribute("a", .int64), b = Attribute("b", .int64)
        let found = try changes([Entity("Note", attributes: [a, b])], [Entity("Note", attributes: [b, a])])
        #expect(found.map(\.description) == ["the attributes of Note are declared in another order"])
        let r = Relationship("r", to: "Note"), s = Relationship("s", to: "Note")
        let other = try changes([Entity("Note", relationships: [r, s])], [Entity("Note", relationships: [s, r])])
        #expect(other.map(\.description) == ["the entities or properties are declared in another order"])
    }
}
