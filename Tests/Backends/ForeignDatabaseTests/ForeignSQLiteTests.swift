import Foundation
import PolystoreLMDB
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import RawSessions
import TestStores
import Testing

@Suite struct ForeignSQLiteTests {
    private func open(_ script: String) throws -> OpenDatabase {
        try OpenDatabase("sqlite:\(ForeignDatabases.sqlite(script))?catalog=foreign")
    }

    @Test func everyValueOfTwelveTablesIsReadExactly() throws {
        let shop = try open(ShopScript.sqlite)
        #expect(try shop.lines() == ShopScript.lines)
    }

    @Test func tablesBecomeEntitiesAndReferencesRelationships() throws {
        let shop = try open(ShopScript.sqlite)
        // Eleven entities: the twelfth table is a many-to-many.
        #expect(
            shop.schema.entities.map(\.name) == [
                "carrier", "category", "country", "customer", "flight", "order", "order_line", "product", "profile", "setting", "shipment",
            ])
        #expect(Set(shop.schema.relationshipLines) == Set(ShopScript.relationships))
        #expect(shop.schema.relationshipLines.count == ShopScript.relationships.count)
        let types = shop.schema.entity("product")?.attributes.map { "\($0.name) \($0.type.rawValue)\($0.isOptional ? "?" : "")" }
        #expect(types == ["sku string", "price decimal?", "weight double?", "status string", "photo data?", "uid uuid?"])
        #expect(shop.schema.entity("order")?.relationships.first { $0.name == "customer" }?.isOptional == false)
        #expect(shop.schema.entity("customer")?.relationships.first { $0.name == "country_code" }?.isOptional == true)
    }

    @Test func keysAndChecksBecomeConstraintsAndRules() throws {
        let shop = try open(ShopScript.sqlite)
        func unique(_ entity: String) -> [[String]]? { shop.schema.entity(entity)?.uniqueConstraints.map(\.properties) }
        #expect(unique("order_line") == [["order", "line"]])
        #expect(unique("customer") == [["email"]])
        #expect(unique("country") == [["code"]])
        #expect(unique("product") == [["sku"]])
        func attribute(_ entity: String, _ name: String) -> Attribute? { shop.schema.entity(entity)?.attributes.first { $0.name == name } }
        #expect(attribute("product", "price")?.rules == AttributeRules(minimum: .decimal(0)))
        #expect(attribute("order_line", "quantity")?.rules == AttributeRules(minimum: .int(1), maximum: .int(100)))
        #expect(attribute("product", "status")?.allowedValues == [.string("new"), .string("sold"), .string("gone")])
        #expect(
            shop.remarks == [
                "the view active is left out: only tables are read",
                "the unique index lower_sku of product is left out: it is partial or over expressions",
                "carrier.phone number is named carrier.phone_number",
            ])
    }

    @Test func indexesOverColumnsArePartOfTheModel() throws {
        let store = try open(
            """
            CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, mail TEXT);
            CREATE TABLE item(
                id INTEGER PRIMARY KEY, code TEXT, rank INTEGER, owner_id INTEGER REFERENCES owner(id), mark TEXT UNIQUE);
            CREATE INDEX by_code ON item(code);
            CREATE INDEX by_code_again ON item(code DESC);
            CREATE INDEX by_rank_and_key ON item(rank, id, code);
            CREATE INDEX by_key ON item(id, rank);
            CREATE INDEX by_owner ON item(owner_id);
            CREATE INDEX by_owner_and_rank ON item(owner_id, rank DESC);
            CREATE INDEX by_mark ON item(mark);
            CREATE INDEX highest ON item(code) WHERE rank > 3;
            CREATE INDEX lower ON item(lower(code), rank);
            CREATE INDEX by_name ON owner(name);
            CREATE INDEX by_bytes ON owner(name COLLATE BINARY, mail);
            """)
        #expect(
            store.schema.entity("item").map { Set($0.indexes) } == [Index(["code"]), Index(["rank"]), Index(["owner", "rank"])])
        #expect(store.schema.entity("item")?.indexes.count == 3)
        #expect(store.schema.entity("owner")?.indexes == [Index(["name", "mail"])])
        #expect(
            store.remarks == [
                "the index highest of item is left out: it is partial",
                "the index lower of item is left out: it is over expressions",
                "the index by_name of owner is left out: it compares texts by the collation NOCASE",
            ])
    }

    /// Models limit the columns of an index, and the values in it.
    @Test func anIndexThatAModelCannotHaveIsLeftOut() throws {
        let columns = (1...32).map { "c\($0)" }
        let store = try open(
            """
            CREATE TABLE page(id INTEGER PRIMARY KEY, url TEXT, short TEXT, body BLOB, \(columns.map { "\($0) INT" }.joined(separator: ", ")));
            CREATE INDEX by_url ON page(short, url);
            CREATE INDEX by_short ON page(short);
            CREATE INDEX by_body ON page(body);
            CREATE INDEX wide ON page(\(columns.joined(separator: ", ")));
            CREATE INDEX less_wide ON page(\(columns.dropLast().joined(separator: ", ")));
            INSERT INTO page(url, short, body) VALUES ('x' || hex(zeroblob(512)), hex(zeroblob(512)), zeroblob(1025));
            """)
        #expect(store.schema.entity("page").map { Set($0.indexes) } == [Index(["short"]), Index(Array(columns.dropLast()))])
        #expect(
            store.remarks == [
                "the index by_body of page is left out: it contains values of more than 1024 bytes in body",
                "the index wide of page is left out: it has more than 31 columns",
                "the index by_url of page is left out: it contains values of more than 1024 bytes in url",
            ])
        let copy = try store.transferred(to: LMDBStore(path: ForeignDatabases.path(".lmdb")))
        #expect(try copy.digests() == store.digests())
    }

    @Test func itMovesToLMDBAndBackWithEqualDigests() throws {
        let shop = try open(ShopScript.sqlite)
        let there = try shop.transferred(to: LMDBStore(path: ForeignDatabases.path(".lmdb")))
        let back = try there.transferred(to: SQLiteStore(path: ForeignDatabases.path(".db")))
        let digests = try shop.digests()
        #expect(digests.map(\.digest.count).reduce(0, +) == ShopScript.lines.count)
        #expect(try there.digests() == digests)
        #expect(try back.digests() == digests)
        #expect(try back.lines() == ShopScript.lines)
    }

    @Test(arguments: TestStore.all) func itMovesIntoEveryStore(_ target: TestStore) throws {
        let copy = try open(ShopScript.sqlite).transferred(to: target.make())
        defer { try? copy.store.erase() }
        #expect(try copy.lines() == ShopScript.lines)
    }

    @Test func theEngineAnswersRequests() throws {
        let shop = try open(ShopScript.sqlite)
        #expect(try shop.keys("order_line", "order.customer.name == 'Ada' AND product.price > 19.5", orderBy: ["quantity"]) == [2, 3, 1])
        #expect(try shop.keys("shipment", "order_line.order.customer.country_code.code == 'DE'") == [1, 2])
        #expect(try shop.keys("product", "ANY category.name == 'tools'") == [10, 11])
        #expect(try shop.keys("customer", "order.@count == 2") == [1, 2])
        #expect(try shop.keys("order", "SELF == 6 OR placed_at > DATE '2021-02-03T04:05:06Z'") == [6, 7])
    }

    @Test func nothingCanBeWritten() throws {
        let path = try ForeignDatabases.sqlite(ShopScript.sqlite)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let store = SQLiteStore(path: path, catalog: .foreign)
        let shop = try OpenDatabase(store, nil)
        _ = try shop.lines()
        let refused = failure { _ = try store.beginWrite(WriteOptions()) }
        #expect(refused?.code == .readOnly)
        #expect(refused?.message.contains("polystore transfer") == true)
        #expect(failure { try store.erase() }?.code == .readOnly)
        #expect(failure { try store.compact() }?.code == .readOnly)
        try store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
                .filter { $0.hasPrefix(URL(fileURLWithPath: path).lastPathComponent) }.count == 1)
    }

    @Test func withoutTheOptionTheErrorNamesIt() throws {
        let path = try ForeignDatabases.sqlite("CREATE TABLE a(b);")
        let refused = failure { _ = try OpenDatabase("sqlite:\(path)?mode=ro") }
        #expect(refused?.code == .notADatabase)
        #expect(refused?.message.contains("catalog=foreign") == true)
        #expect(failure { _ = try OpenDatabase("sqlite:\(path)?catalog=forein") }?.message.contains("did you mean \"foreign\"?") == true)
        #expect(failure { _ = try OpenDatabase("sqlite:\(path)?catalog=foreign&model=x") }?.code == .invalidConfiguration)
    }

    @Test func aPolystoreStoreIsNotOpenedAsForeign() throws {
        let path = ForeignDatabases.path(".db")
        try OpenDatabase(SQLiteStore(path: path), Schema(entities: [Entity("Note")])).close()
        #expect(failure { _ = try OpenDatabase("sqlite:\(path)?catalog=foreign") }?.code == .invalidConfiguration)
    }

    @Test func theIdentityStaysAndAnotherSchemaIsRefused() throws {
        let path = try ForeignDatabases.sqlite("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT);")
        let first = try OpenDatabase("sqlite:\(path)?catalog=foreign"), second = try OpenDatabase("sqlite:\(path)?catalog=foreign")
        #expect(first.id == second.id)
        let copy = ForeignDatabases.path(".sqlite")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        #expect(try OpenDatabase("sqlite:\(copy)?catalog=foreign").id != first.id)
        let other = try Schema(entities: [Entity("note")])
        #expect(failure { _ = try OpenDatabase(SQLiteStore(path: path, catalog: .foreign), other) }?.code == .schemaMismatch)
    }

    @Test(arguments: [
        ("age INTEGER", "'old'"), ("age INTEGER", "1.5"), ("age BOOLEAN", "2"), ("age DATE", "'yesterday'"), ("age DATETIME", "2459216.5"),
        ("age DATETIME", "1612325106000"), ("age UUID", "'6ba7b810'"), ("age DECIMAL", "'1.2.3'"), ("age DECIMAL", "9e999"),
        ("age TEXT", "x'ff'"), ("age TEXT", "cast(x'ff' AS TEXT)"), ("age TEXT", "'a' || char(0) || 'b'"), ("age REAL", "'x'"),
    ])
    func aValueThatDoesNotFitItsColumnIsAnErrorThatNamesIt(_ column: String, _ value: String) throws {
        let store = try open("CREATE TABLE person(id INTEGER PRIMARY KEY, \(column)); INSERT INTO person VALUES(1, \(value));")
        let failure = store.readingFailure
        #expect(failure?.code == .valueNotStorable)
        #expect(failure?.message.hasPrefix("person.age holds a value that is not") == true)
        #expect(failure?.message.contains("yesterday") == false)
    }

    @Test func referencesWithoutTheirRowAreReadAsNilAndCounted() throws {
        let store = try open(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, b_id INTEGER NOT NULL REFERENCES b(id));
            CREATE TABLE b(id INTEGER PRIMARY KEY);
            CREATE TABLE a_b(a_id REFERENCES a(id), b_id REFERENCES b(id), PRIMARY KEY(a_id, b_id));
            INSERT INTO a VALUES(1, 1), (2, 7), (3, 8);
            INSERT INTO b VALUES(1);
            INSERT INTO a_b VALUES(1, 1), (2, 7);
            """)
        #expect(
            try store.lines() == [
                #"{"entity":"a","key":1,"version":1,"b":1}"#, #"{"entity":"a","key":2,"version":1}"#,
                #"{"entity":"a","key":3,"version":1}"#,
                #"{"entity":"b","key":1,"version":1}"#, #"{"link":"a.b2","owner":1,"rank":0,"member":1}"#,
            ])
        #expect(store.remarks.contains("2 rows of a refer by b_id to missing rows of b, which are read as nil"))
        #expect(store.losses == ["a.b_id", "a_b.b_id"])
        #expect(store.schema.entity("a")?.relationships.first { $0.name == "b" }?.isOptional == true)
    }

    @Test func rowsOfAManyToManyTableWithoutOneOfTheirSidesAreCounted() throws {
        let store = try open(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY);
            CREATE TABLE b(id INTEGER PRIMARY KEY);
            CREATE TABLE a_b(a_id REFERENCES a(id), b_id REFERENCES b(id), PRIMARY KEY(a_id, b_id));
            INSERT INTO a VALUES(1), (2);
            INSERT INTO b VALUES(1);
            INSERT INTO a_b VALUES(1, 1), (NULL, 1), (NULL, 1), (2, NULL);
            """)
        #expect(try store.lines().filter { $0.contains("link") }.count == 1)
        #expect(store.remarks == ["3 rows of a_b are left out: one of the two rows that they relate is NULL"])
        #expect(store.losses == ["a_b"])
    }

    @Test func aDatabaseWithoutTablesIsNamed() throws {
        let error = #expect(throws: StorageError.self) { try open("PRAGMA user_version = 1; CREATE VIEW v AS SELECT 1 AS x;") }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.message == "the database has no table that can be read: the view v is left out: only tables are read", "\(error as Any)")
    }

    @Test func awkwardNamesAreKeptAsFarAsNamesCan() throws {
        let store = try open(
            #"""
            CREATE TABLE "1 odd ""name"""(rowid TEXT, "select" INTEGER, "a-b" TEXT, "a b" TEXT, "SELF" TEXT, "Größe" REAL, _id INTEGER);
            CREATE TABLE polystore_x(id INTEGER PRIMARY KEY);
            INSERT INTO "1 odd ""name""" VALUES('r', 1, 'x', 'y', 's', 2.5, 3);
            """#)
        #expect(
            try store.lines() == [
                #"{"entity":"x1_odd__name_","key":1,"version":1,"rowid":"r","select":1,"a_b":"x","a_b2":"y","xSELF":"s","Größe":2.5,"x_id":3}"#
            ])
        #expect(store.schema.entities.map(\.name) == ["x1_odd__name_", "xpolystore_x"])
    }

    @Test func aColumnOfSeveralTypesIsLeftOutWithARemark() throws {
        let store = try open("CREATE TABLE a(b, c); INSERT INTO a VALUES(1, 'x'), ('y', 'z');")
        #expect(try store.lines() == [#"{"entity":"a","key":1,"version":1,"c":"x"}"#, #"{"entity":"a","key":2,"version":1,"c":"z"}"#])
        #expect(store.remarks == ["a.b is left out: it has no declared type, and its values have several types"])
        #expect(store.losses == ["a.b"])
    }

    @Test func aValueThatCannotBeReadIsNamedByItsKey() throws {
        let rows = (1...9000).map { "(\($0), 'x')" }.joined(separator: ",")
        let store = try open(
            "CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT); INSERT INTO a VALUES\(rows); UPDATE a SET t = 'a' || char(0) WHERE id IN (8321, 8900)"
        )
        let error = try #require(store.readingFailure)
        #expect(error.code == .valueNotStorable && error.message.hasSuffix(" (a 8321)") && error.details.keys == [8321], "\(error)")
    }

    @Test func aKeyOfTextsMayHaveNoValue() throws {
        let store = try open(
            "CREATE TABLE a(k TEXT PRIMARY KEY, n INTEGER); CREATE TABLE b(k TEXT PRIMARY KEY); INSERT INTO a VALUES(NULL, 1), ('x', 2);"
        )
        #expect(store.schema.entity("a")?.attributes.first { $0.name == "k" }?.isOptional == true)
        #expect(store.schema.entity("b")?.attributes.first { $0.name == "k" }?.isOptional == false)
    }

    @Test func keysWithoutRoomAboveThemAreCountedInstead() throws {
        let store = try open(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, next INTEGER REFERENCES a(id));
            INSERT INTO a VALUES(9223372036854775807, 5), (5, 9223372036854775807), (-7, NULL);
            """)
        #expect(
            try store.lines() == [
                #"{"entity":"a","key":1,"version":1,"id":-7}"#, #"{"entity":"a","key":2,"version":1,"id":5,"next":3}"#,
                #"{"entity":"a","key":3,"version":1,"id":9223372036854775807,"next":2}"#,
            ])
        #expect(try store.transferred(to: TestStore.memory.make()).digests() == store.digests())
    }

    @Test func negativeKeysMoveIntoEveryStore() throws {
        let store = try open("CREATE TABLE a(id INTEGER PRIMARY KEY, b TEXT); INSERT INTO a VALUES(-7, 'x'), (0, 'y');")
        for target in TestStore.all {
            let copy = try store.transferred(to: target.make())
            #expect(try copy.digests() == store.digests())
            try? copy.store.erase()
        }
    }

    /// What a condition becomes; nil for none that says the same.
    private static let conditions: [(String, AttributeRules?, [Value])] = [
        ("n > 3", AttributeRules(minimum: .int(4)), []), ("n < -3", AttributeRules(maximum: .int(-4)), []),
        ("n >= 1 AND (n <= 5)", AttributeRules(minimum: .int(1), maximum: .int(5)), []),
        ("\"n\" IN (1, 2, 2, -3)", AttributeRules(), [.int(1), .int(2), .int(-3)]),
        ("n BETWEEN 1 AND 5 AND n > 2", AttributeRules(minimum: .int(3), maximum: .int(5)), []),
        ("n > 1 OR n < 0", nil, []), ("NOT (n > 1 AND n < 3)", nil, []), ("n > 1 + 2", nil, []), ("n > m", nil, []),
        ("CASE WHEN m AND n > 1 AND m THEN 1 END", nil, []), ("n % 2 = 0", nil, []), ("n > 1.5", nil, []),
    ]

    @Test(arguments: conditions.indices) func aConditionBecomesARuleThatSaysTheSame(_ index: Int) throws {
        let (condition, rules, allowed) = Self.conditions[index]
        let store = try open("CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, m INTEGER, /* CHECK (n) */ CHECK (\(condition)));")
        let attribute = store.schema.entity("a")?.attributes.first
        #expect(attribute?.rules == rules ?? AttributeRules())
        #expect(attribute?.allowedValues == allowed)
        #expect(store.remarks.isEmpty == (rules != nil))
    }

    @Test func lengthsAndRequirementsAreRulesToo() throws {
        let store = try open("CREATE TABLE a(t TEXT CHECK (length(t) <= 5) CHECK (t IS NOT NULL), d DECIMAL CHECK (d > 0));")
        let attributes = store.schema.entity("a")?.attributes
        #expect(attributes?[0].rules == AttributeRules(maxLength: 5))
        #expect(attributes?[0].isOptional == false)
        // No rule says "greater than" of a number that has no next one.
        #expect(attributes?[1].rules == AttributeRules())
        #expect(store.remarks == ["a CHECK constraint of a is left out: it does not correspond to a rule of an attribute"])
    }

    @Test(arguments: [("NOCASE", false), ("RTRIM", false), ("BINARY", true), ("\"nocase\"", false), ("'NOCASE'", false)])
    func aListOfTextsIsARuleWhereTextsAreComparedByBytes(_ collation: String, _ isRule: Bool) throws {
        let store = try open(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, t VARCHAR(10, 2) DEFAULT ('x' COLLATE NOCASE) CHECK (t IN ('a', 'B')),
                f TEXT COLLATE \(collation) CHECK (f IN ('a', 'B') AND length(f) <= 5));
            """)
        let attributes = store.schema.entity("a")?.attributes
        #expect(attributes?[0].allowedValues == [.string("a"), .string("B")])
        #expect(attributes?[1].allowedValues == (isRule ? [.string("a"), .string("B")] : []))
        #expect(attributes?[1].rules == AttributeRules(maxLength: 5))
        #expect(store.remarks.isEmpty == isRule)
    }

    @Test func namesOfColumnsAreWrittenInSeveralWays() throws {
        let store = try open(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, 'status' TEXT COLLATE NOCASE CHECK (status IN ('open')),
                [_kind] TEXT COLLATE NOCASE CHECK ([_kind] IN ('x')), [_a kind] TEXT COLLATE NOCASE CHECK ("_a kind" IN ('x')), [kind] TEXT COLLATE BINARY CHECK ([kind] IN ('x')),
                [1st] TEXT CHECK ([1st] IN ('x')), [2] TEXT COLLATE NOCASE CHECK ("2" IN ('x')), [3 a] TEXT COLLATE NOCASE CHECK ([3 a] = 'x'),
                [ b] TEXT CHECK ([ b] IN ('x')), [c"d] TEXT CHECK([c"d]IN('x')));
            """)
        let x = [Value.string("x")]
        #expect(store.schema.entity("a")?.attributes.map(\.allowedValues) == [[], [], [], x, x, [], [], x, x])
    }

    @Test func manyReadersSeeOneSnapshotEach() throws {
        let store = try open(ShopScript.sqlite)
        let first = try store.store.beginRead(), second = try store.store.beginRead()
        defer {
            first.end()
            second.end()
        }
        #expect(try first.currentToken() == nil)
        #expect { try first.history(since: nil, limit: 10) } throws: { ($0 as? StorageError)?.code == .unsupported }
        #expect(try second.note("x") == nil)
        #expect(try second.rawRows("SELECT count(*) AS n FROM product").rows == [[.int(3)]])
    }
}
