import Foundation
import Testing

/// `polystore prompt`, with lines of a program and at a terminal.
@Suite struct PromptCommandTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/shop.db"
        let model = try program.file(
            "shop.json",
            """
            {"entities": [
              {"name": "Order", "attributes": [{"name": "number", "type": "int64"}, {"name": "total", "type": "int64", "optional": true}],
                "relationships": [{"name": "customer", "to": "Customer", "inverse": "orders"}]},
              {"name": "Customer", "attributes": [{"name": "name", "type": "string"}, {"name": "limit", "type": "int64"}],
                "relationships": [{"name": "orders", "to": "Order", "kind": "toMany", "inverse": "customer"}]}]}
            """)
        _ = try program.file("customers.csv", "name,limit\nÅsa,1\nwhere,2\n")
        _ = try program.file("orders.csv", "number,total,name\n1,10,Åsa\n2,20,Åsa\n3,,where\n")
        let mapping = try program.file(
            "mapping.json",
            """
            {"files": [{"file": "customers.csv", "entity": "Customer"},
              {"file": "orders.csv", "entity": "Order", "relationships": {"customer": {"name": "name"}}}]}
            """)
        let loaded = try program.run(["load", store, "--mapping", mapping, "--model", model, "-q"])
        #expect(loaded.code == 0, "\(loaded)")
    }

    private func answer(_ lines: String, _ arguments: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["prompt", store] + arguments, input: lines)
    }

    @Test func linesAreAnsweredInTheirOrder() throws {
        let result = try answer(
            """
            -- a comment

            Order select number, total where customer.name == 'Åsa' and total > 5 order by -number
            count Order;
            Order SELECT customer.name AS name, @sum(total) AS sum GROUP BY customer.name ORDER BY customer.name
            format ndjson
            Customer select name where limit == 2
            Customer select name where name == "where limit 1" or name == 'where'
            Customer select limit where 1 < limit and limit - 1 > 0 order by limit limit 1
            Order select number limit 1 offset 2 order by number
            entities
            describe Customer
            sql select count(*) as n from "Order"
            quit
            no statement
            """, "--format", "csv")
        #expect(
            result.output == """
                number,total
                2,20
                1,10
                3
                name,sum
                where,0
                Åsa,30
                {"name":"where"}
                {"name":"where"}
                {"limit":2}
                {"number":3}
                {"entity":"Customer","objects":2}
                {"entity":"Order","objects":3}
                {"property":"name","type":"string","optional":false}
                {"property":"limit","type":"int64","optional":false}
                {"property":"orders","type":"set of Order","optional":true}
                {"n":3}

                """, "\(result)")
        #expect(result.code == 0 && result.error == "", "\(result)")
    }

    @Test func theFirstErrorEndsAScriptAndNamesItsLine() throws {
        let cases = [
            ("Oder where number == 1", "there is no entity or command 'Oder'; did you mean \"Order\"?"),
            (
                "Order number == 1",
                "after Order a clause is expected (select, where, group by, having, order by, limit, offset, distinct), not 'number == 1'"
            ),
            ("Order where numbr == 1", "numbr"), ("Order where number ==", "where 'number ==': "),
            ("Order limit -1", "limit needs a number of at least 0, not '-1'"),
            ("Order where number == 1 where number == 2", "where is used twice"), ("Order where", "where needs a value"),
            ("Order distinct", "distinct needs select"), ("count Order order by number", "count cannot be combined with order by"),
            ("explain Order select number", "explain cannot be combined with select"), ("describe Custmer", "did you mean \"Customer\"?"),
            ("format xml", "there is no format 'xml'; use one of table, csv, tsv, json, ndjson"), ("sql", "sql needs a statement"),
            ("sql DELETE FROM \"Order\"", "DELETE changes rows"), ("count", "count needs an entity"),
            ("quit now", "quit takes no arguments, but got 'now'"),
        ]
        for (line, message) in cases {
            let result = try answer("count Order\n\(line)\ncount Order\n", "--format", "csv")
            #expect(
                result.code == 2 && result.output == "3\n" && result.error.hasPrefix("polystore: \(store): line 2: "), "\(line): \(result)")
            #expect(result.error.contains(message), "\(line): \(result)")
        }
        #expect(try answer("count Order").output == "3\n", "nothing was deleted")
    }

    @Test func aTerminalCompletesAndRemembersLines() throws {
        // The history can be a link, and can contain lines that another program has damaged.
        let history = "\(program.folder.path)/history", file = "\(program.folder.path)/kept"
        try Data("older \u{1b}]0;title\n".utf8 + [0xff, 0x0a]).write(to: URL(fileURLWithPath: file))
        try FileManager.default.createSymbolicLink(atPath: history, withDestinationPath: file)
        let terminal = try Terminal(["prompt", store], ["TERM": "xterm", "POLYSTORE_HISTORY": history])
        try terminal.expect("sqlite> ")
        // The tab key completes the entity, the clause, the path and its property.
        try terminal.type("Ord\tsel\tnumber wh\tcust\t.na\t == 'Åsa' ord\t-num\t\r")
        try terminal.expect("Order select number where customer.name == 'Åsa' order by -number\n", "number\n──────\n2\n1\n", "\nsqlite> ")
        // Several completions are listed.
        try terminal.type("Customer where \t")
        try terminal.expect("limit   name    orders  \n")
        // Control-C discards the line, and an error ends the statement only.
        try terminal.type("\u{3}Order where number ==\r")
        try terminal.expect("^C", "where 'number ==': ", "\nsqlite> ")
        // The cursor moves, over a character of two bytes too.
        try terminal.type("cunt Åsa\u{1b}[H\u{1b}[C\u{1b}[C\u{8}ou\u{1b}[F\u{7f}\u{7f}\u{7f}Customer\r")
        try terminal.expect("\n2\nsqlite> ")
        // Earlier lines that begin like the typed one are found again.
        try terminal.type("Order s\u{1b}[A\r")
        try terminal.expect("number\n──────\n2\n1\nsqlite> ")
        try terminal.type("\u{4}")
        #expect(try terminal.end() == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8)
        #expect(
            lines == """
                older ]0;title
                \u{fffd}
                Order select number where customer.name == 'Åsa' order by -number
                Order where number ==
                count Customer
                Order select number where customer.name == 'Åsa' order by -number

                """)
        let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: history) == file)
        #expect(rights == 0o600)
    }

    @Test func anInterruptionEndsTheStatementAndNotThePrompt() throws {
        let terminal = try Terminal(["prompt", store], ["TERM": "xterm", "POLYSTORE_HISTORY": ""])
        try terminal.expect("sqlite> ")
        for _ in 0..<2 {
            try terminal.type("sql WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n\r")
            try terminal.expect("FROM n\n")
            // The statement runs by now or begins later: the interruption ends it in either case.
            Thread.sleep(forTimeInterval: 0.3)
            terminal.interrupt()
            try terminal.expect("interrupted", "sqlite> ")
        }
        try terminal.type("count Order\r")
        try terminal.expect("\n3\nsqlite> ")
        try terminal.type("quit\r")
        #expect(try terminal.end() == 0)
    }
}
