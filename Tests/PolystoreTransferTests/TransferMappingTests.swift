import Foundation
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Transfers into a target with other names and types.
///
/// The source: layers top (1) and low (2); tags red (1) and blue (2); circles a (1) and b (2) on the layers top and low, a with both tags, b
/// with red; a square q (1025) on top; a note that refers to the circle 7 of another store.
@Suite struct TransferMappingTests {
    private let schema: Schema
    private let source: OpenStore

    private static let elsewhere = "polystore://0b6c5a5e-8f2b-4c59-9a58-5d3a7f1f2a11/"

    init() throws {
        schema = try Schema(
            version: "3",
            entities: [
                Entity(
                    "Shape", isAbstract: true, attributes: [Attribute("name", .string)],
                    relationships: [Relationship("layer", to: "Layer", inverse: "shapes")],
                    indexes: [Index(["name"], kind: .fullText)], uniqueConstraints: [UniqueConstraint(["name"])]),
                Entity(
                    "Circle", parent: "Shape",
                    attributes: [
                        Attribute("radius", .double, defaultValue: .double(1), rules: AttributeRules(minimum: .double(0)))
                    ],
                    relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "circles")], indexes: [Index(["name", "radius"])]),
                Entity("Square", parent: "Shape"),
                Entity(
                    "Layer",
                    attributes: [
                        Attribute("name", .string),
                        Attribute("kind", .int16, defaultValue: .int(1), allowedValues: [.int(1), .int(2)]),
                    ],
                    relationships: [Relationship("shapes", to: "Shape", .toManyOrdered, inverse: "layer", deleteRule: .cascade)],
                    indexes: [Index(["name"], where: "kind == 1 AND (name != 'kind' OR kind != nil)")]),
                Entity(
                    "Tag", attributes: [Attribute("label", .string)],
                    relationships: [Relationship("circles", to: "Circle", .toMany, inverse: "tags")]),
                Entity(
                    "Note",
                    attributes: [
                        Attribute("text", .string),
                        Attribute("elsewhere", .string, isOptional: true, crossReference: CrossReference(to: "Circle")),
                    ]),
            ], configurations: ["drawing": ["Layer", "Shape", "Circle", "Square", "Tag"], "notes": ["Note"]])
        source = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let files = [
            "layers": "name,kind\ntop,1\nlow,2\n", "tags": "label\nred\nblue\n",
            "circles": "name,radius,layer,tags\na,1.5,top,red|blue\nb,0.1,low,red\n", "squares": "name,layer\nq,top\n",
            "notes": "text,elsewhere\n12,\(Self.elsewhere)Shape/7\n",
        ]
        let mapping = """
            {"files": [{"file": "layers", "entity": "Layer"}, {"file": "tags", "entity": "Tag"}, {"file": "notes", "entity": "Note"},
              {"file": "circles", "entity": "Circle", "separator": "|",
               "relationships": {"layer": {"name": "layer"}, "tags": {"label": "tags"}}},
              {"file": "squares", "entity": "Square", "relationships": {"layer": {"name": "layer"}}}]}
            """
        _ = try FileLoader.load(LoadMapping(json: Data(mapping.utf8)), into: source) { name in
            FileBlocks(Data((files[name] ?? "").utf8))
        }
    }

    private let mapping = TransferMapping(
        renames: [
            "Shape": "Figure", "Shape.name": "title", "Shape.layer": "plane", "Circle": "Zone", "Circle.radius": "size",
            "Circle.tags": "aims", "Tag": "Aim", "Tag.circles": "zones", "Layer": "Plane", "Layer.shapes": "figures", "Layer.kind": "date",
            "Note.elsewhere": "zone",
        ],
        types: [
            "Circle.radius": .init(.decimal), "Layer.kind": .init(.int32, becomesOptional: true), "Note.text": .init(.int64),
        ])

    private func options(
        _ mapping: TransferMapping, _ change: (inout TransferOptions) throws -> Void = { _ in }
    ) rethrows -> TransferOptions {
        var options = TransferOptions()
        options.mapping = mapping
        try change(&options)
        return options
    }

    private func target(_ mapping: TransferMapping, _ kind: TestStore = .memory) throws -> OpenStore {
        try OpenStore(opening: kind.make(), OpenRequest(schema: try mapping.schema(for: schema)))
    }

    /// Returns a line for each object, and for each pair of a link table.
    private func contents(_ store: OpenStore) throws -> [String] {
        let reader = try store.beginRead(), schema = store.schema
        defer { reader.end() }
        var lines: [String] = []
        for root in schema.roots {
            let cursor = try reader.cursor(for: FetchPlan(schema, root)), batch = RowBatch()
            while try cursor.next(into: batch) {
                for index in 0..<batch.count {
                    let row = batch.row(index), slots = schema[row.entity].slots
                    let values = slots.indices.map { "\(slots[$0].name)=\(Value(row[$0], as: slots[$0].type)?.description ?? "?")" }
                    lines.append("\(schema.entities[row.entity].name) \(row.key): \(values.joined(separator: " "))")
                }
            }
        }
        for (link, description) in schema.links.enumerated() {
            try reader.links(link, side: .owner, keys: nil) { pairs in
                lines += pairs.map { "\(description.name) \($0.owner)-\($0.member)" }
            }
        }
        return lines
    }

    private func check(_ store: OpenStore) throws {
        var findings: [CheckFinding] = []
        try TransferEngine().check(store) { findings.append($0) }
        #expect(findings.isEmpty)
    }

    private static let copied = [
        "Aim 1: label=\"red\"", "Aim 2: label=\"blue\"", "Zone 1: title=\"a\" plane=1 size=\"1.5\"",
        "Zone 2: title=\"b\" plane=2 size=\"0.1\"",
        "Square 1025: title=\"q\" plane=1", "Note 1: text=12 zone=\"\(elsewhere)Figure/7\"", "Plane 1: name=\"top\" date=1",
        "Plane 2: name=\"low\" date=2", "Aim.zones 1-1", "Aim.zones 1-2", "Aim.zones 2-1", "Plane.figures 1-1", "Plane.figures 1-1025",
        "Plane.figures 2-2",
    ]

    @Test func everyMentionOfANameIsRenamed() throws {
        let expected = try Schema(
            version: "3",
            entities: [
                Entity(
                    "Figure", isAbstract: true, attributes: [Attribute("title", .string, originalName: "name")],
                    relationships: [Relationship("plane", to: "Plane", inverse: "figures", originalName: "layer")],
                    indexes: [Index(["title"], kind: .fullText)], uniqueConstraints: [UniqueConstraint(["title"])], originalName: "Shape"),
                Entity(
                    "Zone", parent: "Figure",
                    attributes: [
                        Attribute(
                            "size", .decimal, defaultValue: .decimal(1), rules: AttributeRules(minimum: .decimal(0)), originalName: "radius"
                        )
                    ],
                    relationships: [Relationship("aims", to: "Aim", .toMany, inverse: "zones", originalName: "tags")],
                    indexes: [Index(["title", "size"])], originalName: "Circle"),
                Entity("Square", parent: "Figure"),
                Entity(
                    "Plane",
                    attributes: [
                        Attribute("name", .string),
                        Attribute(
                            "date", .int32, isOptional: true, defaultValue: .int(1), allowedValues: [.int(1), .int(2)], originalName: "kind"
                        ),
                    ],
                    relationships: [
                        Relationship(
                            "figures", to: "Figure", .toManyOrdered, inverse: "plane", deleteRule: .cascade, originalName: "shapes")
                    ],
                    // A name that is also a word of conditions is marked.
                    indexes: [Index(["name"], where: "#date == 1 AND (name != 'kind' OR #date != nil)")], originalName: "Layer"),
                Entity(
                    "Aim", attributes: [Attribute("label", .string)],
                    relationships: [Relationship("zones", to: "Zone", .toMany, inverse: "aims", originalName: "circles")],
                    originalName: "Tag"),
                Entity(
                    "Note",
                    attributes: [
                        Attribute("text", .int64),
                        Attribute("zone", .string, isOptional: true, crossReference: CrossReference(to: "Zone"), originalName: "elsewhere"),
                    ]),
            ], configurations: ["drawing": ["Plane", "Figure", "Zone", "Square", "Aim"], "notes": ["Note"]])
        let mapped = try mapping.schema(for: schema)
        #expect(mapped == expected)
        // The tags own the pairs now, because their entity is the first one.
        #expect(schema.links.map(\.name) == ["Layer.shapes", "Circle.tags"] && mapped.links.map(\.name) == ["Aim.zones", "Plane.figures"])
    }

    @Test(arguments: TestStore.all) func aTargetHasTheNewNamesAndTypes(_ kind: TestStore) throws {
        let target = try target(mapping, kind)
        let report = try TransferEngine().transfer(from: source, to: target, options(mapping))
        #expect(try contents(target) == Self.copied)
        #expect(report.isVerified && report.changedValues.isEmpty && report.items.map(\.name).prefix(2) == ["Aim", "Figure"])
        try check(target)
        try target.erase()
    }

    @Test(arguments: TestStore.all) func aTargetWithObjectsIsMergedUnderTheMapping(_ kind: TestStore) throws {
        let target = try target(mapping, kind)
        let part = try options(mapping) {
            $0.selection.only = ["Circle"]
            $0.selection.conditions = ["Circle": try QueryPredicate(parsing: "name == 'b'")]
            $0.selection.followsReferences = true
        }
        let first = try TransferEngine().transfer(from: source, to: target, part)
        #expect(first.omittedMembers == ["Circle.tags": 1])
        #expect(
            try contents(target) == ["Zone 2: title=\"b\" plane=2 size=\"0.1\"", "Plane 2: name=\"low\" date=2", "Plane.figures 2-2"])
        var merging = part
        merging.existing = .merge
        merging.selection.conditions = [:]
        merging.selection.only = ["Shape", "Tag"]
        _ = try TransferEngine().transfer(from: source, to: target, merging)
        #expect(try contents(target) == Self.copied.filter { !$0.hasPrefix("Note") })
        _ = try TransferEngine().transfer(from: source, to: target, options(mapping) { $0.existing = .replace })
        #expect(try contents(target) == Self.copied)
        try check(target)
        try target.erase()
    }

    @Test func aTargetHasExactlyTheMappedModel() throws {
        let other = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: other, options(mapping)) }
        #expect(error?.code == .schemaMismatch && error?.message.contains("the mapped model of the source") == true)
    }

    /// A mapping that does not fit, with a part of the message.
    struct Misfit: Sendable, CustomTestStringConvertible {
        let mapping: TransferMapping
        let message: String

        init(_ renames: [String: String], types: [String: ValueType] = [:], _ message: String) {
            mapping = TransferMapping(renames: renames, types: types.mapValues { .init($0) })
            self.message = message
        }

        var testDescription: String { message }

        static let all = [
            Misfit(["Shap": "Figure"], #"the source has no entity "Shap"; did you mean "Shape"?"#),
            Misfit(["Shape.nam": "title"], #"Shape has no property "nam"; did you mean "name"?"#),
            Misfit(["Circle.name": "title"], #"Circle inherits name from Shape; did you mean "Shape.name"?"#),
            Misfit(["Shape": "Tag"], #"the entities Shape and Tag would both be called "Tag""#),
            Misfit(["Shape.name": "radius"], #"Circle.name and Circle.radius would both be called "radius""#),
            Misfit(["Shape": "2D"], #""2D" is not a valid name"#),
            Misfit([:], types: ["Shape": .string], "Shape is an entity; only an attribute can have another type"),
            Misfit([:], types: ["Shape.layer": .string], "Shape.layer is a relationship"),
            Misfit([:], types: ["Note.elsewhere": .url], "Note.elsewhere refers to objects of other stores"),
            Misfit(
                [:], types: ["Circle.radius": .date],
                "cannot be converted from double to date, only to bool, int16, int32, int64, float, decimal, string"),
            Misfit([:], types: ["Circle.radius": .string], "has a minimum or maximum, which has no meaning for the type string"),
            Misfit([:], types: ["Layer.kind": .bool], "an allowed value of Layer.kind, 2, cannot be converted to bool exactly"),
            Misfit([:], types: ["Layer.kind": .string], "index condition: kind cannot be compared with this constant"),
            Misfit([:], types: ["Shape.name": .int64], "a full-text index must have exactly one property, an attribute of type string"),
        ]
    }

    /// A length counts bytes of data, and characters of texts.
    @Test func aTypeWithAnotherUnitOfLengthIsRefused() throws {
        let model = try Schema(entities: [
            Entity(
                "T",
                attributes: [
                    Attribute("b", .data, isOptional: true, rules: AttributeRules(maxLength: 3)),
                    Attribute("s", .string, isOptional: true, rules: AttributeRules(minLength: 4)),
                ])
        ])
        for (path, type) in [("T.b", ValueType.string), ("T.s", .data)] {
            let mapping = TransferMapping(types: [path: TransferMapping.AttributeType(type)])
            let error = #expect(throws: StorageError.self) { try mapping.schema(for: model) }
            #expect(error?.message.contains("least or greatest length") == true)
        }
        _ = try TransferMapping(types: ["T.s": TransferMapping.AttributeType(.url)]).schema(for: model)
    }

    @Test(arguments: Misfit.all) func aMappingThatDoesNotFitIsRefused(_ misfit: Misfit) {
        let error = #expect(throws: StorageError.self) { try misfit.mapping.schema(for: schema) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains(misfit.message) == true, "\(String(describing: error))")
    }

    @Test func namesAreExchanged() throws {
        let mapping = TransferMapping(renames: ["Layer": "Tag", "Tag": "Layer", "Layer.name": "kind", "Layer.kind": "name"])
        let target = try target(mapping)
        _ = try TransferEngine().transfer(from: source, to: target, options(mapping))
        let lines = try contents(target)
        #expect(lines.contains("Tag 2: kind=\"low\" name=2") && lines.contains("Layer 2: label=\"blue\""))
        // A program whose model has the original names as well does not exchange them again.
        #expect(try target.schema.exchangedNames(since: mapping.schema(for: schema)).isEmpty)
    }

    @Test(arguments: TestStore.all) func aValueWithoutAnExactEquivalentIsRefusedOrAccepted(_ kind: TestStore) throws {
        var mapping = TransferMapping(types: ["Circle.radius": .init(.float), "Tag.label": .init(.int64)])
        let target = try target(mapping, kind)
        let refused = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, options(mapping)) }
        #expect(refused?.code == .dataLossRefused && refused?.details.property == "radius" && refused?.details.keys == [2])
        #expect(
            refused?.message
                == "Circle.radius of object 2 is 0.1, which has no exact equivalent of type float; accept the nearest values with "
                + "--accept-loss 'Circle.radius'; Tag.label of object 1 is \"red\", which has no exact equivalent of type int64 (nor has 1 "
                + "other value); make the attribute optional with --type 'Tag.label=int64?', and accept the nearest values with --accept-loss "
                + "'Tag.label'")
        #expect(try contents(target).isEmpty)
        let accepted: Set = ["Circle.radius", "Tag.label"]
        let required = #expect(throws: StorageError.self) {
            try TransferEngine().transfer(from: source, to: target, options(mapping) { $0.acceptedLosses = accepted })
        }
        #expect(required?.message.hasPrefix("Tag.label of object 1") == true)
        try target.erase()
        mapping.types["Tag.label"]?.becomesOptional = true
        let optional = try self.target(mapping, kind)
        let report = try TransferEngine().transfer(from: source, to: optional, options(mapping) { $0.acceptedLosses = accepted })
        #expect(report.changedValues == ["Circle.radius": 1, "Tag.label": 2] && report.isVerified)
        let lines = try contents(optional)
        #expect(lines.contains("Circle 2: name=\"b\" layer=2 radius=\(Double(Float(0.1)))") && lines.contains("Tag 1: label=null"))
        try optional.erase()
    }

    @Test func onlyCopiedObjectsNeedExactEquivalents() throws {
        let mapping = TransferMapping(types: ["Circle.radius": .init(.float)]), target = try target(mapping)
        let selected = try options(mapping) {
            $0.selection.only = ["Circle"]
            $0.selection.conditions = ["Circle": try QueryPredicate(parsing: "radius > 1")]
            $0.selection.followsReferences = true
        }
        #expect(try TransferEngine().transfer(from: source, to: target, selected).changedValues.isEmpty)
        #expect(try contents(target).contains("Circle 1: name=\"a\" layer=1 radius=1.5"))
        var merging = selected
        merging.existing = .append
        merging.selection.conditions = ["Circle": try QueryPredicate(parsing: "radius < 1")]
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, merging) }
        #expect(error?.code == .dataLossRefused && error?.details.keys == [2])
        merging.acceptedLosses = ["Circle.radius"]
        #expect(try TransferEngine().transfer(from: source, to: target, merging).changedValues == ["Circle.radius": 1])
    }

    @Test func aPlanShowsTheMapping() throws {
        let mapping = TransferMapping(renames: ["Circle": "Zone", "Circle.radius": "size"], types: ["Circle.radius": .init(.float)])
        let reader = try source.beginRead()
        defer { reader.end() }
        let plan = try TransferPlan(reader, to: nil, options(mapping), nil) { _ in }
        #expect(plan.items.map(\.name) == ["Layer", "Note", "Shape", "Tag", "Layer.shapes", "Tag.circles"])
        #expect(plan.items.map(\.count) == [2, 1, 3, 2, 3, 3] && plan.items.allSatisfy { $0.problem == nil })
        #expect(plan.renames.map(\.newPath) == ["Zone", "Zone.size"])
        #expect(plan.casts.map(\.path) == ["Circle.radius"] && plan.casts.map(\.count) == [1])
        #expect(plan.casts.map(\.type) == ["double"] && plan.casts.map(\.newType) == ["float"])
        #expect(plan.refusals.count == 1)
    }

    @Test func aCopyIsContinuedOnlyUnderTheSameMapping() throws {
        let many = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let lines = (1...20_000).map { "n\($0)" }.joined(separator: "\n")
        _ = try FileLoader.load(LoadMapping(files: [LoadMapping.file("tags.csv", entity: "Tag")]), into: many) { _ in
            FileBlocks(Data("label\n\(lines)\n".utf8))
        }
        // Both give the target the same model.
        let mapping = TransferMapping(renames: ["Tag": "Aim", "Layer.name": "a"], types: ["Tag.label": .init(.string)])
        let other = TransferMapping(renames: ["Tag": "Aim", "Layer.name": "a"])
        let target = try target(mapping)
        #expect(try other.schema(for: schema) == target.schema)
        func steps(_ mapping: TransferMapping) -> TransferOptions {
            options(mapping) {
                $0.source = "memory:a"
                $0.step = .zero
            }
        }
        let limit = WorkLimit()
        let cancelled = #expect(throws: StorageError.self) {
            try TransferEngine(limit: limit).transfer(from: many, to: target, steps(mapping)) { if $0.allDone > 1 { limit.cancel() } }
        }
        #expect(cancelled?.code == .cancelled)
        let refused = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: many, to: target, steps(other)) }
        #expect(refused?.code == .alreadyExists)
        let report = try TransferEngine().transfer(from: many, to: target, steps(mapping))
        #expect(report.continued > 0 && report.items.first { $0.name == "Aim" }?.digest.count == 20_000)
        #expect(try TransferEngine().transfer(from: many, to: target, steps(mapping)).wasComplete)
    }

    @Test func anAttributeBecomesOptionalAndKeepsItsType() throws {
        let mapping = TransferMapping(types: ["Tag.label": .init(.string, becomesOptional: true), "Note.elsewhere": .init(.string)])
        let target = try target(mapping)
        let label = try #require(target.schema.entities.first { $0.name == "Tag" }).attributes[0]
        #expect(label.isOptional && label.type == .string)
        let report = try TransferEngine().transfer(from: source, to: target, options(mapping))
        #expect(try report.changedValues.isEmpty && contents(target) == contents(source))
    }

    @Test(arguments: TestStore.all) func valuesThatBecomeEqualViolateAUniqueConstraint(_ kind: TestStore) throws {
        let codes = try Schema(entities: [
            Entity("Code", attributes: [Attribute("text", .string)], uniqueConstraints: [UniqueConstraint(["text"])])
        ])
        let source = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: codes))
        _ = try FileLoader.load(LoadMapping(files: [LoadMapping.file("codes.csv", entity: "Code")]), into: source) { _ in
            FileBlocks(Data("text\n7\n07\n".utf8))
        }
        let mapping = TransferMapping(types: ["Code.text": .init(.int16)])
        let target = try OpenStore(opening: kind.make(), OpenRequest(schema: try mapping.schema(for: codes)))
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, options(mapping)) }
        #expect(error?.code == .uniqueConstraintViolated)
        #expect(try contents(target).isEmpty)
        try target.erase()
    }
}
