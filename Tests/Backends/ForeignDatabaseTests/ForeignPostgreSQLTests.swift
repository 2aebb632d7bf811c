import Foundation
import PolystoreLMDB
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

@Suite(.enabled(if: TestStore.server != nil, "needs a PostgreSQL server; .ci/run starts one")) struct ForeignPostgreSQLTests {
    private static let script = """
        CREATE TYPE mood AS ENUM ('calm', 'wild');
        CREATE DOMAIN positive AS int4 CHECK (VALUE > 0);
        CREATE DOMAIN short AS varchar(5);
        CREATE TABLE country(code text PRIMARY KEY, name text NOT NULL);
        CREATE TABLE customer(id serial PRIMARY KEY, name varchar(80) NOT NULL, email text UNIQUE, country_code text REFERENCES country,
            joined date, born timestamp, seen timestamptz, is_active bool NOT NULL DEFAULT true, mood mood, uid uuid, tags text[],
            score positive, nick short, code char(4));
        CREATE TABLE product(id bigint PRIMARY KEY, price numeric(10,2) CHECK (price >= 0 AND price <= 1000), weight float4, size float8,
            photo bytea, status varchar(10) CHECK (status IN ('new', 'sold')), rank smallint CHECK (rank > -5), meta jsonb,
            exact numeric, CHECK (weight > 0 OR size > 0));
        CREATE TABLE tag(id uuid PRIMARY KEY, name text);
        CREATE TABLE product_tag(product_id bigint REFERENCES product, tag_id uuid REFERENCES tag, PRIMARY KEY(product_id, tag_id));
        CREATE TABLE "Order"(id int2 PRIMARY KEY, "customerId" int NOT NULL REFERENCES customer ON DELETE CASCADE);
        CREATE TABLE line("order_id" int2 REFERENCES "Order" ON DELETE CASCADE, number int, product_id bigint REFERENCES product ON DELETE SET NULL,
            PRIMARY KEY("order_id", number));
        CREATE TABLE note(order_id int2, number int, body text, FOREIGN KEY(order_id, number) REFERENCES line(order_id, number));
        CREATE TABLE event(day date NOT NULL, what text) PARTITION BY RANGE (day);
        CREATE TABLE event_2020 PARTITION OF event FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
        CREATE TABLE event_2021 PARTITION OF event FOR VALUES FROM ('2021-01-01') TO ('2022-01-01');
        CREATE TABLE base(id int PRIMARY KEY, a text);
        CREATE TABLE derived(b text) INHERITS (base);
        CREATE VIEW active AS SELECT * FROM customer WHERE is_active;

        INSERT INTO country VALUES('DE', 'Germany'), ('AT', 'Austria');
        INSERT INTO customer VALUES(1, 'Ada', 'a@x', 'DE', '2020-01-31', '1970-01-01 00:00:00.000001', '2020-01-01 00:00+02', true, 'wild',
            '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '{a,"b c"}', 3, 'A', 'x');
        INSERT INTO customer(id, name, is_active) VALUES(2, 'Zoë', false);
        INSERT INTO product VALUES(10, 19.90, 1.5, '-0', '\\x00ff', 'new', 3, '{"a": 1}', 12345678901234567890123456789012345678),
            (11, NULL, 'Infinity', 0.1, '', NULL, -4, NULL, 1e-30);
        INSERT INTO tag VALUES('00000000-0000-0000-0000-000000000002', 'b'), ('00000000-0000-0000-0000-000000000001', 'a');
        INSERT INTO product_tag VALUES(10, '00000000-0000-0000-0000-000000000002'), (11, '00000000-0000-0000-0000-000000000001');
        INSERT INTO "Order" VALUES(5, 1), (6, 1);
        INSERT INTO line VALUES(6, 1, 10), (5, 1, 11), (5, 2, NULL);
        INSERT INTO note VALUES(6, 1, 'six'), (5, NULL, 'none');
        INSERT INTO event VALUES('2021-06-01', 'later'), ('2020-06-01', 'earlier');
        INSERT INTO base VALUES(1, 'x');
        INSERT INTO derived VALUES(2, 'y', 'z');
        """

    /// What is in the tables, by hand; keys are the integer keys, otherwise places in the order of the primary key, otherwise in the table.
    private static let lines = [
        #"{"entity":"Order","key":5,"version":1,"customer":1}"#, #"{"entity":"Order","key":6,"version":1,"customer":1}"#,
        #"{"entity":"base","key":1,"version":1,"a":"x"}"#,
        #"{"entity":"country","key":1,"version":1,"code":"AT","name":"Austria"}"#,
        #"{"entity":"country","key":2,"version":1,"code":"DE","name":"Germany"}"#,
        #"{"entity":"customer","key":1,"version":1,"name":"Ada","email":"a@x","joined":"2020-01-31T00:00:00Z","born":"1970-01-01T00:00:00.000001Z","seen":"2019-12-31T22:00:00Z","is_active":true,"mood":"wild","uid":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8","tags":"{a,\"b c\"}","score":3,"nick":"A","code":"x","country_code":2}"#,
        #"{"entity":"customer","key":2,"version":1,"name":"Zoë","is_active":false}"#,
        #"{"entity":"derived","key":1,"version":1,"id":2,"a":"y","b":"z"}"#,
        #"{"entity":"event","key":1,"version":1,"day":"2020-06-01T00:00:00Z","what":"earlier"}"#,
        #"{"entity":"event","key":2,"version":1,"day":"2021-06-01T00:00:00Z","what":"later"}"#,
        #"{"entity":"line","key":1,"version":1,"number":1,"order":5,"product":11}"#,
        #"{"entity":"line","key":2,"version":1,"number":2,"order":5}"#,
        #"{"entity":"line","key":3,"version":1,"number":1,"order":6,"product":10}"#,
        #"{"entity":"note","key":1,"version":1,"order_id":6,"number":1,"body":"six","line":3}"#,
        #"{"entity":"note","key":2,"version":1,"order_id":5,"body":"none"}"#,
        #"{"entity":"product","key":10,"version":1,"price":"19.9","weight":1.5,"size":0.0,"photo":"AP8=","status":"new","rank":3,"meta":"{\"a\": 1}","exact":"12345678901234567890123456789012345678"}"#,
        #"{"entity":"product","key":11,"version":1,"weight":"inf","size":0.1,"photo":"","rank":-4,"exact":"0.000000000000000000000000000001"}"#,
        #"{"entity":"tag","key":1,"version":1,"id":"00000000-0000-0000-0000-000000000001","name":"a"}"#,
        #"{"entity":"tag","key":2,"version":1,"id":"00000000-0000-0000-0000-000000000002","name":"b"}"#,
        #"{"link":"product.tag","owner":10,"rank":0,"member":2}"#, #"{"link":"product.tag","owner":11,"rank":0,"member":1}"#,
    ]

    /// A schema made by a script, opened.
    private struct Place {
        let schema: String
        let store: OpenDatabase

        init(_ script: String = ForeignPostgreSQLTests.script) throws {
            let made = try ForeignDatabases.postgreSQL(script)
            schema = made.schema
            store = try OpenDatabase(made.url)
        }

        func drop() {
            store.close()
            ForeignDatabases.drop(schema)
        }
    }

    @Test func everyValueIsReadExactly() throws {
        let place = try Place()
        defer { place.drop() }
        let store = place.store
        #expect(try store.lines() == Self.lines)
    }

    @Test func tablesBecomeEntitiesAndReferencesRelationships() throws {
        let place = try Place()
        defer { place.drop() }
        let store = place.store
        #expect(
            Set(store.schema.relationshipLines) == [
                "Order.customer 1 customer.Order nullify", "Order.line * line.order cascade",
                "country.customer * customer.country_code deny",
                "customer.country_code 1 country.customer nullify", "customer.Order * Order.customer cascade",
                "line.order 1 Order.line nullify", "line.product 1 product.line nullify", "line.note * note.line deny",
                "note.line 1 line.note nullify", "product.line * line.product nullify", "product.tag * tag.product nullify",
                "tag.product * product.tag nullify",
            ])
        func attribute(_ entity: String, _ name: String) -> Attribute? { store.schema.entity(entity)?.attributes.first { $0.name == name } }
        #expect(attribute("product", "price")?.rules == AttributeRules(minimum: .decimal(0), maximum: .decimal(1000)))
        #expect(attribute("product", "rank")?.rules == AttributeRules(minimum: .int(-4)))
        #expect(attribute("product", "status")?.allowedValues == [.string("new"), .string("sold")])
        #expect(attribute("customer", "mood")?.allowedValues == [.string("calm"), .string("wild")])
        #expect(attribute("customer", "name")?.rules.maxLength == 80)
        #expect(attribute("customer", "nick")?.rules.maxLength == 5)
        #expect(store.schema.entity("line")?.uniqueConstraints.map(\.properties) == [["order", "number"]])
        #expect(
            store.remarks == [
                "the view active is left out: only tables are read",
                "customer.tags is read as the text of its values: the type text[] is not supported",
                "the CHECK constraints of the domain of customer.score are left out",
                "the CHECK constraints of the domain of customer.nick are left out",
                "a CHECK constraint of product is left out: it does not correspond to a rule of an attribute",
            ])
    }

    @Test func indexesOverColumnsArePartOfTheModel() throws {
        let place = try Place(
            """
            CREATE TABLE item(id int PRIMARY KEY, code text, rank int, weight int, words tsvector, span int4range);
            CREATE INDEX by_code ON item(code text_pattern_ops);
            CREATE INDEX by_hash ON item USING hash(rank);
            CREATE INDEX by_weight ON item(weight DESC NULLS LAST, id) INCLUDE (code);
            CREATE INDEX by_words ON item USING gin(words);
            CREATE INDEX highest ON item(code) WHERE rank > 3;
            CREATE INDEX lowest ON item(lower(code), rank);
            ALTER TABLE item ADD EXCLUDE USING gist(span WITH &&);
            """)
        defer { place.drop() }
        let indexes = try #require(place.store.schema.entity("item")?.indexes)
        #expect(indexes == [Index(["code"]), Index(["rank"]), Index(["weight"])])
        #expect(
            place.store.remarks.filter { $0.contains("index") } == [
                "the index highest of item is left out: it is partial",
                "the index lowest of item is left out: it is over expressions",
                "the index by_words of item is left out: it has the access method gin",
            ])
    }

    @Test func itMovesToLMDBAndBackWithEqualDigests() throws {
        let place = try Place()
        defer { place.drop() }
        let store = place.store
        let there = try store.transferred(to: LMDBStore(path: ForeignDatabases.path(".lmdb")))
        let back = try there.transferred(to: TestStore.postgresql.make())
        defer { try? back.store.erase() }
        let digests = try store.digests()
        #expect(digests.map(\.digest.count).reduce(0, +) == Self.lines.count)
        #expect(try there.digests() == digests)
        #expect(try back.digests() == digests)
    }

    @Test func theServerAnswersRequests() throws {
        let place = try Place()
        defer { place.drop() }
        let store = place.store
        #expect(try store.keys("line", "order.customer.country_code.code == 'DE' AND product.price > 5") == [3])
        #expect(try store.keys("product", "ANY tag.name == 'b'") == [10])
        #expect(try store.keys("Order", "SELF == 6") == [6])
        #expect(try store.keys("customer", "name BEGINSWITH 'Z'") == [2])
        #expect(try store.keys("country", "code != nil", orderBy: ["name"]) == [1, 2])
    }

    @Test func aListOfTextsIsARuleWhereTextsAreComparedByBytes() throws {
        let place = try Place(
            """
            CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
            CREATE TABLE a(id int PRIMARY KEY, t text COLLATE "C" CHECK (t IN ('a', 'B')),
                f text COLLATE folded CHECK (f IN ('a', 'B')), n int CHECK (n >= 0), "N" int);
            INSERT INTO a VALUES(1, 'B', 'A', 1, -1);
            """)
        defer { place.drop() }
        let attributes = place.store.schema.entity("a")?.attributes ?? []
        #expect(attributes.map(\.allowedValues) == [[.string("a"), .string("B")], [], [], []])
        // Both columns have the same name in a condition, except for quotation marks that distinguish their case.
        #expect(attributes.allSatisfy { $0.rules == AttributeRules() })
        #expect(place.store.remarks.contains { $0.contains("CHECK constraint of a is left out") })
    }

    @Test(arguments: [
        "c numeric, 'NaN'", "c numeric, 1e38 + 1.5", "c float8, 'NaN'", "c timestamptz, 'infinity'", "c date, '0044-03-15 BC'",
    ])
    func aValueWithoutAFormIsAnErrorThatNamesIt(_ text: String) throws {
        let parts = text.split(separator: ", ")
        let place = try Place("CREATE TABLE a(id int PRIMARY KEY, \(parts[0])); INSERT INTO a VALUES(1, NULL), (2, \(parts[1]));")
        defer { place.drop() }
        let store = place.store
        #expect(store.readingFailure?.code == .valueNotStorable)
        #expect(store.readingFailure?.message.hasPrefix("a.c holds a value") == true)
        // What does not read the column is answered, and so is what reads other rows.
        #expect(try store.keys("a", "SELF == 1") == [1])
    }

    @Test func aForeignStoreAddsNothingAndRefusesWrites() throws {
        let place = try Place()
        defer { place.drop() }
        let store = place.store
        let schema = place.schema
        _ = try store.lines()
        #expect(failure { _ = try store.store.beginWrite(WriteOptions()) }?.code == .readOnly)
        #expect(failure { try store.store.erase() }?.code == .readOnly)
        let other = try OpenDatabase("\(TestStore.server ?? "")&x-catalog=foreign&x-schema=\(schema)")
        defer { other.close() }
        #expect(other.id == store.id)
        #expect(other.schema == store.schema)
    }

    @Test func errorsNameTheOption() throws {
        let place = try Place("CREATE TABLE a(id int PRIMARY KEY);")
        defer { place.drop() }
        let schema = place.schema
        let missing = failure { _ = try OpenDatabase("\(TestStore.server ?? "")&x-schema=\(schema)&x-mode=ro") }
        #expect(missing?.code == .notFound)
        #expect(missing?.message.contains("x-catalog=foreign") == true)
        #expect(failure { _ = try OpenDatabase("\(TestStore.server ?? "")&x-catalog=foreign&x-schema=\(schema)x") }?.code == .notFound)
        #expect(failure { _ = try OpenDatabase("\(TestStore.server ?? "")&x-catalog=other") }?.code == .invalidConfiguration)
    }
}
