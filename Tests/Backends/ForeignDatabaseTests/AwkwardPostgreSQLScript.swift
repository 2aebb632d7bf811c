import PolystoreStorage

/// 32 tables of a PostgreSQL schema, each with a trap. The properties are worked out by hand from the article on existing databases.
///
/// The reader is a role that row security applies to, and whose settings would change the texts of values.
enum AwkwardPostgreSQLScript {
    static let tables: [AwkwardTable] = [types] + values + dates + relations + keys + references + names

    static let start = """
        SELECT current_schema() AS own, current_schema() || '_other' AS other, current_schema() || '_reader' AS reader \\gset
        CREATE SCHEMA :other;
        CREATE ROLE :reader LOGIN;
        ALTER ROLE :reader SET DateStyle = 'German, DMY';
        ALTER ROLE :reader SET IntervalStyle = 'iso_8601';
        ALTER ROLE :reader SET bytea_output = 'escape';
        ALTER ROLE :reader SET TimeZone = 'Asia/Tokyo';
        ALTER ROLE :reader SET extra_float_digits = -3;
        ALTER ROLE :reader SET standard_conforming_strings = off;
        SET TimeZone = 'UTC';
        CREATE TYPE pair AS (a int, b text);
        CREATE TYPE mood AS ENUM ('', 'a,b', 'ü', 'it''s', 'NULL');

        """

    static let end = """

        GRANT USAGE ON SCHEMA :own, :other TO :reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA :own, :other TO :reader;
        """

    /// The columns of a table with one value of each type.
    private static let typed: [(type: String, value: String, becomes: ValueType)] = [
        ("int2", "-32768", .int16), ("int4", "-2147483648", .int32), ("int8", "9007199254740993", .int64), ("oid", "4294967295", .int64),
        ("bool", "false", .bool), ("float4", "16777217", .float), ("float8", "10.357019999999999", .double), ("numeric", "1.50", .decimal),
        ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", .uuid), ("bytea", "\\x00ff", .data), ("date", "2020-01-31", .date),
        ("timestamp", "2020-01-31 10:00:00.000001", .date), ("timestamptz", "2020-01-31 10:00+02", .date),
        ("text", " a ", .string), ("varchar(3)", "ü🙂e", .string), ("char(4)", "x", .string), ("name", "n", .string),
        ("\"char\"", "c", .string),
        ("json", "{\"b\": 1,  \"a\": 1, \"a\": 2}", .string), ("jsonb", "{\"b\": 1.50, \"a\": 1}", .string), ("jsonpath", "$.a", .string),
        ("xml", "<a>é</a>", .string), ("money", "-1234.5", .string), ("time", "24:00:00", .string), ("timetz", "10:00:00.5+05:30", .string),
        ("interval", "1 year -3 days 04:05:06.789", .string), ("bit(4)", "0101", .string), ("varbit", "", .string),
        ("inet", "10.0.0.1/8", .string), ("cidr", "10.0.0.0/8", .string), ("macaddr", "08:00:2b:01:02:03", .string),
        ("macaddr8", "08:00:2b:01:02:03:04:05", .string), ("point", "(0.1,-0)", .string), ("line", "{1,2,3}", .string),
        ("lseg", "[(0,0),(1,1)]", .string), ("box", "(1,1),(0,0)", .string), ("path", "((0,0),(1,1))", .string),
        ("polygon", "((0,0),(1,1),(1,0))", .string), ("circle", "<(0,0),0.1>", .string), ("int4range", "[1,5]", .string),
        ("numrange", "(,1.50]", .string), ("tstzrange", "[2020-01-01 00:00+02,)", .string), ("daterange", "empty", .string),
        ("int8multirange", "{[1,3),[7,9)}", .string), ("tsvector", "b:2 a:1", .string), ("tsquery", "a & !b", .string),
        ("pg_lsn", "16/B374D848", .string), ("xid8", "18446744073709551615", .string), ("pg_snapshot", "10:20:10,14", .string),
        ("tid", "(1,2)", .string), ("regtype", "timestamptz", .string), ("pair", "(1,\"a,b\")", .string), ("mood", "it''s", .string),
    ]

    private static let types = AwkwardTable(
        "types",
        """
        CREATE TABLE types(id int PRIMARY KEY, \(typed.indices.map { "c\($0) \(typed[$0].type)" }.joined(separator: ", ")));
        INSERT INTO types VALUES(1, \(typed.map { "'\($0.value)'" }.joined(separator: ", "))), (2\(String(repeating: ", NULL", count: typed.count)));
        """, as: "types", typed.indices.map { "c\($0) \(typed[$0].becomes.rawValue)" })

    private static let values = [
        AwkwardTable(
            "domains",
            """
            CREATE DOMAIN exact AS numeric(38, 10); CREATE DOMAIN short AS varchar(3); CREATE DOMAIN shorter AS short CHECK (VALUE <> 'bad') NOT NULL;
            CREATE DOMAIN feeling AS mood; CREATE DOMAIN numbers AS int[]; CREATE DOMAIN truth AS bool;
            CREATE TABLE domains(id int PRIMARY KEY, n exact, s shorter, e mood, f feeling, a numbers, b truth);
            INSERT INTO domains VALUES(1, 1234567890123456789012345678.0123456789, 'añb', '', 'a,b', '{1,NULL}', true),
                (2, -0.0000000001, '', 'NULL', NULL, '{}', NULL);
            """, as: "domains", ["n decimal", "s string", "e string", "f string", "a string", "b bool"]),
        AwkwardTable(
            "arrays",
            """
            CREATE TABLE arrays(id int PRIMARY KEY, i int[], t text[], z timestamptz[], d date[], b bytea[], s interval[], f float8[]);
            INSERT INTO arrays VALUES(1, '[0:1]={1,NULL}', ARRAY['a b', NULL, 'NULL', '', '{', '"', '\\'], ARRAY['2020-01-01 00:00+02'::timestamptz],
                '{2020-01-31,infinity}', ARRAY['\\x00'::bytea], '{1 year -3 days 04:05:06}', '{10.357019999999999,NaN}'),
                (2, '{{1,2},{3,4}}', '{}', NULL, NULL, NULL, NULL, NULL);
            """, as: "arrays", ["i", "t", "z", "d", "b", "s", "f"].map { "\($0) string" }),
        AwkwardTable(
            "reals",
            """
            CREATE TABLE reals(id int PRIMARY KEY, d float8, f float4);
            INSERT INTO reals VALUES(1, 1e300, 16777217), (2, 'Infinity', 0.1), (3, '-Infinity', '-Infinity'), (4, '-0', '-0'),
                (5, 16777217, 3.4028235e38), (6, 10.357019999999999, 1e-45), (7, 5e-324, NULL), (8, 1.7976931348623157e308, 'Infinity'),
                (9, 'NaN', 1), (10, 1, 'NaN');
            """, as: "reals", ["d double = d + 0", "f float = f + 0::float4"], refused: [9: "d", 10: "f"]),
        AwkwardTable(
            "decimals",
            """
            CREATE TABLE decimals(id int PRIMARY KEY, n numeric, m numeric(38, 10));
            INSERT INTO decimals VALUES(1, 99999999999999999999999999999999999999, 9999999999999999999999999999.9999999999), (2, 1.5000, -0),
                (3, 1e100, 0.0000000001), (4, -1e-100, NULL), (5, 0, 10.357019999999999), (6, 100000000000000000000000000000000000000.5, NULL),
                (7, 'NaN', NULL), (8, 'Infinity', NULL), (9, 1e127, NULL), (10, 1e-128, NULL), (11, NULL, 'NaN'),
                (12, 123456789012345678901234567890123456789, NULL);
            """, as: "decimals", ["n decimal = trim_scale(n)", "m decimal = trim_scale(m)"],
            refused: [6: "n", 7: "n", 8: "n", 9: "n", 10: "n", 11: "m", 12: "n"]),
        AwkwardTable(
            "texts",
            """
            CREATE TABLE texts(id int PRIMARY KEY, t text UNIQUE, v varchar(5), c char(5), b bytea);
            INSERT INTO texts VALUES(1, 'é', '👩‍👩‍👧', 'a', ''), (2, U&'e\\0301', U&'e\\0301', '', NULL), (3, '', NULL, NULL, '\\x00'),
                (4, E'\\t', E'\\n', E'\\t', '\\x'), (5, '\\', '\\N', '\\', NULL), (6, E'\\r\\n', '', ' a', NULL), (7, ' ', ' ', ' ', NULL),
                (8, 'NULL', 'nil', 'null', NULL), (9, NULL, NULL, NULL, decode(repeat('0123456789abcdef', 131072), 'hex')),
                (10, repeat('ü', 50000), NULL, NULL, NULL), (11, E'\\U0010FFFF', E'\\uFEFF', E'\\u0001', NULL), (12, NULL, NULL, NULL, NULL);
            """, as: "texts", ["t string", "v string", "c string", "b data"]),
        AwkwardTable(
            "generated",
            """
            CREATE TABLE generated(id int PRIMARY KEY, a int, twice int GENERATED ALWAYS AS (a * 2) STORED);
            INSERT INTO generated(id, a) VALUES(1, 3), (2, NULL);
            """, as: "generated", ["a int32", "twice int32"]),
    ]

    private static let dates = [
        AwkwardTable(
            "dates",
            """
            CREATE TABLE dates(id int PRIMARY KEY, d date, t timestamp, z timestamptz, p timestamptz(3));
            INSERT INTO dates VALUES(1, '0001-01-01', '0001-01-01 00:00:00', '0001-01-01 00:00+00', '2020-01-01 00:00:00.1235+00'),
                (2, '9999-12-31', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999+00', NULL),
                (3, '1582-10-10', '1969-12-31 23:59:59.999999', '2020-03-29 02:30+01', '1900-01-01 00:00+00'), (4, NULL, NULL, NULL, NULL);
            """, as: "dates", ["d date", "t date", "z date", "p date"]),
        AwkwardTable(
            "strange_dates",
            """
            CREATE TABLE strange_dates(id int PRIMARY KEY, d date, t timestamp, z timestamptz);
            INSERT INTO strange_dates VALUES(1, '0044-03-15 BC', NULL, NULL), (2, 'infinity', NULL, NULL), (3, NULL, '-infinity', NULL),
                (4, NULL, NULL, 'infinity'), (5, NULL, NULL, '0001-01-01 00:00+01'), (6, '10000-01-01', NULL, NULL),
                (7, NULL, '10000-01-01', NULL), (8, NULL, NULL, '9999-12-31 23:59:59-01'), (9, '0001-12-31 BC', NULL, NULL),
                (10, '2020-01-31', '2020-01-31', '2020-01-31');
            """, as: "strange_dates", ["d date", "t date", "z date"],
            refused: [1: "d", 2: "d", 3: "t", 4: "z", 5: "z", 6: "d", 7: "t", 8: "z", 9: "d"]),
    ]

    private static let relations = [
        AwkwardTable(
            "parted",
            """
            CREATE TABLE parted(day date NOT NULL, what text) PARTITION BY RANGE (day);
            CREATE TABLE parted_2020 PARTITION OF parted FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
            CREATE TABLE :other.parted_rest PARTITION OF parted DEFAULT PARTITION BY LIST (what);
            CREATE TABLE parted_b PARTITION OF :other.parted_rest FOR VALUES IN ('b', 'c');
            CREATE TABLE :other.parted_null PARTITION OF :other.parted_rest DEFAULT;
            INSERT INTO parted VALUES('2021-06-01', 'b'), ('2020-06-01', 'a'), ('2022-06-01', NULL), ('2021-06-01', 'b');
            """, as: "parted", key: "row_number() OVER (ORDER BY tableoid, ctid)", ["day date", "what string"]),
        AwkwardTable(
            "part_of_other",
            """
            CREATE TABLE :other.whole(id int PRIMARY KEY, v text) PARTITION BY LIST (id);
            CREATE TABLE part_of_other PARTITION OF :other.whole FOR VALUES IN (1, 2) PARTITION BY LIST (id);
            CREATE TABLE part_of_part PARTITION OF part_of_other DEFAULT;
            INSERT INTO :other.whole VALUES(2, 'b'), (1, 'a');
            """, as: "part_of_other", ["v string"]),
        AwkwardTable(
            "base", "CREATE TABLE base(id int PRIMARY KEY, a text); INSERT INTO base VALUES(1, 'x');", as: "base", ["a string"],
            where: "tableoid = 'base'::regclass"),
        AwkwardTable(
            "derived", "CREATE TABLE derived(b text) INHERITS (base); INSERT INTO derived VALUES(1, 'y', 'z'), (1, 'y', NULL);",
            as: "derived",
            key: "row_number() OVER (ORDER BY ctid)", ["id int32", "a string", "b string"]),
        AwkwardTable(
            "no_columns", "CREATE TABLE no_columns(); INSERT INTO no_columns DEFAULT VALUES; INSERT INTO no_columns DEFAULT VALUES;",
            as: "no_columns", key: "row_number() OVER (ORDER BY ctid)"),
        AwkwardTable(
            "hidden_rows",
            """
            CREATE TABLE hidden_rows(id int PRIMARY KEY, a text); INSERT INTO hidden_rows VALUES(1, 'a'), (2, 'secret'), (3, NULL);
            ALTER TABLE hidden_rows ENABLE ROW LEVEL SECURITY; CREATE POLICY visible ON hidden_rows USING (id <> 2);
            """, as: "hidden_rows", ["a string"], losses: ["hidden_rows"], where: "id <> 2"),
    ]

    private static let keys = [
        AwkwardTable(
            "identity",
            """
            CREATE TABLE identity(id int GENERATED ALWAYS AS IDENTITY (MINVALUE -2) PRIMARY KEY, n smallint UNIQUE);
            INSERT INTO identity(n) VALUES(1), (NULL), (NULL);
            """, as: "identity", ["n int16"]),
        AwkwardTable(
            "limits",
            """
            CREATE TABLE limits(id bigint PRIMARY KEY, n bigint);
            INSERT INTO limits VALUES(9223372036854775807, 9223372036854775807), (-9223372036854775808, 9007199254740993),
                (0, -9223372036854775808);
            """, as: "limits", key: "row_number() OVER (ORDER BY id)", ["id int64", "n int64"]),
        AwkwardTable(
            "nulls_not_distinct",
            """
            CREATE TABLE nulls_not_distinct(id int PRIMARY KEY, a int, b int, c int UNIQUE, UNIQUE NULLS NOT DISTINCT (a, b));
            INSERT INTO nulls_not_distinct VALUES(1, NULL, NULL, NULL), (2, NULL, 1, NULL), (3, 1, NULL, 1);
            """, as: "nulls_not_distinct", ["a int32", "b int32", "c int32"]),
        AwkwardTable(
            "long_unique",
            """
            CREATE TABLE long_unique(id int PRIMARY KEY, t text UNIQUE);
            INSERT INTO long_unique SELECT 2 * i + e, repeat('x', i - 1) || e FROM generate_series(495, 515) AS i, generate_series(0, 1) AS e;
            INSERT INTO long_unique SELECT e, repeat('é', 10000) || e FROM generate_series(0, 1) AS e;
            """, as: "long_unique", ["t string"]),
    ]

    private static let references = [
        AwkwardTable(
            "deferred_left", "CREATE TABLE deferred_left(id int PRIMARY KEY, right_id int NOT NULL);", as: "deferred_left",
            ["right key = right_id"]),
        AwkwardTable(
            "deferred_right",
            """
            CREATE TABLE deferred_right(id int PRIMARY KEY, left_id int NOT NULL REFERENCES deferred_left DEFERRABLE INITIALLY DEFERRED);
            ALTER TABLE deferred_left ADD FOREIGN KEY (right_id) REFERENCES deferred_right DEFERRABLE INITIALLY DEFERRED;
            BEGIN; INSERT INTO deferred_left VALUES(1, 2), (2, 1); INSERT INTO deferred_right VALUES(1, 1), (2, 2); COMMIT;
            """, as: "deferred_right", ["left key = left_id"]),
        AwkwardTable(
            "refers_to_unique",
            """
            CREATE TABLE refers_to_unique(id int PRIMARY KEY, code text UNIQUE, next_code text REFERENCES refers_to_unique(code));
            INSERT INTO refers_to_unique VALUES(1, 'é', U&'e\\0301'), (2, U&'e\\0301', 'é'), (3, NULL, ''), (4, '', NULL);
            """, as: "refers_to_unique",
            ["next_code key = (SELECT o.id FROM refers_to_unique o WHERE o.code = refers_to_unique.next_code)", "code string"]),
        AwkwardTable(
            "refers_to_hidden",
            """
            CREATE TABLE refers_to_hidden(id int PRIMARY KEY, hidden_id int NOT NULL REFERENCES hidden_rows);
            INSERT INTO refers_to_hidden VALUES(1, 1), (2, 2), (3, 3);
            """, as: "refers_to_hidden", ["hidden key = NULLIF(hidden_id, 2)"], losses: ["refers_to_hidden.hidden_id"]),
        AwkwardTable(
            "not_validated",
            """
            CREATE TABLE not_validated(id int PRIMARY KEY, other_id int NOT NULL); INSERT INTO not_validated VALUES(1, -1), (2, 99);
            ALTER TABLE not_validated ADD FOREIGN KEY (other_id) REFERENCES identity NOT VALID;
            """, as: "not_validated", ["other key = NULLIF(other_id, 99)"], losses: ["not_validated.other_id"]),
        AwkwardTable(
            "other_schema",
            """
            CREATE TABLE :other.target(id int PRIMARY KEY); INSERT INTO :other.target VALUES(7);
            CREATE TABLE other_schema(id int PRIMARY KEY, other_id int REFERENCES :other.target); INSERT INTO other_schema VALUES(1, 7), (2, NULL);
            """, as: "other_schema", ["other_id int32"]),
        AwkwardTable(
            "self_reference",
            """
            CREATE TABLE self_reference(id int PRIMARY KEY, next_id int REFERENCES self_reference);
            INSERT INTO self_reference VALUES(1, 1), (2, 3), (3, 2), (-4, NULL);
            """, as: "self_reference", ["next key = next_id"]),
        AwkwardTable(
            "friend",
            """
            CREATE TABLE friend(a_id int REFERENCES self_reference, b_id int REFERENCES self_reference, PRIMARY KEY(a_id, b_id));
            INSERT INTO friend VALUES(1, 1), (1, 2), (2, 1), (3, -4);
            """, as: "self_reference.a", key: "b_id", ["member key = a_id"]),
        AwkwardTable(
            "pair_with_extras",
            """
            CREATE TABLE pair_with_extras(a_id int REFERENCES deferred_left, b_id int REFERENCES deferred_right, place int, PRIMARY KEY(b_id, a_id));
            INSERT INTO pair_with_extras VALUES(2, 1, 7), (1, 1, NULL);
            """, as: "pair_with_extras", key: "row_number() OVER (ORDER BY b_id, a_id)", ["a key = a_id", "b key = b_id", "place int32"]),
    ]

    private static let names = [
        AwkwardTable(
            "Order",
            """
            CREATE TABLE "Order"("Id" int PRIMARY KEY, id int, gone text, "A" text, a text, "a'b" text, "a""b" text, "a\\b" text);
            ALTER TABLE "Order" DROP COLUMN gone; INSERT INTO "Order" VALUES(1, 5, 'A', 'a', 'quote', 'quotes', 'backslash');
            """, as: "Order", key: "\"Id\"",
            ["id int32", "A string", "a string", "a_b string = \"a'b\"", "a_b2 string = \"a\"\"b\"", "a_b3 string = \"a\\b\""]),
        AwkwardTable(
            "order",
            "CREATE TABLE \"order\"(id int PRIMARY KEY, \"orderId\" int REFERENCES \"Order\"); INSERT INTO \"order\" VALUES(1, 1), (2, NULL);",
            as: "order", ["order key = \"orderId\""]),
        // The second one in the order of bytes is left out.
        AwkwardTable(
            "e\u{301}",
            """
            CREATE TABLE "e\u{301}"(id int PRIMARY KEY, "ö" text, "o\u{308}" text); INSERT INTO "e\u{301}" VALUES(1, 'one', 'two'), (2, 'x', NULL);
            """, as: "e\u{301}", ["ö string", "ö2 string = \"o\u{308}\""]),
        AwkwardTable(
            "é", "CREATE TABLE \"é\"(id int PRIMARY KEY, a text); INSERT INTO \"é\" VALUES(5, 'one scalar');", as: nil, losses: ["é"]),
    ]
}
