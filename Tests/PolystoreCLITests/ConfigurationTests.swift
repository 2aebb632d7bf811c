import Foundation
import Testing

/// The configuration file, and passwords that are typed.
@Suite struct ConfigurationTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/notes.db"
        let csv = try program.file("notes.csv", "text\na\nb\n")
        #expect(try program.run(["load", store, csv, "--infer", "--entity", "Note", "-q"]).code == 0)
    }

    private func run(_ configuration: String, mode: Int = 0o600, _ arguments: String...) throws -> (
        code: Int32, output: String, error: String
    ) {
        let path = try program.file("config", configuration)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return try program.run(arguments, environment: ["POLYSTORE_CONFIG": path, "NOTES": store])
    }

    @Test func storesHaveNames() throws {
        let file = "# mine\n[stores]\nnotes = \(store)\nindirect = env:NOTES\n"
        #expect(try run(file, "query", "@notes", "Note", "--count").output == "2\n")
        #expect(try run(file, "query", "@indirect", "Note", "--count").output == "2\n")
        #expect(try run(file, "transfer", "@notes", "memory:", "-q").code == 0)
        #expect(try run(file, "query", "@nots", "Note").error.contains("has no store \"nots\"; did you mean \"notes\"?"))
        #expect(try run(file, "query", "@notes", "Nte").error.hasPrefix("polystore: \(store): "))
        let without = try program.run(["info", "@notes"], environment: ["POLYSTORE_CONFIG": ""])
        #expect(without.code == 2 && without.error.contains("has no store"))
    }

    @Test func wrongLinesAreNamed() throws {
        for (file, fault) in [
            ("[store]\n", "line 1: there is no section [store]; did you mean \"stores\"?"),
            ("\n[stores]\nx\n", "line 3: expected name = value"),
            ("x = y\n", "line 1: x is not in a section"), ("[stores]\nx = sqlite:a.db\n", "line 2: the path of x must be absolute"),
            ("[stores]\nx = @y\n", "line 2: x is the name of another name"),
            ("[output]\ncolor = red\n", "color is one of auto, always, never"),
            ("[stores]\nx = sqlite:/a.db # mine\n", "line 2: a comment needs a line of its own; in a URL, # is written as %23"),
            ("[stores]\nx = memory:\nx = memory:\n", "two stores of the name x"), ("[stores]\nx = nothing\n", "line 2: a store URL begins"),
        ] {
            let result = try run(file, "info", "@x")
            #expect(result.code == 2 && result.error.contains(fault), "\(result)")
        }
        let unnamed = try run("[output]\ncolor = red\n", "info", store)
        #expect(unnamed.code == 2 && unnamed.error.contains("line 2: color is one of"), "no setting is ignored")
        #expect(try run("[store]\n", "help").code == 0)
    }

    @Test func aFileWithAPasswordBelongsToItsUser() throws {
        let file = "[stores]\nnotes = \(store)\nserver = postgresql://a:secret@localhost:1/x\n"
        let shared = try run(file, mode: 0o644, "info", "@notes")
        #expect(shared.code == 2 && shared.error.contains("chmod 600") && !shared.error.contains("secret"))
        #expect(try run(file, "info", "@notes").code == 0)
        let refused = try run(file, "info", "@server")
        #expect(refused.code == 2 && !refused.error.contains("secret") && refused.error.contains("a:***@localhost"))
    }

    @Test func coloursAreConfigured() throws {
        #expect(try run("[output]\ncolor = always\n", "verify", store, store).output.contains("\u{1b}[32msame"))
        #expect(try !run("[output]\ncolor = never\n", "verify", store, store).output.contains("\u{1b}"))
    }

    @Test func aPasswordIsTypedAndNotShown() throws {
        let server = try PasswordServer()
        let url = "postgresql://me@127.0.0.1:\(server.port)/x?sslmode=disable&gssencmode=disable"
        let terminal = try Terminal(["info", url], ["PGPASSFILE": "/dev/null", "PGPASSWORD": ""])
        try terminal.expect("password for postgresql://me@127.0.0.1")
        try terminal.type("wrongg\u{7f}\n")
        let shown = try terminal.text(until: "rejected the user or the password")
        #expect(!shown.contains("wrong"), "\(shown)")
        #expect(try terminal.end() == 2)
        #expect(server.passwords == ["wrong"])
        // Without a terminal nothing is asked.
        let result = try program.run(["info", url], environment: ["PGPASSFILE": "/dev/null", "PGPASSWORD": ""])
        #expect(result.code == 2 && result.error.contains("the server asks for a password"), "\(result)")
    }

    @Test(arguments: [[], ["--plan"]]) func aPasswordIsTypedForPlainTables(_ options: [String]) throws {
        let server = try PasswordServer()
        let url = "postgresql://me@127.0.0.1:\(server.port)/x?sslmode=disable&gssencmode=disable"
        let arguments = ["transfer", store, url, "--layout", "plain"] + options
        let terminal = try Terminal(arguments, ["PGPASSFILE": "/dev/null", "PGPASSWORD": ""])
        try terminal.expect("password for postgresql://me@127.0.0.1")
        try terminal.type("wrong\n")
        _ = try terminal.text(until: "rejected the user or the password")
        #expect(try terminal.end() == 2)
        #expect(server.passwords == ["wrong"])
    }
}
