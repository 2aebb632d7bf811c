import Foundation
import Testing

/// `polystore query` and `polystore sql`.
@Suite struct QueryCommandTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/pets.db"
        let csv = try program.file(
            "pets.csv", "name,kind,age,born\nRex,dog,3,2020-01-02\n\"Ann, \"\"A\"\"\",cat,,\nBo,dog,5,2018-01-01\n\"\",cat,1,\n")
        #expect(try run("load", store, csv, "--infer", "--entity", "Pet", "-q").code == 0)
    }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    private func query(_ arguments: String...) throws -> String {
        let result = try program.run(["query", store, "Pet"] + arguments)
        #expect(result.code == 0, "\(result)")
        return result.output
    }

    @Test func objectsArePrintedInEachForm() throws {
        #expect(
            try query("--format", "csv") == #"""
                key,name,kind,age,born
                1,Rex,dog,3,2020-01-02T00:00:00Z
                2,"Ann, ""A""",cat,,
                3,Bo,dog,5,2018-01-01T00:00:00Z
                4,"",cat,1,

                """#)
        #expect(try query("--format", "tsv", "--limit", "1") == "key\tname\tkind\tage\tborn\n1\tRex\tdog\t3\t2020-01-02T00:00:00Z\n")
        #expect(
            try query("--format", "json", "--where", "age > 4")
                == "[\n {\"key\":3,\"name\":\"Bo\",\"kind\":\"dog\",\"age\":5,\"born\":\"2018-01-01T00:00:00Z\"}\n]\n")
        #expect(try query("--format", "json", "--where", "age > 40") == "[]\n")
        #expect(
            try query("--format", "table", "--where", "age > 2") == """
                key  name  kind  age  born
                ───  ────  ────  ───  ────────────────────
                1    Rex   dog   3    2020-01-02T00:00:00Z
                3    Bo    dog   5    2018-01-01T00:00:00Z

                """)
        #expect(
            try query("--where", "age > 4")
                == #"{"entity":"Pet","key":3,"version":1,"name":"Bo","kind":"dog","age":5,"born":"2018-01-01T00:00:00Z"}"# + "\n")
    }

    @Test func aRequestInJSONIsAnsweredAsItsOptions() throws {
        let objects = try program.file(
            "objects.json",
            #"""
            {"entity": "Pet", "where": "born > $from", "arguments": {"from": {"date": "2019-01-01T00:00:00Z"}}, "orderBy": ["-age"], "limit": 2}
            """#)
        #expect(
            try run("query", store, "--request", objects).output
                == #"{"entity":"Pet","key":1,"version":1,"name":"Rex","kind":"dog","age":3,"born":"2020-01-02T00:00:00Z"}"# + "\n")
        let values = try program.file(
            "values.json", #"{"entity": "Pet", "select": ["kind", "@count() AS pets"], "groupBy": ["kind"], "orderBy": ["-pets", "kind"]}"#)
        #expect(try run("query", store, "--request", values, "--format", "csv").output == "kind,pets\ncat,2\ndog,2\n")
        #expect(try program.run(["query", store, "--request", "-"], input: #"{"entity": "Pet", "count": true}"#).output == "4\n")
        #expect(try run("explain", store, "--request", objects).output.contains("born > "))
    }

    @Test func aRequestInJSONIsRefusedWithItsFile() throws {
        let wrong = try program.file("wrong.json", #"{"entity": "Pet", "were": "age > 1"}"#)
        let refused = try run("query", store, "--request", wrong)
        #expect(refused.code == 2)
        #expect(refused.error.contains("wrong.json: \"were\" is no member of a request; did you mean \"where\"?"), "\(refused)")
        #expect(try run("query", store, "Pet", "--request", wrong).code == 64)
        #expect(try run("query", store).code == 64)
        #expect(try run("query", store, "--request", wrong, "--limit", "1").code == 64)
        #expect(try run("query", store, "--request", wrong, "--count").code == 64)
        let related = try program.file("related.json", #"{"entity": "Pet", "prefetch": ["owner"]}"#)
        #expect(try run("query", store, "--request", related).code == 2)
        let sum = try program.file("sum.json", #"{"entity": "Pet", "sum": "age"}"#)
        #expect(try run("explain", store, "--request", sum).code == 2)
    }

    @Test func valuesAreComputedForObjectsAndGroups() throws {
        #expect(
            try query("--select", "name AS n, age * 2 AS double", "--where", "age > 1", "--order-by", "-age", "--format", "csv")
                == "n,double\nBo,10\nRex,6\n")
        #expect(
            try query(
                "--select", "kind, @count() AS pets, @sum(age) AS years, @max(age) AS oldest", "--group-by", "kind", "--order-by", "-years",
                "--format", "csv") == "kind,pets,years,oldest\ndog,2,8,5\ncat,2,1,1\n")
        #expect(
            try query("--select", "kind, @sum(age) AS years", "--group-by", "kind", "--having", "years > 4")
                == "{\"kind\":\"dog\",\"years\":8}\n")
        #expect(try query("--select", "kind", "--distinct", "--order-by", "kind", "--format", "csv") == "kind\ncat\ndog\n")
        #expect(try query("--select", "name", "--order-by", "-age", "--offset", "1", "--limit", "1", "--format", "csv") == "name\nRex\n")
    }

    @Test func severalAggregatesAreOneRow() throws {
        #expect(try query("--count") == "4\n")
        #expect(try query("--count", "--sum", "age", "--maximum", "age") == "{\"count()\":4,\"sum(age)\":9,\"maximum(age)\":5}\n")
        #expect(try query("--count", "--format", "table") == "count()\n───────\n4\n")
    }

    @Test func optionsThatExcludeEachOtherAreRefused() throws {
        #expect(try run("query", store, "Pet", "--count", "--limit", "1").code == 64)
        #expect(try run("query", store, "Pet", "--group-by", "kind").code == 64)
        #expect(try run("query", store, "Pet", "--offset", "-1").code == 64)
        #expect(try run("query", store, "Pet", "--format", "xml").code == 64)
        #expect(try run("query", store, "Pet", "--select", "nam").error.contains("did you mean"))
    }

    @Test func anExpressionThatCannotBeParsedNamesItsOption() throws {
        for (option, text) in [
            ("--where", "age >"), ("--order-by", "-(age"), ("--select", "age +"), ("--group-by", "kind,"), ("--having", "n > > 1"),
        ] {
            let select = option == "--select" || option == "--where" || option == "--order-by" ? [] : ["--select", "kind, @count() AS n"]
            let group = option == "--having" ? ["--group-by", "kind"] : []
            let result = try program.run(["query", store, "Pet", option, text] + select + group)
            #expect(result.code == 2 && result.error.contains("\(option) '\(text)': "), "\(result)")
        }
        #expect(try run("explain", store, "Pet", "--where", "age >").error.contains("--where 'age >': "))
    }

    @Test func statementsInSQLAreRead() throws {
        let result = try run("sql", store, "SELECT kind, count(*) AS n FROM Pet GROUP BY kind ORDER BY kind", "--format", "csv")
        #expect(result.output == "kind,n\ncat,2\ndog,2\n", "\(result)")
        #expect(try run("sql", store, "DELETE FROM Pet").code == 2)
        let equal = "SELECT 1 AS a, 2 AS a"
        #expect(try run("sql", store, equal, "--format", "csv").output == "a,a\n1,2\n")
        for format in ["json", "ndjson"] {
            let result = try run("sql", store, equal, "--format", format)
            #expect(result.code == 2 && result.output.isEmpty && result.error.contains("several columns of the statement have the name a"))
        }
        #expect(try query("--count") == "4\n")
    }

    /// A quote before a combining mark is one character of Swift, but two of a reader of CSV.
    @Test func aQuoteBeforeACombiningMarkIsDoubled() throws {
        let file = try program.file("marks.ndjson", #"{"name": "a\"\u0301b"}"#), marks = "sqlite:\(program.folder.path)/marks.db"
        #expect(try run("load", marks, file, "--infer", "--entity", "Mark", "-q").code == 0)
        let csv = try run("query", marks, "Mark", "--select", "name", "--format", "csv").output
        #expect(Array(csv.utf8) == Array("name\n\"a\"\"\u{301}b\"\n".utf8))
    }

    @Test func aPropertyWithTheNameOfAColumnHasItsOwn() throws {
        let file = try program.file("keys.ndjson", #"{"key": "k", "entity": "e"}"#), keys = "sqlite:\(program.folder.path)/keys.db"
        #expect(try run("load", keys, file, "--infer", "--entity", "Lock", "-q").code == 0)
        #expect(try run("query", keys, "Lock", "--format", "json").output == "[\n {\"key\":1,\"entity\":\"e\",\".key\":\"k\"}\n]\n")
        #expect(try run("query", keys, "Lock", "--format", "csv").output == "key,entity,.key\n1,e,k\n")
    }

    @Test func aTableLinesUpAndMovesNoCursor() throws {
        let file = try program.file(
            "signs.ndjson", "{\"a\": \"\u{65e5}\u{672c}\", \"b\": 1}\n{\"a\": \"x\u{9b}\u{202e}y\u{2028}\", \"b\": 2}\n")
        let signs = "sqlite:\(program.folder.path)/signs.db"
        #expect(try run("load", signs, file, "--infer", "--entity", "Sign", "-q").code == 0)
        #expect(
            try run("query", signs, "Sign", "--select", "a, b", "--format", "table").output
                == "a      b\n─────  ─\n\u{65e5}\u{672c}   1\nx··y·  2\n")
    }

    @Test func aQuoteInAListMayBeEscaped() throws {
        #expect(
            try query("--select", #"coalesce(kind, "a\",b") AS k, age"#, "--where", "age == 5", "--format", "csv") == "k,age\ndog,5\n")
        #expect(
            try query("--order-by", #"coalesce(kind, "\u0301,b"), -age"#, "--select", "name", "--limit", "1", "--format", "csv")
                == "name\n\"\"\n")
    }

    @Test func aMissingFileIsNamed() throws {
        let result = try run("query", "nowhere.db", "Pet")
        #expect(result.code == 2 && result.error.contains("nowhere.db is neither an existing file nor a store URL"), "\(result)")
    }
}
