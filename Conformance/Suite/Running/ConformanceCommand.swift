public import ArgumentParser
internal import Foundation
internal import Polystore
public import PolystoreStorage

/// The command `polystore-conformance`. A package with its own store calls `run(opener:)` from its main file.
public struct ConformanceCommand: ParsableCommand {
    /// The name and the abstract of the command.
    public static let configuration = CommandConfiguration(
        commandName: "polystore-conformance",
        abstract: "Runs the conformance suite against scratch stores.",
        discussion: """
            A scratch store is made for each case and removed after it: sqlite: and lmdb: use a temporary folder, or one in the folder \
            that the URL names, a PostgreSQL URL a schema with a random name. Exit codes: 0 nothing failed, 1 something failed or a capability is claimed whose cases were all skipped, 2 a store could not be made.

            With --programs, random programs run over each store and over pairs of them, in lock step with a naive model: 0 no difference, 1 a difference, \
            which is printed as a small Swift program. --seed repeats a run.
            """)

    @Option(name: .customLong("store"), help: "The URL of a store to test; can be repeated. Cases over two stores run for every pair.")
    var stores: [String] = ["memory:"]

    @Option(help: "Only cases whose name matches, such as 'P0*'; can be repeated.")
    var only: [String] = []

    @Flag(help: "List the cases and run none.")
    var list = false

    @Flag(help: "Run every interleaving of the isolation cases, and the bank for a minute.")
    var thorough = false

    @Option(help: "The seed of the random cases, or of the first random program.")
    var seed: UInt64?

    @Option(help: "The number of random programs to run on the stores and on pairs of them, instead of the cases.")
    var programs: Int?

    @Option(help: "The number of operations of each random program.")
    var operations = 60

    @Option(help: "The number of cases or random programs to run at the same time.")
    var jobs = 1

    @Option(help: "A file with the JSON of the model for the random programs; by default each program has a random model.")
    var model: String?

    @Option(help: "text, json or junit.")
    var report = "text"

    @Option(help: "Write the report to a file instead of standard output.")
    var output: String?

    @Flag(help: .hidden)
    var peer = false

    /// Creates a command without arguments.
    public init() {}

    /// Runs the command over the stores that an opener can open.
    public static func run(opener: some StoreOpener) {
        do {
            let command = try parse()
            try command.run(opener)
        } catch {
            exit(withError: error)
        }
    }

    /// Throws for an unknown report format, and for a pattern that matches no case, because an empty run would pass.
    public func validate() throws {
        guard ["text", "json", "junit"].contains(report) else { throw ValidationError("--report must be text, json or junit") }
        if programs ?? 1 < 1 || operations < 1 { throw ValidationError("--programs and --operations must be at least 1") }
        guard (1...64).contains(jobs) else { throw ValidationError("--jobs must be from 1 to 64") }
        if programs == nil, model != nil {
            throw ValidationError("--model applies only to random programs; set their number with --programs")
        }
        for pattern in only where ConformanceRunner(only: [pattern]).cases.isEmpty {
            throw ValidationError("no case matches '\(pattern)'; --list names all cases")
        }
    }

    private func run(_ opener: some StoreOpener) throws {
        if peer { return try PeerProcess.serve(opener) }
        if list {
            for item in ConformanceRunner(only: only).cases { print("\(item.id)  [\(item.clause)]") }
            return
        }
        if let programs { return try run(programs, opener) }
        if let seed { RandomCases.seed = seed }
        IsolationCases.isThorough = thorough
        // Many cases provoke errors intentionally.
        StoreLogging.logger = SilentLogger()
        var isGreen = true, texts: [String] = []
        for store in stores {
            let harness: StoreHarness
            do {
                let others = stores.filter { $0 != store }
                harness = try StoreHarness.scratch(store, beside: others, program: Bundle.main.executableURL, opener: opener)
            } catch {
                FileHandle.standardError.write(Data("polystore-conformance: \(error)\n".utf8))
                throw ExitCode(2)
            }
            let result = ConformanceRunner(only: only).run((try? StoreURL(store).redacted) ?? store, harness, jobs: jobs)
            isGreen = isGreen && result.isGreen
            texts.append(report == "json" ? result.json : (report == "junit" ? result.junit : result.text))
        }
        let text = texts.joined(separator: "\n") + "\n"
        if let output { try text.write(toFile: output, atomically: true, encoding: .utf8) } else { print(text, terminator: "") }
        if !isGreen { throw ExitCode(1) }
    }
}

extension ConformanceCommand {
    private func run(_ programs: Int, _ opener: some StoreOpener) throws {
        StoreLogging.logger = SilentLogger()
        let schema = try model.map { try Schema(json: String(contentsOfFile: $0, encoding: .utf8)) }
        let seed = seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
        // A run that is interrupted has shown its seed and its differences.
        @Sendable func show(_ text: String) {
            print(text)
            fflush(nil)
        }
        show("seed \(seed)")
        let harnesses: [StoreHarness]
        do {
            harnesses = try stores.map { try StoreHarness.scratch($0, opener: opener) }
        } catch {
            FileHandle.standardError.write(Data("polystore-conformance: \(error)\n".utf8))
            throw ExitCode(2)
        }
        let suite = try ProgramSuite(harnesses, operations: operations, schema: schema)
        let result = try suite.run(programs: programs, seed: seed, jobs: jobs, telling: show)
        print("\(result.programs) programs, \(result.operations) operations, \(result.differences.count) differences")
        if !result.differences.isEmpty { throw ExitCode(1) }
    }
}

/// A logger that discards all messages.
private struct SilentLogger: StoreLogger {
    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {}
    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {}
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {}
}
