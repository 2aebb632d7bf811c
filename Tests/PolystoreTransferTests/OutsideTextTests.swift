import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import Testing

/// Whatever stands in a text from outside: a value or an error that is short and shows no control characters; never an end of the process.
@Suite(.timeLimit(.minutes(15))) struct OutsideTextTests {
    private static let rounds = 2_000
    private static let longestError = 4_096

    private static let model = """
        {"version": "1", "entities": [
          {"name": "Owner", "attributes": [{"name": "name", "type": "string", "pattern": "[a-z]+(b|c)*", "maxLength": 10}],
           "relationships": [{"name": "notes", "to": "Note", "kind": "toMany", "inverse": "owner", "deleteRule": "cascade"}]},
          {"name": "Note", "parent": "Owner", "attributes": [
            {"name": "text", "type": "string", "indexed": true}, {"name": "rank", "type": "int64", "optional": true, "minimum": -5},
            {"name": "price", "type": "decimal", "optional": true, "default": "1.5e3"},
            {"name": "weight", "type": "double", "optional": true}, {"name": "day", "type": "date", "optional": true}],
           "relationships": [{"name": "owner", "to": "Owner"}],
           "indexes": [{"properties": ["rank"], "where": "rank >= 18 AND text != 'x'"}], "unique": [["text"]]}],
         "configurations": {"All": ["Owner", "Note"]}}
        """

    private static let xcode = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE model SYSTEM "x.dtd">
        <model type="com.apple.IDECoreDataModeler.DataModel"><!-- a -->
          <entity name="Owner" representedClassName="Owner">
            <attribute name="age" attributeType="Integer 16" defaultValueString="0" minValueString="-1" usesScalarValueType="YES"/>
            <attribute name="born" optional="YES" attributeType="Date" defaultDateTimeInterval="0"/>
            <relationship name="notes" toMany="YES" deletionRule="Cascade" destinationEntity="Note" inverseName="owner" inverseEntity="Note"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="age"/></uniquenessConstraint></uniquenessConstraints>
          </entity>
          <entity name="Note"><attribute name="text" attributeType="String" defaultValueString="&lt;a&#x41;"/>
            <relationship name="owner" maxCount="1" destinationEntity="Owner" inverseName="notes" inverseEntity="Owner"/></entity>
          <configuration name="C"><memberEntity name="Owner"/><memberEntity name="Note"/></configuration><![CDATA[ ]]>
        </model>
        """

    private static let predicates = [
        "name ==[cd] 'x' AND NOT (age > 30 OR ANY friends.age BETWEEN {1, $x})", "(a + -b * 2.5e3) / (c & 0x1F) != TERNARY(a == 1, b, c)",
        "SUBQUERY(friends, $f, $f.age > age AND ANY $f.pets SATISFIES $p ($p.x IN {1, NIL})).@count > 0 || d == DATE '2013-01-01'",
        "p == DECIMAL \"1.5\" AND u == UUID '4A6E1BD6-0A9F-4B8A-9C33-3D1B1A3B1B3A'", "name MATCHES '(a|b)*c{2,3}[^x-z]\\\\d+'",
        "name SEARCH '\"a b\" OR c* -d'", "year(born, 'Europe/Berlin') == 1990 && friends.@max.age >= coalesce(a, length(trim(name)))",
    ]
    private static let records = [
        "text,rank,weight,price,day,name\n\"a \"\"b\"\"\",1,1.5,2.50,2013-01-01T10:00:00.5+02:00,x\nNA,-5,,NA,2013-01-01,\n",
        "{\"text\": \"a\\u00e9\\ud83d\\ude00\", \"rank\": -1, \"weight\": 1.5e3, \"price\": \"12.5e-3\", \"day\": null, \"name\": \"y\"}\n\n{\"text\": \"b\"}\n",
    ]

    /// Reads a text, and looks at the error if there is one.
    private func read(_ text: @autoclosure () -> String, _ body: () throws -> Void) {
        do { try body() } catch {
            let message = (error as? StorageError)?.description ?? (error as? SchemaError)?.description ?? "\(error)"
            let isShown = message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            #expect(message.utf8.count <= Self.longestError && isShown, "\(message.prefix(300)) of \(text().prefix(300))")
        }
    }

    private func every(_ seeds: [String], rounds: Int = rounds, _ body: (String) throws -> Void) {
        var mutations = Mutations(seeds)
        for _ in 0..<rounds {
            let text = mutations.text()
            read(text) { try body(text) }
        }
        for text in Mutations.large { read(text) { try body(text) } }
    }

    @Test func models() { every([Self.model]) { _ = try Schema(json: $0) } }

    @Test func modelsOfXcode() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var mutations = Mutations([Self.xcode])
        let texts = (0..<Self.rounds).map { _ in mutations.bytes() } + Mutations.large.map { Array($0.utf8) }
        for bytes in texts {
            try Data(bytes).write(to: folder.appendingPathComponent("contents"))
            read(String(decoding: bytes, as: UTF8.self)) { _ = try Schema(xcodeModel: folder) }
        }
    }

    @Test func predicatesAndExpressions() throws {
        let schema = try Schema(json: Self.model)
        every(Self.predicates) { text in
            let predicate = try QueryPredicate(parsing: text)
            _ = try ObjectRequest("Note", where: predicate).plan(in: schema)
        }
        every(["price * 1.19", "-owner.name", "friends.@max.age", "text"]) { text in
            _ = try ObjectRequest("Note", orderBy: [OrderTerm(try QueryExpression(parsing: text))]).plan(in: schema)
            _ = try ObjectRequest("Note", orderBy: [OrderTerm(PropertyPath(text))]).plan(in: schema)
        }
    }

    @Test func patternsAndSearches() {
        every(["(a|b)*c{2,3}[^x-z]\\d+", "^(?:x+)?$", "[\\w-]{1,3}"], rounds: 1_000) { text in
            _ = try Pattern(text).matches("aab")
        }
        every(["\"a b\" OR c* -d"]) { _ = try SearchQuery($0) }
    }

    @Test func storeURLs() {
        let seeds = [
            "sqlite:shop.db?mode=ro&busy=5s", "lmdb:/a%20b/shop.lmdb?mapsize=8GiB",
            "postgresql://app:pw@db:5432/shop?sslmode=verify-full&x-schema=a",
            "memory:x", "env:SHOP",
        ]
        every(seeds) { text in
            let url = try StoreURL(text)
            #expect(!url.place.utf8.contains(0) || url.scheme == "postgresql")
            _ = url.redacted
            try url.unknownOptions(allowed: ["mode", "busy", "mapsize"])
        }
    }

    @Test func filesOfRecords() throws {
        let schema = try Schema(json: Self.model)
        for (seed, name) in zip(Self.records, ["a.csv", "a.ndjson"]) {
            var mutations = Mutations([seed])
            let texts = (0..<Self.rounds).map { _ in mutations.bytes() } + Mutations.large.map { Array($0.utf8) }
            let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
            for bytes in texts {
                var mapping = LoadMapping(files: [LoadMapping.file(name, entity: "Note")])
                mapping.ignoresUnknown = bytes.count % 2 == 0
                read(String(decoding: bytes, as: UTF8.self)) {
                    _ = try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data(bytes)) }
                }
            }
        }
        every(["{\"nil\": [\"NA\"], \"files\": [{\"file\": \"a.csv\", \"entity\": \"Note\", \"columns\": {\"text\": \"t\"}}]}"]) { text in
            let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
            let mapping = try LoadMapping(json: Data(text.utf8))
            _ = try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data(Self.records[0].utf8)) }
        }
    }

    @Test func tokens() {
        let id = "4A6E1BD6-0A9F-4B8A-9C33-3D1B1A3B1B3A"
        every(["\(id):17", "\(id):-1"]) { text in
            if let token = HistoryToken(text) { #expect(HistoryToken(token.description) == token) }
        }
        every(["\(id)/123", "\(id)/a/b"]) { text in
            if let token = CommitToken(text) { #expect(CommitToken(token.description) == token) }
        }
    }

    @Test func values() {
        let seeds = ["-12.5e3", "2013-01-01T10:00:00.123456+02:00", "4A6E1BD6-0A9F-4B8A-9C33-3D1B1A3B1B3A", "aGFsbG8=", "true"]
        every(seeds) { text in
            for type in ValueType.allCases {
                guard let value = ValueText.value(text, as: type) else { continue }
                _ = try Attribute("a", type).normalise(value)
            }
        }
    }
}
