#if Macros
import Foundation
import PolystoreModelCode
import PolystoreSchema
import Testing

/// What the compiler says of a model class with something wrong in it: one sentence, where it is.
@Suite struct DiagnosticTests {
    private func errors(_ members: String, before: String = "") throws -> [String] {
        // The members begin on line 1.
        try Compiler.errors(
            in:
                "@Model final class Thing: ManagedObject { \(members)\n}\n\(before)\n@Model final class Other: ManagedObject { var name: String = \"\" }\n"
                + "import Foundation\nimport PolystoreMacros\n")
    }

    @Test func aForgottenRelationshipIsNamed() throws {
        let object = "1: '_accept' is unavailable: a property that refers to an object needs @Relationship and must be optional"
        #expect(try errors("var one: Other?") == [object])
        #expect(try errors("var one: Other") == [object])
        #expect(try errors("var name: String = \"\"\n/// Another.\nvar one:\nOther?").map { $0.prefix(12) } == ["3: '_accept'"])
        #expect(
            try errors("var all: [Other] = []")
                == ["1: '_accept' is unavailable: a property that refers to objects needs @Relationship"])
        #expect(
            try errors("var all: [Other]?") == [
                "1: '_accept' is unavailable: a property that refers to objects needs @Relationship and cannot be optional: without objects "
                    + "it is empty"
            ])
    }

    @Test func aConditionInAClosureIsDiagnosed() throws {
        let request = "let request = From<Other>().where { $0.name == \"x\" }"
        let found = try errors("var name: String = \"\"", before: request)
        #expect(found.count == 1 && found[0].contains("stores do not run closures; write where(\\.age > 30)"), "\(found)")
    }

    @Test(arguments: ["Tr\"y.swift", "Tr\\y.swift", "Tr y.swift"]) func aModelCompilesInAFileOfAnyName(_ name: String) throws {
        let text = "@Model final class Thing: ManagedObject { var name: String = \"\" }\nimport Foundation\nimport PolystoreMacros\n"
        #expect(try Compiler.errors(in: text, file: name) == [])
    }

    @Test(arguments: [
        "enum Size { case small }", "enum Size: String { case small }", "enum Size: Int, CaseIterable, Codable { case small }",
        "enum Size: UInt8, CaseIterable { case small }", "enum Size { case small, other(Int) }",
        "final class Size: Sendable { static let small = Size() }",
        "struct Size: OptionSet { let rawValue: Int; static let small = Size(rawValue: 1) }",
    ])
    func aTypeThatCannotBeStoredIsDiagnosedOnceAtTheProperty(_ declaration: String) throws {
        try expect(
            """
            Size is not an attribute type: an enum needs a raw value, AttributeValue and CaseIterable, such as enum Size: String, \
            AttributeValue, CaseIterable, and another type CodedAttributeValue, with static var placeholder: Size; mark a property that is not stored with @Transient
            """, for: declaration)
    }

    @Test(arguments: [
        "enum Size: String, AttributeValue { case small }", "enum Size: Int, Codable, AttributeValue { case small }",
        "struct Size: RawRepresentable, AttributeValue { let rawValue: Int; static let small = Size(rawValue: 1) }",
    ])
    func aTypeWithoutPlaceholderIsDiagnosedOnceAtTheProperty(_ declaration: String) throws {
        try expect(
            """
            Size needs a placeholder: an enum must also conform to CaseIterable, such as enum Size: String, AttributeValue, CaseIterable, and \
            another type must declare static var placeholder: Size
            """, for: declaration)
    }

    private func expect(_ message: String, for declaration: String) throws {
        for member in ["var size: Size = .small", "var size: Size?", "@Attribute(.indexed) var size: [Size?] = []"] {
            #expect(
                try errors("var name: String = \"\"\n\(member)\nvar last: Int = 0", before: declaration)
                    == ["2: '_accept' is unavailable: \(message)"])
        }
    }

    @Test func aConformanceThatIsDeclaredAndImpossibleIsDiagnosedOnce() throws {
        for declaration in [
            "enum Size: AttributeValue, CaseIterable { case small }", "enum Size: AttributeValue { case small, other(Int) }",
            "enum Size: UInt8, AttributeValue, CaseIterable { case small }", "enum Size: CodedAttributeValue { case small, other(Int) }",
        ] {
            #expect(
                try errors("var size: Size = .small", before: declaration)
                    == ["3: type 'Size' does not conform to protocol 'AttributeValue'"])
        }
    }

    @Test func aTypeWithItsOwnPlaceholderCompiles() throws {
        for declaration in [
            "enum Size: String, AttributeValue { case small; static let placeholder = Size.small }",
            "struct Size: RawRepresentable, AttributeValue { let rawValue: Int; static var placeholder: Size { .small }; static let small = Size(rawValue: 1) }",
            "struct Size: OptionSet, AttributeValue { let rawValue: Int; static let small = Size(rawValue: 1) }",
            "protocol Sized: AttributeValue {}; extension Sized { static var placeholder: Self { fatalError() } }; enum Size: Int, Sized { case small }",
            "enum Size: CodedAttributeValue { case small, other(Int); static var placeholder: Size { .small } }",
        ] {
            #expect(try errors("var size: Size = .small\nvar sizes: [Size]\nvar other: Size?", before: declaration) == [])
        }
    }

    @Test func theDocumentedEnumCompiles() throws {
        #expect(try errors("var size: Size", before: "enum Size: String, AttributeValue, CaseIterable { case small, large }") == [])
        #expect(try errors("var size: Size?", before: "enum Size: Int, AttributeValue, CaseIterable, Codable { case small }") == [])
    }

    @Test func anInitialiserOfTheClassIsDiagnosed() throws {
        let found = try errors("var name: String = \"\"\ninit(name: String) { self.name = name }")
        #expect(
            found.count == 1
                && found[0].hasPrefix("2: a model class cannot have a designated initialiser: create objects with transaction.create"))
        let convenience = "convenience init(_ name: String, _ t: BaseTransaction) throws { try self.init(context: t); self.name = name }"
        #expect(try errors("var name: String = \"\"\n\(convenience)") == [])
    }

    @Test(arguments: [
        ("let name: String = \"\"", "name must be a var: a let cannot be loaded from the store"),
        (
            "var name = makeName()",
            "name requires a type annotation: a macro can infer the type of a literal and of a value such as Date(), and no other"
        ),
        ("var a: Int = 1, b: Int = 2", "declare a and the properties after it each with a separate var"),
        (
            "var name: String = \"\" { willSet {} }",
            "a stored property of a model cannot have observers; mark it @Transient, or observe the object with a publisher"
        ),
        (
            "@Attribute(key: name) var x: Int = 0\nstatic let name = \"y\"",
            "key must be a string literal: a macro cannot evaluate names"
        ),
        (
            "#if true\nvar hidden: Int?\n#endif\nvar name: String = \"\"",
            "hidden must be declared outside of #if: a macro cannot determine which branch is compiled"
        ),
        ("@Relationship var other: Other", "the relationship other must have the type T?, Set<T> or [T]"),
        (
            "var tags: Set<String> = []",
            "tags cannot be a Set of String, which is not a model class: use an array, [String], or a Codable value that conforms to "
                + "CodedAttributeValue"
        ),
        (
            "var days: Swift.Set<Foundation.Date>?",
            "days cannot be a Set of Foundation.Date, which is not a model class: use an array, [Foundation.Date], or a Codable value that "
                + "conforms to CodedAttributeValue"
        ),
        (
            "@Relationship var names: [String] = []",
            "the relationship names cannot have the destination String, which is not a model class: remove @Relationship"
        ),
        (
            "@Relationship var others: [Other]?",
            "the relationship others cannot be optional: without objects it is empty, and not nil; write [Other]"
        ),
        (
            "@Relationship(deleteRule: .cascade) var others: Optional<Array<Other>> = nil",
            "the relationship others cannot be optional: without objects it is empty, and not nil; write [Other]"
        ),
        (
            "var others: Set<Other>?",
            "the relationship others cannot be optional: without objects it is empty, and not nil; write Set<Other>"
        ),
        (
            "var size: (Int, Int) = (0, 0)",
            "size has a type that cannot be stored: use several properties or a CodedAttributeValue, or mark it @Transient"
        ),
    ])
    func oneSentenceAtTheProperty(_ members: String, _ message: String) throws {
        let found = try errors(members).filter { !$0.contains("cannot find") && !$0.contains("instance member") }
        #expect(found.count == 1 && found[0].hasSuffix(": \(message)") && !found[0].hasPrefix("0"))
    }

    @Test func theCompilerWritesWhatAnOptionalToManyRelationshipShouldBe() throws {
        func text(_ members: String) -> String {
            """
            import Foundation
            import PolystoreMacros
            @Model final class Thing: ManagedObject { \(members) }
            @Model final class Other: ManagedObject { var name: String = "" }
            """
        }
        let proposals = try Compiler.proposals(
            in: text("@Relationship var a: [Other]? = nil\nvar b: Set<Other>?\n@Relationship var c: Optional<Array<Other>>"))
        #expect(proposals == ["a: [Other] = []", "b: Set<Other>", "c: [Other]"])
        // That compiles.
        let repaired = ["@Relationship var \(proposals[0])", "var \(proposals[1])", "@Relationship var \(proposals[2])"]
        #expect(try Compiler.errors(in: text(repaired.joined(separator: "\n"))) == [])
    }

    @Test(arguments: [
        ("[[\"city\", \"stret\"]]", "Place has no property \"stret\"; did you mean \"street\"?"),
        ("[[\"zip\", \"city\"]]", "a unique constraint contains stored names: zip is stored as \"postal_code\""),
        ("[[\"city\", \"parts\"]]", "a unique constraint cannot contain the to-many relationship parts"),
        ("[[\"city\"] + [\"street\"]]", "the unique constraints of a model must be literals, such as [[\"city\", \"street\"]]"),
        ("[[\"city\", \"postal_code\", \"whole\"]]", nil),
    ])
    func namesOfUniqueConstraintsAreChecked(_ list: String, _ message: String?) throws {
        let found = try errors(
            "",
            before: """
                @Model(unique: \(list)) final class Place: ManagedObject {
                    var city: String = ""; var street: String = ""
                    @Attribute(key: "postal_code") var zip: String = ""
                    @Relationship var whole: Place?
                    @Relationship(inverse: \\Place.whole) var parts: Set<Place>
                }
                """)
        #expect(found.filter { !$0.contains("cannot find") } == (message.map { ["3: \($0)"] } ?? []))
    }

    @Test func anUnknownOptionIsDiagnosed() throws {
        let found = try errors("@Attribute(.externalStorage) var photo: Data?\n@Attribute(.indexd) var name: String = \"\"")
        #expect(
            found.contains { $0.hasPrefix("1: @Attribute has no option .externalStorage; known are unique, indexed, minimum, maximum,") }
                && found.contains("2: @Attribute has no option .indexd; did you mean \"indexed\"?"), "\(found)")
    }

    @Test func aSetOfObjectsNeedsNoMarker() throws {
        #expect(try errors("var others: Set<Other>") == [])
    }

    @Test func aPropertyWithoutASetterCannotBeAssignedByUpdateAll() throws {
        let members = "var name: String = \"\"\nvar initial: String { String(name.prefix(1)) }"
        func change(_ property: String) -> String {
            "func change(_ t: WriteTransaction) throws { _ = try t.updateAll(From<Thing>(), .set(\\.\(property), to: \"x\")) }"
        }
        #expect(try errors(members, before: change("name")) == [])
        #expect(try errors(members, before: change("initial")).count == 1)
    }

    @Test func aPropertyNameOfManagedObjectIsDiagnosed() throws {
        let message = "every object already has a property version: give the property another name, and @Attribute(key: \"version\")"
        #expect(try errors("var version: Int = 0").contains("1: \(message)"))
    }

    @Test func optionsAreFoundHoweverTheyAreWritten() throws {
        #expect(
            try errors(
                """
                @Attribute(AttributeOption.unique) var a: String = ""
                @PolystoreMacros.Attribute(.unique, key: #"b c"#) var b: String?
                @Relationship(deleteRule: DeleteRule.cascade) var other: Other?
                var isDone: Bool = false
                var didSetUp: Bool { let didSet = isDone; return didSet }
                """) == [])
    }

    @Test func anyNameOfAPropertyCompiles() throws {
        let names = [
            "object", "await", "`Protocol`", "`class`", "value", "newValue", "row", "context", "mask", "Other", "String2", "key", "entity",
        ]
        #expect(try errors(names.map { "var \($0): Int = 0" }.joined(separator: "\n")) == [])
        #expect(try errors("@Relationship var Other: Other?\nvar Date: Date\nvar Decimal: Decimal?\nvar UUID: UUID = .init()") == [])
    }

    @Test func accessLevelsCompile() throws {
        let text = """
            import Foundation
            import PolystoreMacros
            enum Hidden: String, AttributeValue, CaseIterable { case a, b }
            @Model public class Open: ManagedObject {
                public private(set) var name: String = ""
                var kind: Hidden = .a
                private var secret: Int = 0
                fileprivate var other: Hidden?
                public var shown: Int = 0
            }
            @Model package final class Inner: ManagedObject { package var name: String = ""; var kind: Hidden = .a }
            @Model final class Plain: ManagedObject { public var name: String = ""; private(set) var number: Int = 0 }
            @Model private final class Own: ManagedObject { var name: String = "" }
            enum Cell {}; enum Entity {}; enum Index {}; enum RowView {}; enum ObjectContext {}; enum EntityIndex {}; enum RowBatch {}
            """
        #expect(try Compiler.errors(in: text) == [])
    }

    @Test func classesOfAnySQLDatabaseCompile() throws {
        let nasty = [
            "customer", "Customer_", "order_items", "String", "string", "Date", "await", "Protocol", "class", "object", "Self", "schema",
            "value", "context", "row", "key", "entity", "Snapshot", "hash", "Any", "actor", "init", "x", "Int64",
        ]
        let types: [ValueType] = [.string, .int64, .date, .decimal, .uuid, .url, .data, .double, .bool]
        let defaults: [ValueType: Value] = [.date: .date(5), .decimal: .decimal(1), .uuid: .uuid(UUID()), .double: .double(.infinity)]
        let entities = nasty.map { name in
            Entity(
                name,
                attributes: nasty.enumerated().map { index, key in
                    let type = types[index % types.count]
                    return Attribute(key, type, isOptional: index % 2 == 0, defaultValue: defaults[type])
                },
                relationships: nasty.enumerated().map { index, other in
                    Relationship(other + "_ref", to: other, index % 3 == 0 ? .toMany : .toOne)
                } + [Relationship("customers", to: "customer", .toManyOrdered)])
        }
        let schema = try Schema(version: "1", entities: entities)
        #expect(try Compiler.errors(in: ModelCode.swift(for: schema)) == [])
        #expect(try Compiler.errors(in: ModelCode.swift(for: schema, .init(access: "public", namespace: "V1"))) == [])
        let foreign = try Schema(
            version: "1",
            entities: [
                Entity(
                    "customer", attributes: [Attribute("name", .string)],
                    relationships: [Relationship("orders", to: "order", .toMany, inverse: "customer")]),
                Entity("order", relationships: [Relationship("customer", to: "customer")]),
                Entity("Order", attributes: [Attribute("Customer", .string)], relationships: [Relationship("order", to: "order")]),
            ])
        let text = ModelCode.swift(for: foreign)
        #expect(text.contains("class Customer: ManagedObject") && text.contains("_Entity(\"customer\""))
        #expect(text.contains("class Order: ManagedObject") && text.contains("class Order_: ManagedObject"))
        #expect(try Compiler.errors(in: text) == [])
    }
}
#endif
