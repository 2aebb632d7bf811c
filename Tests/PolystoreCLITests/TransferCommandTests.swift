import Foundation
import Testing

/// `polystore transfer` of parts, into stores with objects, and after an interruption.
@Suite struct TransferCommandTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/shop.db"
        let model = try program.file(
            "model.json",
            """
            {"entities": [{"name": "Product", "attributes": [{"name": "name", "type": "string"}, {"name": "price", "type": "int64", "optional": true}],
              "relationships": [{"name": "maker", "to": "Maker"}]},
              {"name": "Maker", "attributes": [{"name": "name", "type": "string"}]}]}
            """)
        _ = try program.file("makers.csv", "name\nx\ny\n")
        _ = try program.file("products.csv", "name,price,maker\na,1,x\nb,20,y\nc,30,x\n")
        let mapping = try program.file(
            "mapping.json",
            """
            {"files": [{"file": "makers.csv", "entity": "Maker"},
              {"file": "products.csv", "entity": "Product",
               "relationships": {"maker": {"name": "maker"}}}]}
            """)
        let loaded = try program.run(["load", store, "--mapping", mapping, "--model", model, "-q"])
        #expect(loaded.code == 0, "\(loaded)")
    }

    private func path(_ name: String) -> String { program.folder.appendingPathComponent(name).path }

    private func transfer(_ target: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["transfer", store, target] + options)
    }

    @Test func aPartIsPlannedCopiedAndRefused() throws {
        let target = "lmdb:\(path("part.lmdb"))"
        let refused = try transfer(target, "--where", "Maker: name == 'x'")
        #expect(refused.code == 5 && refused.error.contains("Product.maker of 1 objects would become nil"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: path("part.lmdb")))
        #expect(!FileManager.default.fileExists(atPath: path("part.lmdb.partial")))
        let plan = try transfer(target, "--where", "Maker: name == 'x'", "--plan")
        #expect(plan.code == 1 && plan.output.contains("refused: Product.maker of 1 objects would become nil"), "\(plan)")
        let accepted = try transfer(target, "--where", "Maker: name == 'x'", "--plan", "--accept-loss", "Product.maker")
        #expect(accepted.code == 0 && accepted.output.contains("note: 1 references of Product.maker would become nil"), "\(accepted)")
        let copied = try transfer(target, "--where", "Product: price > 10", "--only", "Product", "--closure", "--json")
        #expect(copied.code == 0 && copied.output.contains(#""name":"Product","count":2"#), "\(copied)")
        #expect(copied.output.contains(#""name":"Maker","count":2"#) && copied.output.contains(#""verified":true"#))
        for wrong in [["--where", "Product"], ["--if-exists", "merg"], ["--closure"], ["--if-exists", "replace", "--only", "Maker"]] {
            #expect(try program.run(["transfer", store, target] + wrong).code == 64)
        }
        #expect(try transfer(target, "--if-exists", "merg").error.contains("merge"))
    }

    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]

    /// A process that ends after it has made the target must not leave one that looks complete.
    @Test(.enabled(if: server != nil)) func aNewTargetOnAServerIsIncompleteFromTheBeginning() throws {
        let target = program.target("postgresql"), schema = target.components(separatedBy: "x-schema=").last ?? ""
        defer { _ = try? program.run(["erase", target, "--yes"]) }
        // The first look at the tables of the target tells whether it has the note.
        let look = Process(), output = Pipe()
        look.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        look.arguments = [
            "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", Self.server ?? "",
            "-c", "SET statement_timeout = '30s'",
            "-c",
            """
            DO $$ BEGIN
            WHILE NOT EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE nspname = '\(schema)' AND relname = 'polystore_notes') LOOP PERFORM pg_sleep(0.0002); END LOOP;
            CREATE TEMP TABLE found AS SELECT name FROM \(schema).polystore_notes; END $$
            """, "-c", "SELECT count(*) FROM found WHERE name = 'copy.incomplete'",
        ]
        look.standardOutput = output
        try look.run()
        Thread.sleep(forTimeInterval: 0.3)
        let copied = try transfer(target, "-q")
        #expect(copied.code == 0, "\(copied)")
        let found = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        look.waitUntilExit()
        #expect(found == "1\n")
        #expect(try program.run(["info", target]).code == 0)
    }

    @Test func aTargetWithObjectsIsMergedReplacedOrRefused() throws {
        let target = "sqlite:\(path("target.db"))"
        #expect(try transfer(target, "-q").code == 0)
        let again = try transfer(target)
        #expect(again.code == 0 && again.output.contains("nothing was copied"), "\(again)")
        try program.sqlite3("target.db", "UPDATE Product SET name = 'z' WHERE name = 'b'")
        #expect(try transfer(target).code == 5)
        #expect(try transfer(target, "--if-exists", "append").code == 5)
        #expect(try transfer(target, "--if-exists", "replace").code == 5)
        #expect(try program.run(["verify", store, target]).code == 1)
        #expect(try transfer(target, "--if-exists", "merge").code == 0)
        #expect(try program.run(["verify", store, target]).code == 0)
        let grown = try program.run(["load", target, try program.file("more.csv", "name,price\nd,4\n"), "--entity", "Product"])
        #expect(grown.code == 0, "\(grown)")
        #expect(try transfer(target, "--if-exists", "replace", "--yes").code == 0)
        #expect(try program.run(["verify", store, target]).code == 0)
    }

    /// The stores of a test of interruptions. Each directory of `PolystoreCLITests` is its own.
    private func other(_ kind: String) -> String {
        switch kind {
        case "postgresql":
            (ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"] ?? "")
                + "&x-schema=interrupted_\(UUID().uuidString.prefix(8).lowercased())"
        case "lmdb": "lmdb:\(path("copy.lmdb"))"
        default: "sqlite:\(path("copy.db"))"
        }
    }

    static let kinds =
        ["sqlite", "lmdb"] + (ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"] == nil ? [] : ["postgresql"])

    @Test(arguments: kinds) func aTransferThatWasKilledIsContinuedByTheSameCommand(_ kind: String) throws {
        let target = other(kind), big = "sqlite:\(path("big.db"))"
        let lines = (0..<60_000).map { "n\($0),\($0)" }.joined(separator: "\n")
        let loaded = try program.run([
            "load", big, try program.file("big.csv", "name,price\n\(lines)\n"), "--entity", "Product", "--model", path("model.json"), "-q",
        ])
        #expect(loaded.code == 0, "\(loaded)")
        for milliseconds in [20, 60, 120, 250] {
            let process = Program.process(["transfer", big, target, "-q"])
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let finished = try program.run(["transfer", big, target])
        #expect(finished.code == 0, "\(finished)")
        let same = try program.run(["verify", big, target, "--rows"])
        #expect(same.code == 0, "\(same)")
        let sound = try program.run(["check", target])
        #expect(sound.code == 0, "\(sound)")
        let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path).filter { $0.contains("partial") }
        #expect(left.isEmpty)
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    /// What a refused transfer has not made remains as it was.
    @Test func aRefusedTransferRemovesNothingOfOthers() throws {
        let refused = ["--where", "Maker: name == 'x'"]
        // A store that has the temporary name by chance, or was copied completely and not renamed.
        try FileManager.default.copyItem(atPath: path("shop.db"), toPath: path("u.db.partial"))
        for options in [refused, [], ["--only", "Makr"], ["--accept-loss", "Product.makr"]] {
            let found = try program.run(["transfer", store, "sqlite:\(path("u.db"))"] + options)
            #expect(found.code == (options.count == 0 || options == refused ? 5 : 2), "\(found)")
            #expect(try program.sqlite3("u.db.partial", "SELECT count(*) FROM Product") == "3\n")
        }
        #expect(try program.run(["transfer", store, "sqlite:\(path("u.db"))"]).error.contains("u.db.partial: the target is not empty"))
        // An empty file, also behind a link.
        _ = try program.file("empty.db", "")
        try FileManager.default.createSymbolicLink(atPath: path("link.db"), withDestinationPath: path("empty.db"))
        for name in ["empty.db", "link.db"] {
            #expect(try program.run(["transfer", store, "sqlite:\(path(name))"] + refused).code == 5)
            #expect(FileManager.default.fileExists(atPath: path(name)))
        }
        // A target that is made for a merge.
        for kind in ["sqlite", "lmdb"] {
            let target = "\(kind):\(path("new.\(kind)"))"
            #expect(try program.run(["transfer", store, target, "--if-exists", "merge"] + refused).code == 5)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path).filter {
            $0.hasPrefix("new.") || $0.hasPrefix("u.db.partial.")
        }
        #expect(left.isEmpty, "\(left)")
    }

    @Test func aCopyThatHasNoNameYetIsUsedOrMadeAgain() throws {
        let target = "sqlite:\(path("t.db"))"
        #expect(try transfer(target, "-q").code == 0)
        try FileManager.default.moveItem(atPath: path("t.db"), toPath: path("t.db.partial"))
        let used = try transfer(target)
        #expect(used.code == 0 && used.output.contains("nothing was copied"), "\(used)")
        try FileManager.default.moveItem(atPath: path("t.db"), toPath: path("t.db.partial"))
        try program.sqlite3("shop.db", "UPDATE Product SET price = 2 WHERE name = 'a'")
        let again = try transfer(target)
        #expect(again.code == 0 && again.error.contains("begins again"), "\(again)")
        #expect(try program.run(["verify", store, target]).code == 0)
    }

    @Test func aPlanOfAnAdditionNamesWhatExists() throws {
        let target = "sqlite:\(path("t.db"))"
        #expect(try transfer(target, "-q").code == 0)
        let plan = try transfer(target, "--if-exists", "append", "--plan")
        #expect(plan.code == 1 && plan.output.contains("refused: object 1 of Product exists in the target"), "\(plan)")
        #expect(try transfer(target, "--if-exists", "merge", "--plan").code == 0)
    }

    @Test func anIncompleteCopyIsShownAndErased() throws {
        let copy = "sqlite:\(path("copy.db"))"
        #expect(try transfer(copy, "-q").code == 0)
        try program.sqlite3("copy.db", "INSERT INTO polystore_notes(name, value) VALUES('copy.incomplete', x'00')")
        let query = try program.run(["query", copy, "Product"])
        #expect(query.code == 2 && query.error.contains("incomplete copy"), "\(query)")
        #expect(try program.run(["info", copy]).output.contains("incomplete copy"))
        let again = try transfer(copy)
        #expect(again.code == 5 && again.error.contains("incomplete copy of another source"), "\(again)")
        #expect(try program.run(["erase", copy, "--yes"]).code == 0)
    }

    @Test(arguments: ["sqlite", "lmdb"]) func aTransferRenamesAndChangesTypes(_ kind: String) throws {
        let target = "\(kind):\(path("mapped.\(kind)"))"
        let mapping = [
            "--rename", "Product=Article", "--rename", "Product.price=cost", "--rename", "Product.maker=from", "--type",
            "Product.price=string",
        ]
        let copied = try program.run(
            ["transfer", store, target, "--where", "Product: price > 1", "--only", "Product", "--closure", "--json"] + mapping)
        #expect(copied.code == 0 && copied.output.contains(#""name":"Article","count":2"#), "\(copied)")
        #expect(copied.output.contains(#""verified":true"#) && copied.output.contains(#""changedValues":{}"#), "\(copied)")
        let found = try program.run(["query", target, "Article", "--where", "cost == '30' AND from.name == 'x'", "--format", "ndjson"])
        #expect(found.code == 0 && found.output.contains(#""name":"c","cost":"30","from":1"#), "\(found)")
        // The target has exactly the mapped model, and the options use the names of the source.
        #expect(try program.run(["transfer", store, target, "--if-exists", "merge"]).error.contains("the target has another schema"))
        let merged = try program.run(["transfer", store, target, "--if-exists", "merge", "-q"] + mapping)
        #expect(merged.code == 0, "\(merged)")
        #expect(try program.run(["query", target, "Article", "--count"]).output == "3\n")
    }

    /// Whether others keep changes for the source is known only when it is read.
    @Test func theLossOfJointCommitsCanBeAccepted() throws {
        for (name, layout) in [("copy", "polystore"), ("tables", "plain")] {
            let copied = try transfer("sqlite:\(path(name)).db", "--layout", layout, "--accept-loss", "joint commits")
            #expect(copied.code == 0, "\(copied)")
        }
    }

    @Test func aMappingThatDoesNotFitIsRefused() throws {
        let target = "sqlite:\(path("mapped.db"))"
        let refusals = [
            (["--rename", "Produkt=Article"], #"did you mean "Product"?"#, Int32(2)),
            (["--rename", "Product=Maker"], "would both be called", 2),
            (["--type", "Product.price=doubl"], #"did you mean "double"?"#, 64), (["--type", "Product.price"], "needs a path", 64),
            (["--rename", "Product=A", "--rename", "Product=B"], "two names for Product", 64),
            (["--type", "Product.maker=string"], "Product.maker is a relationship", 2),
            (["--type", "Product.price=uuid"], "cannot be converted from int64 to uuid", 2),
            (["--accept-loss", "Product.price"], "names nothing that the copy could lack", 2),
            (["--type", "Product.name=int64"], #"Product.name of object 1 is "a", which has no exact equivalent of type int64"#, 5),
            (["--type", "Product.price=bool"], "Product.price of object 2 is 20, which has no exact equivalent of type bool", 5),
        ]
        for (options, message, code) in refusals {
            let found = try program.run(["transfer", store, target] + options)
            #expect(found.code == code && found.error.contains(message), "\(options): \(found)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path).filter { $0.hasPrefix("mapped") }
        #expect(left.isEmpty)
    }

    @Test func aPlanShowsTheMappingAndAnAcceptedLossIsCounted() throws {
        let target = "sqlite:\(path("mapped.db"))", mapping = ["--rename", "Product=Article", "--type", "Product.name=int64?"]
        let plan = try program.run(["transfer", store, target, "--plan", "-q"] + mapping)
        #expect(plan.code == 1 && plan.output.contains("  Product is called Article\n"), "\(plan)")
        #expect(plan.output.contains("  Product.name changes from string to int64?; 3 values have no exact equivalent\n"), "\(plan)")
        #expect(plan.output.contains(#"refused: Product.name of object 1 is "a""#), "\(plan)")
        let accepting = mapping + ["--accept-loss", "Product.name"]
        let json = try program.run(["transfer", store, target, "--plan", "--json", "-q"] + accepting)
        #expect(json.code == 0 && json.output.contains(#""renames":[{"path":"Product","newPath":"Article"}]"#), "\(json)")
        #expect(
            json.output.contains(#""types":[{"path":"Product.name","type":"string","newType":"int64?","inexact":3}]"#), "\(json)")
        let copied = try program.run(["transfer", store, target] + accepting)
        #expect(copied.code == 0 && copied.output.contains("note: 3 values of Product.name have the nearest value"), "\(copied)")
        #expect(try program.run(["query", target, "Article", "--where", "name == nil", "--count"]).output == "3\n")
    }

    @Test(arguments: kinds) func aMappedTransferThatWasKilledIsContinuedByTheSameCommand(_ kind: String) throws {
        let target = other(kind), big = "sqlite:\(path("big.db"))"
        let lines = (0..<60_000).map { "n\($0),\($0)" }.joined(separator: "\n")
        let loaded = try program.run([
            "load", big, try program.file("big.csv", "name,price\n\(lines)\n"), "--entity", "Product", "--model", path("model.json"), "-q",
        ])
        #expect(loaded.code == 0, "\(loaded)")
        let command = ["transfer", big, target, "--rename", "Product=Article", "--type", "Product.price=decimal"]
        for milliseconds in [150, 300, 600] {
            let process = Program.process(command + ["-q"])
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let finished = try program.run(command)
        #expect(finished.code == 0, "\(finished)")
        let found = try program.run([
            "query", target, "Article", "--where", "price == DECIMAL \"59999\" OR price < DECIMAL \"1\"", "--count",
        ])
        #expect(found.output == "2\n", "\(found)")
        #expect(try program.run(["query", target, "Article", "--count"]).output == "60000\n")
        let sound = try program.run(["check", target])
        #expect(sound.code == 0, "\(sound)")
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    @Test(arguments: kinds) func aLiveTransferReplacesTheSourceAndBack(_ kind: String) throws {
        let target = other(kind)
        for wrong in [["--cut-over"], ["--live", "--plan"], ["--live", "--only", "Maker"], ["--live", "--cut-over", "--release"]] {
            #expect(try program.run(["transfer", store, target] + wrong).code == 64)
        }
        func update(_ store: String) throws -> (code: Int32, output: String, error: String) {
            try program.run(["update", store, "Product", "--set", "price = price + 1", "--all", "--yes"])
        }
        // A store in the memory of the command would replace the source, and end.
        #expect(try transfer("memory:", "--live", "--cut-over").error.contains("the target ends with this program"))
        #expect(try update(store).code == 0)
        // Followed until it is interrupted, and incomplete until the cut-over.
        let process = Program.process(["transfer", store, target, "--live", "-q"])
        process.standardError = FileHandle.nullDevice
        try process.run()
        Thread.sleep(forTimeInterval: 0.5)
        #expect(try update(store).code == 0)
        Thread.sleep(forTimeInterval: 0.5)
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(try program.run(["query", target, "Product", "--count"]).code != 0)
        let jobs = try program.run(["jobs", target])
        #expect(jobs.code == 0 && jobs.output.contains("that follows its changes; everything is copied"), "\(jobs)")
        #expect(jobs.output.contains("next: polystore transfer ") && jobs.output.contains(" --live\n"), "\(jobs)")
        #expect(try update(store).code == 0)
        let replaced = try transfer(target, "--live", "--cut-over")
        #expect(replaced.code == 0 && replaced.error.contains("has replaced") || replaced.output.contains("has replaced"), "\(replaced)")
        #expect(try program.run(["verify", store, target]).code == 0)
        let refused = try update(store)
        #expect(refused.code == 5 && refused.error.contains("have been moved to"), "\(refused)")
        #expect(try program.run(["query", target, "Product", "--where", "price > 31", "--count"]).output == "1\n")
        #expect(try update(target).code == 0)
        let moved = try program.run(["jobs", store])
        #expect(moved.code == 0 && moved.output.contains("the store has been replaced by"), "\(moved)")
        // The same command again has nothing to do, and the opposite one brings everything back.
        #expect(try transfer(target, "--live", "--cut-over").code == 0)
        #expect(try transfer(target, "--live", "--release").code == 5)
        #expect(try update(store).code == 5)
        let back = try program.run(["transfer", target, store, "--live", "--cut-over", "--json"])
        #expect(back.code == 0 && back.output.contains("\"drained\""), "\(back)")
        #expect(try update(target).code == 5)
        #expect(try update(store).code == 0)
        #expect(try program.run(["query", store, "Product", "--where", "price == 6", "--count"]).output == "1\n")
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }
}
