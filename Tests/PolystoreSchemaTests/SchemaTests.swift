import Foundation
import PolystoreSchema
import Testing

@Suite struct SchemaTests {
    @Test func aSchemaReadsWhatItWrites() throws {
        let schema = try Schema(
            version: "7",
            entities: [
                Entity(
                    "A", attributes: [Attribute("x", .double, defaultValue: .double(0.1)), Attribute("at", .date, isOptional: true)],
                    relationships: [Relationship("b", to: "B", inverse: "as")], indexes: [Index(["x", "b"])]),
                Entity("B", relationships: [Relationship("as", to: "A", .toMany, inverse: "b", deleteRule: .deny)]),
            ], configurations: ["Both": ["A", "B"]])
        #expect(try Schema(json: schema.json) == schema)
        #expect(try Schema(json: schema.prettyJSON).hash == schema.hash)
    }

    /// What the history says of an attribute changes nothing in what is stored.
    @Test func theHistoryIsPartOfTheModelButNotOfItsHash() throws {
        func schema(_ history: AttributeHistory) throws -> Schema {
            try Schema(entities: [Entity("A", attributes: [Attribute("x", .int64, history: history)])])
        }
        let plain = try schema(.recorded)
        #expect(!plain.json.contains("history"))
        for history in [AttributeHistory.preserved, .excluded] {
            let other = try schema(history)
            #expect(try Schema(json: other.json).entities == other.entities)
            #expect(other.json.contains(#""history":"\#(history.rawValue)""#) && other.hash == plain.hash)
            #expect(other.changes(since: plain).isEmpty)
        }
        let wrong = #"{"entities": [{"name": "A", "attributes": [{"name": "x", "type": "int64", "history": "preserve"}]}]}"#
        #expect { try Schema(json: wrong) } throws: { "\($0)".contains("recorded, preserved, excluded") }
    }

    private static func indexed(_ indexes: [Index]) -> [Entity] {
        [
            Entity(
                "Note",
                attributes: [
                    Attribute("title", .string), Attribute("stars", .int16), Attribute("isOpen", .bool),
                    Attribute("at", .date, isOptional: true),
                    Attribute("rating", .double), Attribute("kind", .string, allowedValues: [.string("a"), .string("b")]),
                ], relationships: [Relationship("author", to: "Note")], indexes: indexes)
        ]
    }

    @Test func indexesHaveKindsAndConditions() throws {
        let indexes = [
            Index(["stars"]), Index(["stars"], where: "isOpen == true AND (stars >= 3 OR at == nil)"), Index(["title"], kind: .fullText),
        ]
        let schema = try Schema(entities: Self.indexed(indexes))
        #expect(try Schema(json: schema.json) == schema)
        #expect(schema.entities[0].indexes == indexes)
        #expect(schema.descriptions[0].indexes == [[1], [1]])
        #expect(schema.descriptions[0].fullTextSlots == [0])
        #expect(
            schema.json.contains(
                """
                "indexes":[["stars"],{"properties":["stars"],"where":"isOpen == true AND (stars >= 3 OR at == nil)"},\
                {"properties":["title"],"kind":"fullText"}]
                """))
        let plain = try Schema(entities: Self.indexed([Index(["stars"])]))
        #expect(
            schema.changes(since: plain).map(\.description) == [
                "the index Note(stars) where isOpen == true AND (stars >= 3 OR at == nil) was added",
                "the full-text index Note(title) was added",
            ])
        #expect(plain.hash != schema.hash)
    }

    /// Stores compare hashes: what a model without kinds and conditions hashes to is what it was before there were any.
    @Test func aPlainIndexIsHashedAsAList() throws {
        let schema = try Schema(entities: [Entity("A", attributes: [Attribute("x", .int64)], indexes: [Index(["x"])])])
        let text = #"[{"name":"A","attributes":[{"name":"x","type":"int64"}],"indexes":[["x"]]}]"#
        #expect(schema.hash == SchemaHash(of: text))
    }

    @Test(arguments: [
        ("stars > 2.5", "integer"), ("stars = 'x'", "cannot be compared"), ("rating > 1", "rating"), ("rating != nil", ""),
        ("isOpen > true", "bool"),
        ("sars == 1", "did you mean \"stars\""), ("title LIKE 'a*'", "=="), ("stars == 1 AND", "name"), ("(stars == 1", ")"),
        ("stars == 70000", "int16"), ("kind == 'c'", "allowed"), ("author != nil", ""), ("author == 1", "cannot be compared"),
        ("stars == nil OR title != \"it's\"", ""), ("stars < nil", "order"), ("title == 'x", "terminated"),
        ("stars == 1; DROP", "is not allowed"),
        ("NOT (stars == 1)", "name"), ("stars == stars", "constant"), ("", "name"), ("title == 'a\u{0}'", "U+0000"),
        ("title.length == 1", "is not allowed"),
    ]) func conditionsOfIndexesAreSimple(_ text: String, _ message: String) throws {
        let entities = Self.indexed([Index(["stars"], where: text)])
        if message.isEmpty {
            #expect(throws: Never.self) { try Schema(entities: entities) }
        } else {
            let error = #expect(throws: SchemaError.self) { try Schema(entities: entities) }
            #expect(error?.path == "Note.index(stars)")
            #expect(error?.message.contains(message) == true || text.contains("stars == stars"), "\(error?.message ?? "")")
        }
    }

    @Test func aFullTextIndexIsOverOneText() {
        for index in [
            Index(["title", "kind"], kind: .fullText), Index(["stars"], kind: .fullText), Index(["author"], kind: .fullText),
            Index(["title"], kind: .fullText, where: "isOpen == true"),
        ] {
            #expect(throws: SchemaError.self) { try Schema(entities: Self.indexed([index])) }
        }
    }

    @Test func unknownKeysOfAnIndexAreRefused() {
        let text = """
            {"entities": [{"name": "A", "attributes": [{"name": "x", "type": "int64"}],
            "indexes": [{"properties": ["x"], "wehre": "x == 1"}]}]}
            """
        let error = #expect(throws: SchemaError.self) { try Schema(json: text) }
        #expect(error?.line == 2)
        #expect(error?.message.contains("did you mean \"where\"?") == true)
    }

    @Test func anUnknownKeyThatIsLikeNoneIsRefusedWithAllOfThem() {
        let error = #expect(throws: SchemaError.self) {
            try Schema(json: #"{"entities": [{"name": "A", "relationships": [{"name": "bs", "destination": "B"}]}]}"#)
        }
        #expect(
            error?.message
                == "\"destination\" is not a known key; known are name, to, kind, optional, inverse, deleteRule, minCount, maxCount, originalName"
        )
    }

    @Test func anErrorNamesTheLine() {
        let text = "{\n \"entities\": [\n  {\"name\": \"A\",\n   \"attributes\": [{\"name\": \"x\", \"type\": \"strng\"}]}\n ]\n}"
        let error = #expect(throws: SchemaError.self) { try Schema(json: text) }
        #expect(error?.line == 4)
        #expect(error?.message.contains("did you mean \"string\"?") == true)
    }

    @Test func theHashDoesNotDependOnTheOrderOfEntities() throws {
        let a = Entity("A"), b = Entity("B")
        #expect(try Schema(entities: [a, b]).hash == Schema(entities: [b, a]).hash)
    }

    @Test func anInverseMustPointBack() {
        let a = Entity("A", relationships: [Relationship("b", to: "B", inverse: "a")])
        let b = Entity("B", relationships: [Relationship("a", to: "A", inverse: "c"), Relationship("c", to: "A")])
        #expect(throws: SchemaError.self) { try Schema(entities: [a, b]) }
    }

    @Test func anInverseIsDeclaredOnOneSide() throws {
        let a = Entity("A", relationships: [Relationship("b", to: "B", inverse: "a")])
        let b = Entity("B", relationships: [Relationship("a", to: "A", .toMany)])
        #expect(try Schema(entities: [a, b]).entities[1].relationships[0].inverse == "b")
    }

    /// FIPS 180-4 test vectors: "abc" and the empty message.
    @Test func sha256() {
        #expect(SchemaHash(of: "abc").description == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(SchemaHash(of: "").description == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func decimalKeysAreOrderedAsTheirNumbers() throws {
        let numbers = ["-1e30", "-12.5", "-12.49", "-0.1", "0", "1e-20", "0.1", "0.11", "1", "1.5", "9", "10", "99.9", "100", "1e30"]
        let keys = try numbers.map { DecimalKey.encode(try #require(Decimal(string: $0))) }
        for (a, b) in zip(keys, keys.dropFirst()) { #expect(a.lexicographicallyPrecedes(b)) }
        for (key, number) in zip(keys, numbers) { #expect(key.withUnsafeBytes(DecimalKey.decode) == Decimal(string: number)) }
    }

    @Test func dates() {
        // date -u -d @1357034400 prints 2013-01-01T10:00:00
        #expect(ISO8601.microseconds("2013-01-01T10:00:00Z") == 1_357_034_400_000_000)
        #expect(ISO8601.string(1_357_034_400_000_000) == "2013-01-01T10:00:00Z")
        #expect(ISO8601.microseconds("2013-02-30T10:00:00Z") == nil)
        // Computed with Python's integers, by the proleptic Gregorian calendar.
        #expect(ISO8601.string(.min) == "-290308-12-21T19:59:05.224192Z")
        #expect(ISO8601.string(.max) == "294247-01-10T04:00:54.775807Z")
        #expect(ISO8601.string(-1) == "1969-12-31T23:59:59.999999Z")
        #expect(ISO8601.string(Microseconds.minimum) == "0001-01-01T00:00:00Z")
        #expect(ISO8601.string(Microseconds.maximum) == "9999-12-31T23:59:59.999999Z")
    }

    @Test func valuesThatSomeStoreCannotHoldAreRefused() {
        #expect(throws: ValueError.self) { try Attribute("x", .double).normalise(.double(.nan)) }
        #expect(throws: ValueError.self) { try Attribute("x", .string).normalise(.string("a\0b")) }
        #expect(throws: ValueError.self) { try Attribute("x", .int16).normalise(.int(32_768)) }
        #expect(throws: ValueError.self) { try Attribute("x", .date).normalise(.date(Microseconds.maximum + 1)) }
    }

    @Test(arguments: ["1-2", "1e", ".", "", "+", "0x10", "1e99999", "123456789012345678901234567890123456789", "1,5", "1 "])
    func textsThatAreNotDecimals(_ text: String) { #expect(ValueText.value(text, as: .decimal) == nil) }

    @Test(arguments: [
        ("-12.50", "-12.5"), ("+1e3", "1000"), ("0.000", "0"), (".5", "0.5"), ("5.", "5"), ("1e-128", "1e-128"), ("1e130", "1000e127"),
    ]) func textsOfDecimals(_ text: String, _ same: String) throws {
        #expect(ValueText.value(text, as: .decimal) == .decimal(try #require(Decimal(string: same))))
    }

    @Test(arguments: ["0x10", "1,5", "ten"]) func textsThatAreNotDoubles(_ text: String) {
        #expect(ValueText.value(text, as: .double) == nil)
    }

    @Test(arguments: ["2013-01-01T10:00:00+99:00", "2013-01-01T10:00:00+01:60", "2013-02-29", "2013-01-01T24:00:00Z", "2013-01-01T10:00"])
    func textsThatAreNotDates(_ text: String) { #expect(ValueText.value(text, as: .date) == nil) }

    @Test func anEscapeNeedsFourHexadecimalDigits() {
        #expect(throws: JSONError.self) { try JSONParser.parse(#""\u+123""#) }
        #expect(throws: JSONError.self) { try JSONParser.parse(#""\u12"#) }
    }
}
