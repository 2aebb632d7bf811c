/// 29 tables of a SQLite file, each with a trap. The properties are worked out by hand from the article on existing databases.
enum AwkwardSQLiteScript {
    static let tables: [AwkwardTable] = keys + references + names + values + dates

    private static let keys = [
        AwkwardTable(
            "composite_key",
            """
            CREATE TABLE composite_key(a TEXT, b INTEGER, v REAL, PRIMARY KEY(b, a));
            INSERT INTO composite_key VALUES('x', 2, 1.5), ('x', 1, NULL), ('', 2, 0);
            """, as: "composite_key", key: "rowid", ["a string", "b int64", "v double"]),
        AwkwardTable(
            "no_key", "CREATE TABLE no_key(v TEXT, n INT); INSERT INTO no_key VALUES('same', 1), ('same', 1), (NULL, NULL);", as: "no_key",
            key: "rowid", ["v string", "n int64"]),
        AwkwardTable(
            "no_identity",
            "CREATE TABLE no_identity(rowid TEXT, _rowid_ TEXT, oid TEXT); INSERT INTO no_identity VALUES('a', 'b', 'c');", as: nil,
            losses: ["no_identity"]),
        AwkwardTable(
            "without_rowid",
            """
            CREATE TABLE without_rowid(code TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
            INSERT INTO without_rowid VALUES('b', 1), ('B', 2), ('ä', 3), ('', 4);
            """, as: "without_rowid", key: "CASE code WHEN '' THEN 1 WHEN 'B' THEN 2 WHEN 'b' THEN 3 ELSE 4 END",
            ["code string", "n int64"]),
        AwkwardTable(
            "limits",
            """
            CREATE TABLE limits(id INTEGER PRIMARY KEY, n INTEGER);
            INSERT INTO limits VALUES(-9223372036854775808, 9007199254740993), (0, -9223372036854775808), (9223372036854775807, 9223372036854775807),
                (3, -9007199254740993);
            """, as: "limits", key: "row_number() OVER (ORDER BY id)", ["id int64", "n int64"]),
        AwkwardTable(
            "null_in_unique",
            """
            CREATE TABLE null_in_unique(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INTEGER, c INTEGER, UNIQUE(b, c));
            INSERT INTO null_in_unique VALUES(1, NULL, 1, NULL), (2, NULL, 1, NULL), (3, '', NULL, NULL), (4, 'NULL', 1, 1);
            """, as: "null_in_unique", ["a string", "b int64", "c int64"]),
        AwkwardTable(
            "long_unique",
            """
            CREATE TABLE long_unique(id INTEGER PRIMARY KEY, t TEXT UNIQUE);
            WITH RECURSIVE n(i) AS (VALUES(495) UNION ALL SELECT i + 1 FROM n WHERE i < 515)
                INSERT INTO long_unique SELECT 2 * i + e, printf('%.*c', i - 1, 'x') || e FROM n, (SELECT 0 AS e UNION SELECT 1);
            INSERT INTO long_unique SELECT e, printf('%.*c', 10000, 'é') || e FROM (SELECT 0 AS e UNION SELECT 1);
            """, as: "long_unique", ["t string"]),
    ]

    private static let references = [
        AwkwardTable(
            "cycle_left", "CREATE TABLE cycle_left(id INTEGER PRIMARY KEY, right_id INTEGER NOT NULL REFERENCES cycle_right(id));",
            as: "cycle_left", ["right key = right_id"]),
        AwkwardTable(
            "cycle_right",
            """
            CREATE TABLE cycle_right(id INTEGER PRIMARY KEY, left_id INTEGER NOT NULL REFERENCES cycle_left(id));
            INSERT INTO cycle_left VALUES(1, 2), (2, 1); INSERT INTO cycle_right VALUES(1, 1), (2, 2);
            """, as: "cycle_right", ["left key = left_id"]),
        AwkwardTable(
            "self_reference",
            """
            CREATE TABLE self_reference(id INTEGER PRIMARY KEY, next_id INTEGER REFERENCES self_reference);
            INSERT INTO self_reference VALUES(1, 1), (2, 3), (3, 2), (-4, NULL);
            """, as: "self_reference", ["next key = next_id"]),
        AwkwardTable(
            "friend",
            """
            CREATE TABLE friend(a_id INTEGER NOT NULL REFERENCES self_reference, b_id INTEGER NOT NULL REFERENCES self_reference(id),
                PRIMARY KEY(a_id, b_id));
            INSERT INTO friend VALUES(1, 1), (1, 2), (2, 1), (3, -4);
            """, as: "self_reference.a", key: "b_id", ["member key = a_id"]),
        AwkwardTable(
            "pair_with_extras",
            """
            CREATE TABLE pair_with_extras(a_id INTEGER REFERENCES cycle_left, b_id INTEGER REFERENCES cycle_right, place INTEGER,
                PRIMARY KEY(a_id, b_id));
            INSERT INTO pair_with_extras VALUES(2, 1, 7), (1, 1, NULL);
            """, as: "pair_with_extras", key: "rowid", ["a key = a_id", "b key = b_id", "place int64"]),
        AwkwardTable(
            "refers_to_unique",
            """
            CREATE TABLE refers_to_unique(id INTEGER PRIMARY KEY, code TEXT UNIQUE, next_code TEXT REFERENCES refers_to_unique(code));
            INSERT INTO refers_to_unique VALUES(1, 'é', 'e' || char(0x301)), (2, 'e' || char(0x301), 'é'), (3, NULL, ''), (4, '', NULL);
            """, as: "refers_to_unique",
            ["code string", "next_code key = (SELECT o.id FROM refers_to_unique o WHERE o.code = refers_to_unique.next_code)"]),
    ]

    private static let names = [
        AwkwardTable(
            "select",
            """
            CREATE TABLE "select"("from" INTEGER PRIMARY KEY, "order" TEXT, "group" TEXT, "_id" INTEGER, "SELF" INTEGER, "key" TEXT);
            INSERT INTO "select" VALUES(1, 'asc', 'by', 5, 6, 'k');
            """, as: "select", key: "\"from\"",
            ["order string", "group string", "x_id int64 = \"_id\"", "xSELF int64 = \"SELF\"", "key string"]),
        AwkwardTable(
            "Größe 数量",
            """
            CREATE TABLE "Größe 数量"(id INTEGER PRIMARY KEY, "ключ" TEXT, "naïve name" TEXT, "🙂" TEXT, "a.b" TEXT, "a""b" TEXT, "a'b" TEXT);
            INSERT INTO "Größe 数量" VALUES(1, 'a', 'b', 'c', 'd', 'e', 'f');
            """, as: "Größe_数量",
            [
                "ключ string", "naïve_name string = \"naïve name\"", "x_ string = \"🙂\"", "a_b string = \"a.b\"",
                "a_b2 string = \"a\"\"b\"", "a_b3 string = \"a'b\"",
            ]),
        AwkwardTable(
            "", "CREATE TABLE \"\"(\"\" TEXT, a INT); INSERT INTO \"\" VALUES('x', 1);", as: "x", key: "rowid",
            ["x string = \"\"", "a int64"]),
        // The second one in the order of bytes is left out.
        AwkwardTable(
            "e\u{301}",
            """
            CREATE TABLE "e\u{301}"(id INTEGER PRIMARY KEY, "ö" TEXT, "o\u{308}" TEXT); INSERT INTO "e\u{301}" VALUES(1, 'one', 'two'), (2, 'x', NULL);
            """, as: "e\u{301}", ["ö string", "ö2 string = \"o\u{308}\""]),
        AwkwardTable(
            "é", "CREATE TABLE \"é\"(id INTEGER PRIMARY KEY, a TEXT); INSERT INTO \"é\" VALUES(5, 'one scalar');", as: nil, losses: ["é"]),
    ]

    private static let values = [
        AwkwardTable(
            "generated",
            """
            CREATE TABLE generated(id INTEGER PRIMARY KEY, a INTEGER, twice INTEGER AS (a * 2) VIRTUAL, t TEXT AS ('<' || a || '>') STORED);
            INSERT INTO generated(id, a) VALUES(1, 3), (2, NULL);
            """, as: "generated", ["a int64", "twice int64", "t string"]),
        AwkwardTable(
            "strict_any",
            """
            CREATE TABLE strict_any(id INTEGER PRIMARY KEY, a ANY, n INT, r REAL, one ANY) STRICT;
            INSERT INTO strict_any VALUES(1, 1, 5, 5, 1), (2, '1', NULL, 0.5, 2.5), (3, x'31', -1, NULL, NULL);
            """, as: "strict_any", ["n int64", "r double", "one double"], losses: ["strict_any.a"]),
        AwkwardTable(
            "reals",
            """
            CREATE TABLE reals(id INTEGER PRIMARY KEY, x REAL);
            INSERT INTO reals VALUES(1, 1e300), (2, 9e999), (3, -9e999), (4, -0.0), (5, 16777217.0), (6, 10.357019999999999), (7, 5e-324),
                (8, 1.7976931348623157e308), (9, 0.1), (10, 9007199254740993), (11, NULL), (12, 2.2250738585072014e-308);
            """, as: "reals", ["x double = x + 0.0"]),
        AwkwardTable(
            "blobs",
            """
            CREATE TABLE blobs(id INTEGER PRIMARY KEY, b BLOB, t TEXT);
            INSERT INTO blobs VALUES(1, randomblob(1048576), ''), (2, x'', NULL), (3, NULL, printf('%.*c', 50000, 'z')), (4, x'00', ' ');
            """, as: "blobs", ["b data", "t string"]),
        AwkwardTable(
            "texts",
            """
            CREATE TABLE texts(id INTEGER PRIMARY KEY, t TEXT UNIQUE, plain);
            INSERT INTO texts VALUES(1, 'é', 'a'), (2, 'e' || char(0x301), 'nil'), (3, '👩‍👩‍👧‍👦🇩🇪', ''), (4, char(9), '\\N'), (5, '\\', NULL),
                (6, char(10), 'a"b'), (7, char(13, 10), ''''), (8, ' ', '%s'), (9, '', char(0xfeff)), (10, char(0x10ffff), char(1)),
                (11, 'NULL', char(0xd7ff, 0xe000)), (12, 'Straße', '1'), (13, 'STRASSE', '1.0');
            """, as: "texts", ["t string", "plain string"]),
        AwkwardTable(
            "misfits",
            """
            CREATE TABLE misfits(id INTEGER PRIMARY KEY, t TEXT, b BLOB, n INTEGER);
            INSERT INTO misfits VALUES(1, 'a', x'61', 1), (2, 'a' || char(0) || 'b', NULL, 1), (3, CAST(x'c328' AS TEXT), NULL, 1),
                (4, x'61', NULL, 1), (5, NULL, 'a', 1), (6, NULL, 5, 1), (7, NULL, 2.5, 1), (8, NULL, NULL, 1.5), (9, NULL, NULL, 9e18),
                (10, NULL, NULL, 1e19);
            """, as: "misfits", ["t string", "b data", "n int64"],
            refused: [2: "t", 3: "t", 4: "t", 5: "b", 6: "b", 7: "b", 8: "n", 10: "n"]),
        AwkwardTable(
            "forms",
            """
            CREATE TABLE forms(id INTEGER PRIMARY KEY, d DECIMAL(38, 10), f BOOLEAN, u UUID);
            INSERT INTO forms VALUES(1, 0.1, 'true', x'000102030405060708090a0b0c0d0e0f'), (2, '10.357019999999999', 'false', NULL),
                (3, 9223372036854775807, 1, '6BA7B810-9dad-11d1-80b4-00c04fd430c8'), (4, -0.0, 0, '6ba7b8109dad11d180b400c04fd430c8'),
                (5, '12345678901234567890.5', NULL, NULL), (6, 1e100, NULL, NULL), (7, 9e999, NULL, NULL), (8, 1e300, NULL, NULL),
                (9, 'NaN', NULL, NULL), (10, NULL, 2, NULL), (11, NULL, 'on', NULL), (14, NULL, 'YES', NULL), (15, NULL, 'f', NULL), (12, NULL, NULL, x'00'), (13, NULL, NULL, 'x');
            """, as: "forms",
            [
                "d decimal = CASE id WHEN 2 THEN '10.357019999999999' WHEN 4 THEN '0' WHEN 5 THEN '12345678901234567000' ELSE d END",
                "f bool = CASE f WHEN 'true' THEN 1 WHEN 'YES' THEN 1 WHEN 'false' THEN 0 WHEN 'f' THEN 0 ELSE f END",
                "u uuid = CASE typeof(u) WHEN 'blob' THEN hex(u) ELSE replace(u, '-', '') END",
            ], refused: [7: "d", 8: "d", 9: "d", 10: "f", 11: "f", 12: "u", 13: "u"]),
        AwkwardTable(
            "broken_rules",
            """
            CREATE TABLE broken_rules(id INTEGER PRIMARY KEY, n INTEGER CHECK (n > 0), t TEXT CHECK (length(t) <= 2));
            PRAGMA ignore_check_constraints = 1;
            INSERT INTO broken_rules VALUES(1, 1, '👩‍👧'), (2, 0, 'ab'), (3, 1, 'e' || char(0x301)), (4, NULL, NULL), (5, 2, '🙂🙂');
            PRAGMA ignore_check_constraints = 0;
            """, as: "broken_rules", ["n int64", "t string"], refused: [1: "t", 2: "n"], isReadable: true),
    ]

    private static let dates = [
        AwkwardTable(
            "dates",
            """
            CREATE TABLE dates(id INTEGER PRIMARY KEY, day DATE, at DATETIME);
            INSERT INTO dates VALUES(1, '2020-01-31', '2021-02-03 04:05:06.25'), (2, '0001-01-01', 1612325106), (3, '9999-12-31', 1612325106.25),
                (4, NULL, '2021-02-03T04:05+01:00'), (5, '2020-02-29', '9999-12-31 23:59:59.999999'), (6, -1, -0.000001), (7, 0, 0.0),
                (8, '1969-12-31', '0001-01-01T00:00:00Z'), (9, '', NULL);
            """, as: "dates",
            [
                """
                day date = CASE id WHEN 1 THEN 1580428800000000 WHEN 2 THEN -62135596800000000 WHEN 3 THEN 253402214400000000
                    WHEN 5 THEN 1582934400000000 WHEN 6 THEN -1000000 WHEN 7 THEN 0 WHEN 8 THEN -86400000000 END
                """,
                """
                at date = CASE id WHEN 1 THEN 1612325106250000 WHEN 2 THEN 1612325106000000 WHEN 3 THEN 1612325106250000
                    WHEN 4 THEN 1612321500000000 WHEN 5 THEN 253402300799999999 WHEN 6 THEN -1 WHEN 7 THEN 0 WHEN 8 THEN -62135596800000000 END
                """,
            ], refused: [9: "day"]),
        AwkwardTable(
            "fine_dates",
            """
            CREATE TABLE fine_dates(id INTEGER PRIMARY KEY, at TIMESTAMP, day DATE);
            INSERT INTO fine_dates VALUES(1, '2020-01-01 00:00:00.1234567', '2020-01-01 00:00:00.123456000Z'), (2, 0.0000004, 1612325106.123456),
                (3, '2020-01-01 00:00:00.000000001+01:00', '2020-01-01 00:00:00.1234560+01:00');
            """, as: "fine_dates",
            [
                "at date = CASE id WHEN 1 THEN 1577836800123457 WHEN 2 THEN 0 ELSE 1577833200000000 END",
                "day date = CASE id WHEN 1 THEN 1577836800123456 WHEN 2 THEN 1612325106123456 ELSE 1577833200123456 END",
            ], losses: ["fine_dates.at"]),
        AwkwardTable(
            "strange_dates",
            """
            CREATE TABLE strange_dates(id INTEGER PRIMARY KEY, at DATETIME);
            INSERT INTO strange_dates VALUES(1, '0044-03-15 BC'), (2, '-0044-03-15'), (3, 'infinity'), (4, 2459216.5), (5, '10000-01-01'),
                (6, '2020-01-01 24:00:00'), (7, '2021-02-29'), (8, '2020-01-01 23:59:60'), (9, '0000-12-31'), (10, 1e300), (11, -62135596801),
                (12, 253402300800), (13, 9223372036854775807), (14, x'00'), (15, '31.01.2020'), (16, '2020-01-31'),
                (17, 2459216.123456789);
            """, as: "strange_dates", ["at date = 1580428800000000"],
            refused: Dictionary(uniqueKeysWithValues: ((1...15) + [17]).map { (Int64($0), "at") })),
    ]
}
