import Foundation
import Testing

/// Repairs of indexes, triggers and columns that are not those of the model, and of rows that a missing index has let in.
extension RepairCommandTests {
    /// What a check prints, without the proposed repairs.
    func findings(_ store: String) throws -> [String] {
        try lines(run("check", store).output).map { line in line.split(separator: ";").first.map(String.init) ?? line }
    }

    /// What a check prints of the findings that it calls unmended, as a repair prints them afterwards.
    func unmended(_ store: String) throws -> [String] {
        try lines(run("check", store).output).filter { $0.hasSuffix("; no repair mends it") }
            .map { "left: \($0.dropLast("; no repair mends it".count))" }
    }

    /// Repairs a store, and expects that exactly what the check called unmended is left, also for a second check.
    func repairAndCompare(_ store: String) throws {
        let found = try findings(store), left = try unmended(store), result = try run("check", store, "--repair", "--yes")
        #expect(result.code == (left.isEmpty ? 0 : 1), "\(result)")
        if left.count == found.count {
            #expect(result.error.contains("none of the findings can be mended"), "\(result)")
        } else {
            #expect(lines(result.output).filter { $0.hasPrefix("left: ") } == left, "\(result)")
        }
        #expect(try unmended(store) == left)
        #expect(try findings(store) == (left.isEmpty ? ["nothing was found"] : left.map { String($0.dropFirst(6)) }))
    }

    // MARK: SQLite

    private static let catalog = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY type, name"

    @Test func indexesAndTriggersOfASQLiteFileAreThoseOfTheModel() throws {
        let store = try notes(), before = try program.sqlite3("a.db", Self.catalog)
        try program.sqlite3(
            "a.db",
            """
            DROP INDEX "Note.index.rank"; DROP INDEX "Note.index.twin"; CREATE INDEX "Note.index.twin" ON Note(rank);
            DROP INDEX "Note.parts.member"; DROP TRIGGER "Page.fullText.words.words.insert"; DROP INDEX "Tag.unique.name";
            CREATE INDEX "Tag.index.old" ON Tag(name); CREATE INDEX mine ON Note(body);
            CREATE TRIGGER "Page.fullText.words.words.other" AFTER INSERT ON Page BEGIN SELECT 1; END;
            """)
        let found = try findings(store)
        for text in [
            "Note: the index Note.index.rank is missing", "Note: the index Note.index.twin is not that of the model",
            "Note.parts: the index Note.parts.member is missing", "Page: the trigger Page.fullText.words.words.insert is missing",
            "Page: the model has no trigger Page.fullText.words.words.other", "Tag: the index Tag.unique.name is missing",
            "Tag: the model has no index Tag.index.old",
            "Note: the index mine was made by another program, which can remove it (DROP INDEX)",
        ] { #expect(found.contains(text), "\(text): \(found)") }
        #expect(found.count == 8)
        #expect(try run("check", store).error == "polystore: check --repair mends 7 of 8 findings\n")
        try repairAndCompare(store)
        try program.sqlite3("a.db", "DROP INDEX mine")
        #expect(try program.sqlite3("a.db", Self.catalog) == before)
        #expect(try run("check", store).output == "nothing was found\n")
    }

    @Test func aFullTextIndexThatIsGoneIsMadeAgain() throws {
        let store = try notes()
        try program.sqlite3("a.db", "DROP TABLE \"Page.fullText.words.words\"")
        #expect(try findings(store) == ["Page: the index Page.fullText.words.words is missing"])
        try repairAndCompare(store)
        #expect(try run("query", store, "Page", "--where", "words SEARCH 'sea'", "--count").output.hasPrefix("1"))
    }

    @Test func theWordsOfAFullTextIndexAreThoseOfTheTexts() throws {
        let store = try notes(), index = "\"Page.fullText.words.words\""
        try program.sqlite3(
            "a.db",
            """
            INSERT INTO \(index)(\(index), rowid, words) VALUES('delete', 1, 'red sky'); INSERT INTO \(index)(rowid, words) VALUES(1, 'sky red');
            """)
        #expect(try findings(store) == ["Page: the index Page.fullText.words.words has other words than the texts of the table"])
        try repairAndCompare(store)
        #expect(try program.sqlite3("a.db", "SELECT rowid FROM \(index) WHERE \(index) MATCH '\"red sky\"'") == "1\n")
    }

    @Test(arguments: ["DELETE FROM #_data", "DROP TABLE #_data", "DROP TABLE #_config", "UPDATE #_data SET block = x'ffffff'"])
    func aFullTextIndexThatCannotBeReadIsMadeAgain(_ damage: String) throws {
        let store = try notes(), index = "Page.fullText.words.words"
        let parts = damage.split(separator: "#"), name = parts[1].prefix { $0 != " " }
        try program.sqlite3("a.db", "\(parts[0])\"\(index)\(name)\"\(parts[1].dropFirst(name.count))")
        let found = try findings(store)
        #expect(found.count == 1 && found[0].hasPrefix("Page: the index \(index) "), "\(found)")
        try repairAndCompare(store)
        #expect(try run("query", store, "Page", "--where", "words SEARCH 'sea'", "--count").output.hasPrefix("1"))
    }

    @Test func rowsThatViolateAConstraintAreReportedAndBlockNothing() throws {
        let store = try notes()
        try program.sqlite3(
            "a.db",
            """
            DROP INDEX "Tag.unique.name"; INSERT INTO Tag VALUES(7, 1, 'x'), (8, 1, 'y'), (9, 1, 'x'); DROP INDEX "Note.index.rank";
            UPDATE Note SET twin = 77 WHERE _id = 3; UPDATE polystore_counters SET next = 100;
            """)
        #expect(
            try Set(findings(store)) == [
                "Note.twin of object 3: refers to object 77 of Note, which does not exist", "Note: the index Note.index.rank is missing",
                "Tag.name of object 7: has the same values as object 1 under the unique constraint Tag(name)",
                "Tag.name of object 8: has the same values as object 2 under the unique constraint Tag(name)",
                "Tag.name of object 9: has the same values as object 1 under the unique constraint Tag(name)",
                "Tag: the index Tag.unique.name is missing",
            ])
        #expect(try run("check", store).error == "polystore: check --repair mends 2 of 6 findings\n")
        #expect(try run("check", store, "--json").output.contains(#""code":"uniqueConstraintViolated""#))
        try repairAndCompare(store)
        #expect(try program.sqlite3("a.db", "SELECT twin IS NULL FROM Note WHERE _id = 3; SELECT count(*) FROM Tag") == "1\n5\n")
        // Objects that are removed anyway no longer violate the constraint.
        try program.sqlite3("a.db", "UPDATE Tag SET name = NULL WHERE _id = 7; DELETE FROM Tag WHERE _id IN (8, 9)")
        #expect(try run("check", store, "--repair", "--delete-broken", "--yes").code == 0)
        #expect(try findings(store) == ["nothing was found"])
        #expect(try program.sqlite3("a.db", "SELECT count(*) FROM sqlite_master WHERE name = 'Tag.unique.name'") == "1\n")
    }

    @Test func aUniqueIndexWithEntriesOfEqualRowsIsReported() throws {
        let store = try notes()
        // The index lacks the entry of a row that violates its constraint.
        let page = try program.sqlite3("a.db", "SELECT rootpage FROM sqlite_master WHERE name = 'Tag.unique.name'").dropLast()
        let sql = try program.sqlite3("a.db", "SELECT sql FROM sqlite_master WHERE name = 'Tag.unique.name'").dropLast()
        try program.sqlite3("a.db", "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'Tag.unique.name'")
        try program.sqlite3(
            "a.db",
            """
            INSERT INTO Tag VALUES(7, 1, 'x'); UPDATE polystore_counters SET next = 100; PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master VALUES('index', 'Tag.unique.name', 'Tag', \(page), '\(sql)')
            """)
        #expect(
            try findings(store) == [
                "Tag.name of object 7: has the same values as object 1 under the unique constraint Tag(name)",
                "Tag: the index Tag.unique.name lacks entries of rows: 1", "Tag: the store counts 2 objects but has 3",
            ])
        try repairAndCompare(store)
        try program.sqlite3("a.db", "UPDATE Tag SET name = 'z' WHERE _id = 1")
        try repairAndCompare(store)
        #expect(try findings(store) == ["nothing was found"])
    }

    @Test func aVersionThatIsNullGetsAValue() throws {
        let store = try notes()
        for (table, column) in [("Note", "_version"), ("Note.parts", "rank")] {
            let sql = "(SELECT sql FROM sqlite_master WHERE name = '\(table)')"
            try program.sqlite3("a.db", "CREATE TABLE kept AS SELECT \(sql) AS sql")
            try program.sqlite3(
                "a.db", "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = '\(table)'")
            try program.sqlite3("a.db", "UPDATE \"\(table)\" SET \"\(column)\" = NULL")
            try program.sqlite3(
                "a.db",
                "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = (SELECT sql FROM kept) WHERE name = '\(table)'; DROP TABLE kept"
            )
        }
        let found = try findings(store)
        #expect(found.filter { $0.hasSuffix("the version of the object is not positive") }.count == 4, "\(found)")
        #expect(found.filter { $0.hasSuffix("has members without a position") }.count == 2 && found.count == 6, "\(found)")
        try repairAndCompare(store)
        #expect(try program.sqlite3("a.db", "SELECT count(*) FROM Note WHERE _version = 1") == "4\n")
        #expect(try program.sqlite3("a.db", "SELECT member FROM \"Note.parts\" WHERE owner = 1 ORDER BY rank") == "1\n2\n")
    }

    @Test func pairsOfRemovedRowsAreSaved() throws {
        let store = try notes(), file = "\(folder.path)/unreadable.ndjson"
        let ranks = lines(try program.sqlite3("a.db", "SELECT rank FROM \"Note.parts\" WHERE owner = 1 ORDER BY rank"))
        try program.sqlite3("a.db", "UPDATE Note SET text = CAST(x'ff41' AS TEXT) WHERE _id = 1")
        let repaired = try run("check", store, "--repair", "--yes", "--delete-broken", "--remove-unreadable", file)
        #expect(repaired.code == 0, "\(repaired)")
        let saved = lines(try String(contentsOfFile: file, encoding: .utf8))
        #expect(
            Array(saved.dropFirst()) == [
                #"{"link":"Note.tags","owner":1,"rank":0,"member":1}"#,
                #"{"link":"Note.parts","owner":1,"rank":\#(ranks[0]),"member":1}"#,
                #"{"link":"Note.parts","owner":1,"rank":\#(ranks[1]),"member":2}"#,
            ], "\(saved)")
    }

    @Test func aHistoryUpToTheLastPositionIsNotPurged() throws {
        let store = try notes(), file = "\(folder.path)/unreadable.ndjson"
        try program.sqlite3("a.db", "INSERT INTO polystore_history VALUES(9223372036854775806, 5, 'me', x'ffff')")
        #expect(
            try run("check", store).output
                == "history: the entry at position 9223372036854775806 cannot be decoded; no repair mends it\n"
        )
        let refused = try run("check", store, "--repair", "--yes", "--remove-unreadable", file)
        #expect(refused.code == 1 && refused.error.contains("none of the findings can be mended"), "\(refused)")
        #expect(try program.sqlite3("a.db", "SELECT count(*) FROM polystore_history") == "1\n")
    }

    @Test func aStoreWithoutItsHistoryIsNotRepaired() throws {
        let store = try notes()
        try program.sqlite3("a.db", "UPDATE Note SET twin = 77 WHERE _id = 3")
        let checked = try run("check", store + "?history=off")
        #expect(checked.code == 1 && checked.error.hasPrefix("polystore: check --repair mends none of 1 findings: "), "\(checked)")
        let refused = try run("check", store + "?history=off", "--repair", "--yes")
        #expect(refused.code == 2 && refused.error.contains("open the store with its history"), "\(refused)")
        #expect(try program.sqlite3("a.db", "SELECT twin FROM Note WHERE _id = 3") == "77\n")
    }

    // MARK: LMDB

    private static let hasLMDBTools = FileManager.default.isExecutableFile(atPath: "/usr/bin/mdb_load")

    private func whole() throws -> String {
        let store = "lmdb:\(folder.path)/a.lmdb"
        try #require(run("transfer", notes(), store, "-q").code == 0)
        return store
    }

    @Test(.enabled(if: hasLMDBTools)) func damageOfOneSideOfAListKeepsItsOrder() throws {
        let whole = try whole()
        let store = try edit("a.lmdb") { map, pairs in if map == "Note.parts.member" { pairs.removeFirst() } }
        #expect(try findings(store).count == 1)
        try repairAndCompare(store)
        let verified = try run("verify", whole, store)
        #expect(verified.code == 0, "\(verified)")
    }

    /// A pair on one side whose member refers to another owner is removed there, not added to the other side.
    @Test(.enabled(if: hasLMDBTools), arguments: ["Note.parts", "Note.parts.member"])
    func aPairThatAReferenceContradictsIsRemoved(_ side: String) throws {
        let whole = try whole()
        let store = try edit("a.lmdb") { map, pairs in
            // The third part belongs to the second note: another pair says the third note.
            let three = "8000000000000003"
            if map == side, let rank = pairs.last?.value { pairs.append((" \(three)\(three)", rank)) }
        }
        #expect(try !findings(store).contains("nothing was found"))
        try repairAndCompare(store)
        let verified = try run("verify", whole, store)
        #expect(verified.code == 0, "\(verified)")
    }

    @Test(.enabled(if: hasLMDBTools), .timeLimit(.minutes(2))) func aRowKeyThatIsTooShortIsRefused() throws {
        _ = try whole()
        let store = try edit("a.lmdb") { map, pairs in if map == "Note" { pairs[1].key = String(pairs[1].key.dropLast(4)) } }
        let checked = try run("check", store)
        #expect(checked.code == 2 && checked.error.contains("malformed key"), "\(checked)")
    }

    @Test(.enabled(if: hasLMDBTools)) func equalRowsOfAnLMDBFileAreReportedAndBlockNothing() throws {
        _ = try whole()
        let store = try edit("a.lmdb") { map, pairs in
            // Both tags have the first one's name.
            if map == "Tag" { pairs[1].value = pairs[0].value }
            if map == "Note.index.rank" { pairs.removeFirst() }
        }
        let found = try findings(store)
        #expect(found.contains("Tag.name of object 2: has the same values as object 1 under the unique constraint Tag(name)"), "\(found)")
        #expect(found.count == 4, "\(found)")
        try repairAndCompare(store)
        #expect(try findings(store).count == 1)
    }

    @Test func aHistoryWithoutPositionsForLaterEntriesIsFound() throws {
        let store = try notes()
        try program.sqlite3(
            "a.db", "DELETE FROM polystore_history; INSERT INTO polystore_history VALUES(9223372036854775806, 5, 'me', x'01000201')")
        let found = try run("check", store, "-q")
        #expect(found.code == 1 && found.output.contains("the last position leaves none for later entries"), "\(found)")
    }
}
