import Foundation
import Testing

/// The versions of a model on the command line: what is shown, asked, refused and done.
@Suite struct SchemaCommandTests {
    /// A kind of store on the command line.
    enum Kind: String, CaseIterable, Sendable {
        case sqlite, lmdb, postgresql

        static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
        static var all: [Kind] { allCases.filter { $0 != .postgresql || server != nil } }

        /// What a plan says the store would do from version V1 to V2, and from there to V3.
        var lines: (first: [String], second: [String]) {
            let renames = [
                #"ALTER TABLE "Note" RENAME COLUMN "text" TO "polystore_0""#, #"ALTER TABLE "Note" RENAME COLUMN "polystore_0" TO "body""#,
            ]
            return switch self {
            case .sqlite:
                (
                    renames + [#"ALTER TABLE "Note" ADD COLUMN "stars" INTEGER DEFAULT 3"#],
                    [
                        #"ALTER TABLE "Note" RENAME TO "polystore_moving_0""#, #"ALTER TABLE "polystore_moving_0" RENAME TO "Memo""#,
                        #"ALTER TABLE "Memo" DROP COLUMN "mail""#,
                    ]
                )
            case .postgresql:
                (
                    renames + [
                        #"ALTER TABLE "Note" ADD COLUMN "stars" int8 DEFAULT '3'::int8"#,
                        #"ALTER TABLE "Note" ALTER COLUMN "stars" DROP DEFAULT"#,
                    ],
                    [
                        #"ALTER TABLE "Note" RENAME TO "polystore_moving_0""#, #"ALTER TABLE "polystore_moving_0" RENAME TO "Memo""#,
                        #"ALTER TABLE "Memo" DROP COLUMN "mail""#,
                    ]
                )
            case .lmdb:
                (["rewrite the rows of Note", "remove Note"], ["rewrite the rows of Memo", "remove polystore_1.Note"])
            }
        }
    }

    private let program: Program
    private let v1: String, v2: String, v3: String

    init() throws {
        program = try Program()
        v1 = try program.file(
            "v1.json",
            """
            {"version": "V1", "entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string"}, \
            {"name": "mail", "type": "string", "optional": true}]}]}
            """)
        v2 = try program.file(
            "v2.json",
            """
            {"version": "V2", "entities": [{"name": "Note", "attributes": [{"name": "body", "type": "string", "originalName": "text"}, \
            {"name": "mail", "type": "string", "optional": true}, {"name": "stars", "type": "int64", "default": 3}]}]}
            """)
        v3 = try program.file(
            "v3.json",
            """
            {"version": "V3", "entities": [{"name": "Memo", "originalName": "Note", "attributes": [{"name": "body", "type": "string"}, \
            {"name": "stars", "type": "int64", "default": 3}]}]}
            """)
    }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    /// A store of version V1 with the notes a, which has a mail, and b.
    private func store(_ kind: Kind) throws -> String {
        let name = "cli_\(UUID().uuidString.lowercased())"
        let store =
            switch kind {
            case .sqlite, .lmdb: "\(kind):\(program.folder.path)/\(name)"
            case .postgresql: "\(Kind.server ?? "")&x-schema=\(name)"
            }
        #expect(try run("load", store, program.file("notes.csv", "text,mail\na,x\nb,\n"), "--entity", "Note", "--model", v1).code == 0)
        return store
    }

    /// The first digits of the hash that a model file has.
    private func hash(_ model: String) throws -> String {
        let json = try run("schema", "lock", model, "--json").output
        guard let start = json.range(of: "\"hash\":\"")?.upperBound else { return "" }
        return String(json[start...].prefix(16))
    }

    private static let toV2 = """
        "V1" → "V2" (lightweight): 2 objects
          Note.text was renamed to body
          attribute Note.stars was added

        """
    private static let toV3 = """
        "V2" → "V3" (lightweight)
          entity Note was renamed to Memo
          attribute Note.mail was removed (loses the values of Note.mail)

        """

    @Test(arguments: Kind.all) func theExitCodeOfStatusIndicatesWhetherStepsAreRequired(_ kind: Kind) throws {
        let store = try store(kind), hash = try hash(v1)
        let head = "\(store)  version V1  \(hash)\n  Note                     2\n"
        #expect(try run("schema", "status", store) == (0, head, ""))
        #expect(try run("schema", "status", store, "--model", v1) == (0, head + "it is the version of the model\n", ""))
        let required = try run("schema", "status", store, "--model", v2)
        #expect(required == (1, head + "the model has version V2  \(try self.hash(v2)): 1 step required\n" + Self.toV2, ""))
        #expect(try run("schema", "status", store, "--model", v3, "--chain", "V1,V3").code == 5)
        let json = try run("schema", "status", store, "--json").output
        #expect(json.hasSuffix(#""entities":[{"name":"Note","objects":2}],"model":null,"steps":null,"rolling":null}"# + "\n"))
    }

    @Test(arguments: Kind.all) func aPlanShowsWhatTheStoreWouldDoAndChangesNothing(_ kind: Kind) throws {
        let store = try store(kind)
        let plan = try run("schema", "plan", store, "--model", v1, "--model", v2, "--model", v3, "--chain", "V1,V2,V3")
        func does(_ lines: [String]) -> String { "  operations of the store:\n" + lines.map { "    \($0)\n" }.joined() }
        #expect(
            plan.output == Self.toV2 + does(kind.lines.first) + Self.toV3 + does(kind.lines.second) + "nothing was changed\n")
        #expect(plan.code == 1 && plan.error == "polystore: the plan would be refused; accept the loss with --accept-loss Note.mail\n")
        #expect(try run("schema", "status", store, "--model", v1).code == 0)
        #expect(
            try run("schema", "plan", store, "--model", v1)
                == (0, "the store already has version \"V1\": no steps are required\n", ""))
        #expect(try run("schema", "plan", store).code == 64)
    }

    @Test func aPlanThatWouldBeRefusedNamesTheOption() throws {
        let store = try store(.sqlite)
        let bare = try program.file(
            "bare.json", #"{"version": "V2", "entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string"}]}]}"#)
        let plan = try run("schema", "plan", store, "--model", bare)
        #expect(plan.code == 1)
        #expect(plan.error == "polystore: the plan would be refused; accept the loss with --accept-loss Note.mail\n")
        #expect(try run("schema", "plan", store, "--model", bare, "--accept-loss", "Note.mail").code == 0)
        let refused = try run("schema", "apply", store, "--model", bare, "--yes")
        #expect(refused.code == 5)
        #expect(
            refused.error == "polystore: \(store): the step \"V1\" → \"V2\" (lightweight) would lose the values of Note.mail; "
                + "accept the loss with --accept-loss Note.mail\n")
        // The path of a change of the model that loses nothing in this store need not be accepted.
        #expect(try run("schema", "apply", store, "--model", bare, "--yes", "--accept-loss", "Note.mail", "--no-backup").code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: program.folder.path).filter { $0.hasSuffix(".backup") } == [])
    }

    @Test(arguments: Kind.all) func applyAsksForConfirmationAndMigratesStepByStep(_ kind: Kind) throws {
        let store = try store(kind), models = ["--model", v2, "--model", v3, "--chain", "V1,V2,V3"]
        let unasked = try program.run(["schema", "apply", store, "--accept-loss", "Note.mail"] + models)
        #expect(unasked.code == 5 && unasked.output == Self.toV2 + Self.toV3)
        #expect(unasked.error == "polystore: nothing was changed; the input is not a terminal, so confirm with --yes\n")
        // The loss of the second step is refused before the first.
        let refused = try program.run(["schema", "apply", store, "--yes", "--no-backup"] + models)
        #expect(refused.code == 5)
        #expect(
            refused.error
                == "polystore: \(store): the step \"V2\" → \"V3\" (lightweight) would lose the values of Note.mail; "
                + "accept the loss with --accept-loss Note.mail\n")
        #expect(try run("schema", "status", store, "--model", v1).code == 0)
        let done = try program.run(["schema", "apply", store, "--yes", "--accept-loss", "Note.mail"] + models)
        let copy =
            kind == .postgresql ? "" : "backup of the store before the migration: \(store.dropFirst(kind.rawValue.count + 1)).V1.backup\n"
        #expect(done == (0, Self.toV2 + Self.toV3 + copy + "2 steps done: the store now has version \"V3\"\n", ""))
        #expect(
            try run("query", store, "Memo").output == """
                {"entity":"Memo","key":1,"version":1,"body":"a","stars":3}
                {"entity":"Memo","key":2,"version":1,"body":"b","stars":3}

                """)
        #expect(
            try program.run(["schema", "apply", store, "--yes"] + models)
                == (0, "the store already has version \"V3\": no steps are required\n", ""))
        if kind == .postgresql { return }
        let kept = "\(kind):\(store.dropFirst(kind.rawValue.count + 1)).V1.backup"
        #expect(try run("query", kept, "Note", "--where", "mail == 'x'", "--count").output == "1\n")
    }

    @Test(arguments: Kind.all) func revertMigratesBackThroughThePreviousVersions(_ kind: Kind) throws {
        let store = try store(kind)
        #expect(try run("schema", "revert", store).error == "polystore: \(store): the store had no version before \"V1\"\n")
        let models = ["--model", v2, "--model", v3, "--chain", "V1,V2,V3", "--accept-loss", "Note.mail", "--yes"]
        #expect(try program.run(["schema", "apply", store] + models).code == 0)
        let wrong = try run("schema", "revert", store, "--to", "V0", "--yes")
        #expect(wrong.code == 5)
        #expect(
            wrong.error == "polystore: \(store): version \"V3\" of the store did not come from version \"V0\"; did you mean \"V1\"? "
                + "(it came from \"V2\", \"V1\")\n")
        let done = try run("schema", "revert", store, "--to", "V1", "--yes", "--no-backup", "--accept-loss", "Note.stars")
        #expect(
            done
                == (
                    0,
                    """
                    "V3" → "V2" (lightweight): 2 objects
                      entity Memo was renamed to Note
                      attribute Note.mail was added
                    "V2" → "V1" (lightweight)
                      Note.body was renamed to text
                      attribute Note.stars was removed (loses the values of Note.stars)
                    2 steps done: the store now has version "V1"

                    """, ""
                ))
        #expect(try run("schema", "status", store, "--model", v1).code == 0)
        #expect(try run("model", "show", store).output == run("model", "show", v1).output)
        #expect(
            try run("query", store, "Note", "--where", "text == 'b'").output
                == "{\"entity\":\"Note\",\"key\":2,\"version\":1,\"text\":\"b\"}\n")
        let history = try run("schema", "history", store)
        #expect(history.code == 0)
        let lines = history.output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.map { $0[0] } == ["V1", "V2", "V3", "V2", "V1"])
        #expect(lines.map { $0[2] } == ["until", "until", "until", "until", "now"])
        #expect(try run("schema", "revert", store).code == 5)
    }

    @Test(arguments: Kind.all) func aStampRenamesTheVersionAlone(_ kind: Kind) throws {
        let store = try store(kind)
        #expect(try run("schema", "stamp", store, "--version", "One") == (0, "the store now has version \"One\"; it was \"V1\"\n", ""))
        #expect(try run("schema", "stamp", store, "--version", "One") == (0, "the store already has version \"One\"\n", ""))
        let status = try run("schema", "status", store, "--model", v1)
        #expect(status.code == 0)
        #expect(
            status.output == "\(store)  version One  \(try hash(v1))\n  Note                     2\n"
                + "it is the version of the model, which names it \"V1\" (schema stamp changes the name in the store)\n")
        #expect(try run("schema", "stamp", store, "--version", "").code == 64)
    }

    @Test func modelsAndStoresAreCompared() throws {
        let store = try store(.sqlite)
        #expect(try run("schema", "diff", store, v1) == (0, "the stored schemas are equal\n", ""))
        let text = """
              Note.text was renamed to body
              attribute Note.stars was added
            2 changes from version "V1" to version "V2"

            """
        #expect(try run("schema", "diff", store, v2) == (1, text, ""))
        #expect(try run("model", "diff", v1, v2) == (1, text, ""))
        #expect(
            try run("model", "diff", v2, v1, "--json").output.hasSuffix(
                #""same":false,"changes":[{"path":"Note.body","change":"attribute Note.body was removed","effect":"lossy","#
                    + #""detail":"the values of Note.body"},{"path":"Note.stars","change":"attribute Note.stars was removed","effect":"lossy","#
                    + #""detail":"the values of Note.stars"},{"path":"Note.text","change":"attribute Note.text was added","effect":"undecided","#
                    + #""detail":"its value in existing objects, as it has no default"}]}"# + "\n"))
        #expect(try run("schema", "diff", store, program.folder.path + "/none.json").code == 2)
    }

    @Test func aLockIsReadyToPaste() throws {
        let store = try store(.sqlite)
        let lock = try run("schema", "lock", v1)
        #expect(try lock.code == 0 && lock.output == run("schema", "lock", store).output)
        #expect(lock.output.hasPrefix("versionLock: [\n    \"Note\": [0x\(try hash(v1)), 0x") && lock.output.hasSuffix("],\n]\n"))
        #expect(try run("schema", "lock", v1, "--json").output.contains("\"lock\":{\"Note\":\"\(try hash(v1))"))
    }

    // MARK: Steps while programs of both versions run

    @Test(.enabled(if: Kind.server != nil)) func anOnlineMigrationRunsThroughItsPhases() throws {
        let store = try store(.postgresql)
        let plan = try run("schema", "expand", store, "--model", v2, "--dry-run").output
        #expect(plan.contains(#"ALTER TABLE "Note" ADD COLUMN "stars" int8 DEFAULT '3'::int8"#) && plan.hasSuffix("nothing was changed\n"))
        #expect(
            try run("schema", "backfill", store).error
                == "polystore: \(store): the store has no online migration in progress; start one with expand\n")
        for timeout in ["nan", "-1"] { #expect(try run("schema", "expand", store, "--model", v2, "--timeout=\(timeout)").code == 64) }
        #expect(
            try run("schema", "expand", store, "--model", v2)
                == (0, "done: programs of version \"V2\" can start\n", ""))
        let status = try run("schema", "status", store).output
        #expect(
            status.hasSuffix(
                "an online migration to version \"V2\" is in progress: programs of both versions can run; run contract to complete it\n"))
        #expect(try run("schema", "status", store, "--json").output.contains(#""phase":"ready""#))
        let jobs = try run("jobs", store)
        #expect(jobs.code == 0 && jobs.output.contains("an online migration from version \"V1\" to \"V2\""), "\(jobs)")
        #expect(jobs.output.contains("next: polystore schema contract"))
        #expect(try run("schema", "abandon", store).code == 5, "confirmation is required, but the input is not a terminal")
        #expect(try run("schema", "abandon", store, "--yes").output == "done: the store has version \"V1\"\n")
        #expect(try run("schema", "expand", store, "--model", v2).code == 0)
        #expect(try run("schema", "backfill", store).output == "done: programs of version \"V2\" can start\n")
        #expect(try run("schema", "contract", store, "--yes") == (0, "done: the store now has version \"V2\"\n", ""))
        #expect(try run("query", store, "Note", "--sum", "stars").output == "6\n")
        // What goes has to be named.
        #expect(try run("schema", "expand", store, "--model", v3).code == 0)
        let refused = try run("schema", "contract", store, "--yes")
        #expect(refused.code == 5 && refused.error.contains("--accept-loss Note.mail"))
        #expect(try run("schema", "contract", store, "--yes", "--accept-loss", "Note.mail").code == 0)
        #expect(try run("schema", "status", store, "--model", v3).code == 0)
    }

    @Test func aStoreWithoutOnlineMigrationsIsRefused() throws {
        let refused = try run("schema", "expand", store(.sqlite), "--model", v2)
        #expect(refused.code == 2 && refused.error.contains("rollingMigrations"))
    }
}
