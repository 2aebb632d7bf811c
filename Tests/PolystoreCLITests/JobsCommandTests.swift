import Foundation
import Testing

/// `polystore jobs`, `bench` and `conformance`.
@Suite struct JobsCommandTests {
    private let program: Program
    private var folder: URL { program.folder }
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    private static let kinds = ["sqlite", "lmdb"] + (server == nil ? [] : ["postgresql"])

    init() throws { program = try Program() }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    /// Begins a slow transfer. Returns with the first step that is committed, and the list of work then.
    private func begin(_ store: String, _ target: String) throws -> (Process, (code: Int32, output: String, error: String)) {
        let process = Program.process(["transfer", store, target, "-q", "--rate", "5000"])
        process.standardError = FileHandle.nullDevice
        try process.run()
        var running = try run("jobs", target, "--json")
        for _ in 0..<100 where !running.output.contains(#""done":"#) || running.output.contains(#""done":0,"#) {
            Thread.sleep(forTimeInterval: 0.05)
            running = try run("jobs", target, "--json")
        }
        return (process, running)
    }

    private func target(_ kind: String) throws -> String {
        if kind != "postgresql" { return "\(kind):\(folder.path)/copy.\(kind)" }
        let server = try #require(Self.server)
        return "\(server)\(server.contains("?") ? "&" : "?")x-schema=jobs_\(UUID().uuidString.prefix(8).lowercased())"
    }

    @Test(arguments: kinds) func anInterruptedTransferIsListedUntilItIsComplete(_ kind: String) throws {
        let store = "sqlite:\(folder.path)/a.db", target = try target(kind)
        let csv = try program.file("a.csv", "text\n" + (0..<20_000).map { "row \($0)\n" }.joined())
        #expect(try run("load", store, csv, "--infer", "--entity", "Note", "-q").code == 0)
        #expect(try run("jobs", store).output == "no work is unfinished\n")
        #expect(try run("jobs", target).code == 2)
        let (process, running) = try begin(store, target)
        if kind != "postgresql" { #expect(running.output.contains(#""running":true"#), "\(running)") }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        let listed = try run("jobs", target)
        #expect(listed.code == 0 && listed.output.hasPrefix("a copy of \(store)\n"), "\(listed)")
        #expect(listed.output.contains("% of 20000") && listed.output.contains("  next: polystore transfer \(store) "), "\(listed)")
        if kind != "postgresql" { #expect(listed.output.contains("no process is working on it"), "\(listed)") }
        #expect(try run("transfer", store, target, "-q").code == 0)
        #expect(try run("jobs", target).output == "no work is unfinished\n")
        #expect(try run("erase", target, "--yes").code == 0)
        if kind == "postgresql" { return }
        // What a transfer has copied to a file has another name, and is erased when nobody works on it.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let again = try begin(store, target).0
        let refused = try run("erase", target, "--yes")
        #expect(refused.code == 2 && refused.error.contains("another transfer or restore writes to the same target"), "\(refused)")
        kill(again.processIdentifier, SIGINT)
        again.waitUntilExit()
        #expect(try run("erase", target, "--yes").code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == files)
    }

    @Test(arguments: ["memory", "sqlite", "lmdb"] + (server == nil ? [] : ["postgresql"]))
    func aBenchmarkUsesAStoreOfItsOwn(_ kind: String) throws {
        let url = kind == "postgresql" ? try #require(Self.server) : kind == "memory" ? "memory:" : "\(kind):\(folder.path)"
        let result = try run("bench", url, "--objects", "25", "--batch", "10")
        #expect(result.code == 0, "\(result)")
        for step in ["insert   25 in", "fetch    25 in", "query    25 in", "update   25 in", "delete   25 in"] {
            #expect(result.output.contains(step), "\(result)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func aBenchmarkRefusesWhatCouldBeAStoreInUse() throws {
        let csv = try program.file("a.csv", "text\na\n")
        for kind in ["sqlite", "lmdb"] {
            let store = "\(kind):\(folder.path)/a.\(kind)"
            #expect(try run("load", store, csv, "--infer", "--entity", "Note", "-q").code == 0)
            #expect(try run("bench", store).code == 5)
            #expect(try run("query", store, "Note", "--count").output == "1\n")
        }
        #expect(try run("bench", "postgresql://localhost:1/x?x-schema=mine").code == 5)
        #expect(try run("bench", "sqlite:/nonexistent").code == 5)
    }

    @Test func theConformanceSuiteRunsAsItsOwnProgram() throws {
        let passed = try run("conformance", "memory:", "--only", "V001*")
        #expect(passed.code == 0 && passed.output.contains("V001.bool"), "\(passed)")
        #expect(try run("conformance", "memory:", "--only", "nothing").code == 64)
        #expect(try run("conformance", "sqlite:/nonexistent", "--only", "V001*").code == 2)
        #expect(try run("conformance", "memory:", "--json", "--report", "junit").code == 64)
        #expect(try JSONValue(run("conformance", "memory:", "--only", "V001*", "--json").output) != .null)
    }
}
