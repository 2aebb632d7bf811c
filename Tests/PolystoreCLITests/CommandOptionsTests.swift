import Foundation
import Testing

/// What every command does with its options.
@Suite struct CommandOptionsTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/notes.db"
        let csv = try program.file("notes.csv", "text,n\na,1\nb,-2\nc,\n")
        #expect(try program.run(["load", store, csv, "--infer", "--entity", "Note", "-q"]).code == 0)
    }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    /// The pairs of options that each command accepts, with at least its required arguments. All others are refused as wrong usage: one option
    /// excludes the other, or both need a third. A new option belongs here, and so does a pair that is no longer refused.
    private static let accepted: [String: [String]] = [
        "load": [
            "--model: --mapping --entity --on --strict --rejects --nil --ignore-unknown",
            "--mapping: --strict --rejects --nil --ignore-unknown",
        ],
        "browse": ["--port: --open"],
        "query": [
            "--where: --order-by --limit --offset --select --count --sum --average --minimum --maximum --format",
            "--order-by: --limit --offset --select --format", "--limit: --offset --select --format", "--offset: --select --format",
            "--select: --group-by --having --distinct --format", "--count: --sum --average --minimum --maximum --format",
            "--sum: --average --minimum --maximum --format", "--average: --minimum --maximum --format",
            "--minimum: --maximum --format", "--maximum: --format",
        ],
        "explain": [
            "--where: --order-by --limit --offset --analyze", "--order-by: --limit --offset --analyze", "--limit: --offset --analyze",
            "--offset: --analyze",
        ],
        "update": ["--where: --set", "--all: --set"],
        "transfer": [
            "--only: --where --closure --rename --type --if-exists --plan --no-verify --accept-loss --rate --memory --throttle-file --workers --layout",
            "--except: --where --closure --rename --type --if-exists --plan --no-verify --accept-loss --rate --memory --throttle-file --workers --layout",
            "--where: --closure --rename --type --if-exists --plan --no-verify --accept-loss --rate --memory --throttle-file --workers --layout",
            "--rename: --type --if-exists --plan --no-verify --accept-loss --rate --memory --throttle-file --workers",
            "--type: --if-exists --plan --no-verify --accept-loss --rate --memory --throttle-file --workers",
            "--if-exists: --plan --no-verify --accept-loss --rate --memory --throttle-file --workers",
            "--plan: --no-verify --accept-loss --on-error --rate --memory --throttle-file --workers --layout",
            "--no-verify: --accept-loss --rate --memory --throttle-file --workers --live --layout",
            "--accept-loss: --rate --memory --throttle-file --workers --layout", "--on-error: --rejects",
            "--rate: --memory --throttle-file --workers",
            "--memory: --throttle-file --workers", "--throttle-file: --workers", "--live: --cut-over --release",
            "--history: --plan --no-verify --accept-loss --rate --memory --throttle-file --workers",
        ],
        "verify": ["--rows: --limit", "--history: --rows"],
        "dump": ["--output: --no-history"],
        "check": ["--limit: --repair", "--repair: --delete-broken --remove-unreadable"],
        "history show": [
            "--since: --author --not-author --entity --limit --follow --consumer", "--author: --entity --limit --follow --consumer",
            "--not-author: --entity --limit --follow --consumer", "--entity: --limit --follow --consumer", "--limit: --follow --consumer",
            "--follow: --consumer", "--consumer: --restart",
        ],
        "history purge": ["--ignore-unseen: --through --older-than --acknowledged"],
        "model generate": ["--output: --language --public --namespace", "--language: --public --namespace", "--public: --namespace"],
        "model import": ["--version: --output"],
        "schema status": ["--model: --chain"],
        "schema plan": ["--model: --chain --accept-loss"],
        "schema apply": ["--model: --chain --accept-loss --no-backup"],
        "schema revert": ["--to: --accept-loss --no-backup", "--accept-loss: --no-backup"],
        "schema expand": ["--model: --chain --dry-run --timeout"],
        "schema backfill": ["--batch: --pause"],
        "schema contract": ["--accept-loss: --timeout"],
        "schema abandon": ["--accept-losses: --timeout"],
        "advise": ["--requests: --try"],
        "bench": ["--objects: --batch"],
    ]

    /// The values of options that do not take any text.
    private static let values = [
        "--limit": "1", "--offset": "1", "--max-rejects": "1", "--max-errors": "1", "--port": "1", "--batch": "1", "--pause": "1",
        "--timeout": "1", "--objects": "1", "--rate": "5", "--memory": "8MB", "--workers": "2", "--rename": "A=B", "--type": "A.b=double",
        "--set": "a = 1", "--language": "swift",
        "--format": "csv", "--if-exists": "merge", "--layout": "plain", "--on-error": "skip", "--older-than": "1d", "--ignore-unseen": "1d",
    ]

    private struct Command {
        let path: [String]
        let arguments: [String]
        let options: [(name: String, words: [String])]
    }

    private struct Missing: Error {}

    /// Returns the commands as the program describes them. Those that have no options, or are other programs, are left out.
    private func commands() throws -> [Command] {
        let dump = try JSONSerialization.jsonObject(with: Data(run("--experimental-dump-help").output.utf8)) as? [String: Any]
        guard let root = dump?["command"] as? [String: Any] else { throw Missing() }
        func commands(_ command: [String: Any], _ path: [String]) -> [Command] {
            if let subcommands = command["subcommands"] as? [[String: Any]] {
                return subcommands.flatMap { commands($0, path + [$0["commandName"] as? String ?? ""]) }
            }
            if ["help", "demo", "manual", "conformance"].contains(path.first) { return [] }
            let arguments = command["arguments"] as? [[String: Any]] ?? []
            let stores: Set = ["store", "source", "target", "first", "second", "model", "archive", "path"]
            // An entity is not required beside a request in a file.
            let required = arguments.filter {
                $0["kind"] as? String == "positional" && ($0["isOptional"] as? Bool == false || $0["valueName"] as? String == "entity")
            }
            let options = arguments.compactMap { option -> (String, [String])? in
                guard option["kind"] as? String != "positional", let name = (option["preferredName"] as? [String: Any])?["name"] as? String,
                    !["help", "json", "quiet", "yes"].contains(name), name != "version" || option["kind"] as? String == "option"
                else { return nil }
                if option["kind"] as? String == "flag" { return ("--\(name)", ["--\(name)"]) }
                let condition = path == ["transfer"] ? "E: a = 1" : "a = 1"
                return ("--\(name)", ["--\(name)", name == "where" ? condition : Self.values["--\(name)"] ?? "x"])
            }
            return [
                Command(
                    path: path,
                    arguments: required.map { stores.contains($0["valueName"] as? String ?? "") ? "sqlite:/nonexistent/a.db" : "E" },
                    options: options)
            ]
        }
        return commands(root, [])
    }

    @Test func optionsThatContradictAreRefusedByEachCommand() throws {
        let commands = try commands()
        #expect(commands.count > 25)
        for command in commands {
            let name = command.path.joined(separator: " "), accepted = Set((Self.accepted[name] ?? []).flatMap(Self.pairs))
            var found: Set<Set<String>> = []
            for (index, first) in command.options.enumerated() {
                for second in command.options[(index + 1)...] {
                    let result = try program.run(command.path + command.arguments + first.words + second.words)
                    if result.code != 64 { found.insert([first.name, second.name]) }
                }
            }
            #expect(found == accepted, "\(name): \(found.symmetricDifference(accepted).map { $0.sorted() })")
        }
    }

    private static func pairs(_ line: String) -> [Set<String>] {
        let sides = line.split(separator: ":"), first = String(sides[0])
        return sides[1].split(separator: " ").map { [first, String($0)] }
    }

    @Test func anOptionWithTwoValuesIsRefused() throws {
        for wrong in [
            ["delete", store, "Note", "--where", "n == 77", "--where", "n == 1", "--yes"],
            ["query", store, "Note", "--limit=1", "--limit", "2"],
            ["dump", store, "-o", "\(program.folder.path)/a", "--output", "\(program.folder.path)/b"],
            ["history", store, "--limit", "1", "--limit", "1"],
        ] {
            let result = try program.run(wrong)
            #expect(result.code == 64 && result.error.contains("is given twice"), "\(result)")
        }
        #expect(try run("query", store, "Note", "--count").output == "3\n")
        // A value may look like the option.
        #expect(try run("query", store, "Note", "--where", "text == '--where'", "--count").output == "0\n")
        #expect(try run("query", store, "Note", "--where", "--where").code == 2)
        #expect(try run("history", store, "--author", "a", "--author", "b").code == 0)
        #expect(try run("history", store, "--author", "a", "--not-author", "a").code == 64)
        #expect(try run("transfer", store, "memory:", "--only", "Note", "--except", "Note").code == 64)
    }

    @Test func valuesBeginWithAMinusSign() throws {
        #expect(try run("query", store, "Note", "--where", "-n > 1", "--select", "-n AS m").output == "{\"m\":2}\n")
        #expect(try run("query", store, "Note", "--order-by", "-n", "--limit", "1", "--select", "text").output == "{\"text\":\"a\"}\n")
        let csv = try program.file("minus.csv", "text,n\nx,-1\n"), other = "sqlite:\(program.folder.path)/minus.db"
        #expect(try run("load", other, csv, "--infer", "--entity", "Note", "--nil", "-1", "-q").code == 0)
        #expect(try run("query", other, "Note", "--where", "n == nil", "--count").output == "1\n")
        #expect(try run("query", store, "Note", "--sum", "-n").error.contains("Note has no property \"-n\""))
        for option in [
            ["query", store, "Note", "--limit", "-1"], ["check", store, "--limit", "-1"], ["bench", "memory:", "--objects", "-1"],
        ] {
            let result = try program.run(option)
            #expect(result.code == 64 && result.error.contains("must be"), "\(result)")
        }
    }

    @Test func aPasswordOnTheCommandLineIsRefused() throws {
        for url in ["postgresql://a:secret@localhost:1/x", "postgres://a@localhost:1/x?password=secret"] {
            for arguments in [["info", url], ["transfer", store, url], ["demo", "--postgres=\(url)"]] {
                let result = try program.run(arguments)
                #expect(result.code == 64 && result.error.contains("env:VARIABLE") && !result.error.contains("secret"), "\(result)")
            }
        }
        #expect(try run("info", "postgresql://a@localhost:1/x").code == 2)
    }

    @Test func errorsNameTheOnlyStore() throws {
        #expect(try run("query", store, "Nte").error.hasPrefix("polystore: \(store): Nte: the model has no entity of this name"))
        let divided = try run("query", store, "Note", "--select", "1 / (n - n)")
        #expect(divided.code == 2 && divided.error.hasPrefix("polystore: \(store): ") && divided.error.contains("exclude such objects"))
        let missing = try run("transfer", store, "sqlite:/nonexistent/x.db")
        #expect(missing.error.hasSuffix("polystore: sqlite:/nonexistent/x.db: the folder /nonexistent does not exist; create it first\n"))
    }

    @Test func requestedTextsThatCannotBeWrittenAreErrors() throws {
        for arguments in [["--help"], ["--version"], ["query", "--help"], ["--generate-completion-script", "bash"], ["info", store]] {
            let process = Program.process(arguments), full = FileHandle(forWritingAtPath: "/dev/full")
            process.standardOutput = full
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 2, "\(arguments)")
        }
        #expect(try run("--help").code == 0)
    }

    @Test func coloursAreForTerminalsWithoutNoColor() throws {
        let copy = "sqlite:\(program.folder.path)/copy.db"
        #expect(try run("transfer", store, copy, "-q").code == 0)
        #expect(try !run("verify", store, copy).output.contains("\u{1b}"))
        func shown(_ environment: [String: String]) throws -> String {
            let terminal = try Terminal(
                ["verify", store, copy], ["TERM": "xterm", "NO_COLOR": "", "POLYSTORE_CONFIG": ""].merging(environment) { $1 })
            let text = try terminal.text(until: "the stores are equal")
            #expect(try terminal.end() == 0)
            return text
        }
        #expect(try shown([:]).contains("\u{1b}[32msame\u{1b}[0m"))
        #expect(try !shown(["NO_COLOR": "1"]).contains("\u{1b}"))
        #expect(try !shown(["TERM": "dumb"]).contains("\u{1b}"))
    }

    @Test func anInterruptedBackupLeavesNothing() throws {
        let rows = (0..<60_000).map { "row \($0) with some text that fills the pages of the file,\($0)\n" }.joined()
        let csv = try program.file("big.csv", "text,n\n" + rows), folder = program.folder.appendingPathComponent("backups")
        #expect(try run("load", store, csv, "--entity", "Note", "-q").code == 0)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let process = Program.process(["backup", store, "\(folder.path)/b.db"])
        process.standardError = FileHandle.nullDevice
        try process.run()
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        while process.isRunning, try names().isEmpty {}
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        let left = try names()
        #expect(process.terminationStatus == 130 && left.isEmpty || process.terminationStatus == 0 && left == ["b.db"], "\(left)")
        #expect(process.terminationReason == .exit)
    }
}
