import Foundation
import Testing

/// `polystore transfer --workers`.
@Suite struct ParallelTransferCommandTests {
    private let program: Program
    private let source: String

    private static let rows = 60_000

    init() throws {
        program = try Program()
        source = "sqlite:\(program.folder.path)/shop.db"
        let model = try program.file(
            "model.json",
            """
            {"entities": [{"name": "Product", "attributes": [{"name": "name", "type": "string"}, {"name": "price", "type": "int64"}],
              "indexes": [["price"]], "unique": [["name"]]},
              {"name": "Maker", "attributes": [{"name": "name", "type": "string"}]}]}
            """)
        let lines = (0..<Self.rows).map { "n\($0),\($0 % 1000)" }.joined(separator: "\n")
        _ = try program.file("products.csv", "name,price\n\(lines)\n")
        _ = try program.file("makers.csv", "name\n\((0..<5000).map { "m\($0)" }.joined(separator: "\n"))\n")
        let mapping = try program.file(
            "mapping.json", #"{"files": [{"file": "makers.csv", "entity": "Maker"}, {"file": "products.csv", "entity": "Product"}]}"#)
        let loaded = try program.run(["load", source, "--mapping", mapping, "--model", model, "-q"])
        #expect(loaded.code == 0, "\(loaded)")
    }

    @Test(arguments: TransferCommandTests.kinds) func aTransferByThreadsThatWasKilledIsContinued(_ kind: String) throws {
        let target = program.target(kind)
        // The rate keeps the copy going until it is killed.
        for (workers, milliseconds) in [(5, 300), (3, 500), (1, 500), (5, 700)] {
            let command = ["transfer", source, target, "-q", "--rate", "40000", "--workers", "\(workers)"]
            try Program.runUntilKilled(command, after: milliseconds)
            // A target that was made and has not been written to is empty.
            let found = try program.run(["query", target, "Product", "--count"])
            #expect(found.code != 0 || found.output == "0\n", "\(found)")
        }
        let finished = try program.run(["transfer", source, target, "--workers", "4", "--json"])
        #expect(finished.code == 0 && finished.output.contains(#""verified":true"#), "\(finished)")
        let same = try program.run(["verify", source, target, "--rows"])
        #expect(same.code == 0, "\(same)")
        #expect(try program.run(["query", target, "Product", "--count"]).output == "\(Self.rows)\n")
        let sound = try program.run(["check", target])
        #expect(sound.code == 0, "\(sound)")
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    @Test(arguments: TransferCommandTests.kinds) func anInterruptedTransferByThreadsKeepsWhatItHasRead(_ kind: String) throws {
        let target = program.target(kind)
        let process = Program.process(["transfer", source, target, "-q", "--rate", "40000", "--workers", "5"])
        process.standardError = FileHandle.nullDevice
        try process.run()
        Thread.sleep(forTimeInterval: 0.8)
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        let finished = try program.run(["transfer", source, target, "--json"])
        #expect(finished.code == 0 && finished.output.contains(#""verified":true"#), "\(finished)")
        #expect(try program.run(["verify", source, target]).code == 0)
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    @Test func aNumberOfThreadsThatMakesNoSenseIsRefused() throws {
        for wrong in [["--workers", "0"], ["--workers", "-1"], ["--workers", "x"], ["--workers", "2", "--live"]] {
            #expect(try program.run(["transfer", source, program.target("sqlite")] + wrong).code == 64, "\(wrong)")
        }
    }
}
