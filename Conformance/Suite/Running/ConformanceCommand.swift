public import ArgumentParser
internal import Foundation
internal import Polystore
public import PolystoreStorage

/// The command `polystore-conformance`; a package with a store of its own calls `run(opener:)` from its main file.
public struct ConformanceCommand: ParsableCommand {
    /// Name and abstract.
    public static let configuration = CommandConfiguration(
        commandName: "polystore-conformance",
        abstract: "Runs the conformance suite against scratch stores.",
        discussion: """
            A scratch store is made for each case and removed after it: sqlite: and lmdb: use a temporary folder, or one in the folder \
            that the URL names, a PostgreSQL URL a schema with a random name. Exit codes: 0 nothing failed, 1 something failed, 2 a store could not be made.
            """)

    @Option(name: .customLong("store"), help: "The URL of a store to test; may be repeated. Cases over two stores run over every pair.")
    var stores: [String] = ["memory:"]

    @Option(help: "Only cases whose name matches, such as 'P0*'.")
    var only = ""

    @Flag(help: "List the cases and run none.")
    var list = false

    @Flag(help: "Run every interleaving of the isolation cases, and the bank for a minute.")
    var thorough = false

    @Option(help: "The seed of the random cases.")
    var seed: UInt64?

    @Option(help: "text, json or junit.")
    var report = "text"

    @Option(help: "Write the report to a file instead of the output.")
    var output: String?

    /// A command without arguments.
    public init() {}

    /// Runs the command over the stores that an opener knows.
    public static func run(opener: some StoreOpener) {
        do {
            let command = try parse()
            try command.run(opener)
        } catch {
            exit(withError: error)
        }
    }

    /// Refuses a form of report that there is none of, and a pattern that no case matches: a run of nothing would pass.
    public func validate() throws {
        guard ["text", "json", "junit"].contains(report) else { throw ValidationError("--report is text, json or junit") }
        if ConformanceRunner(only: only).cases.isEmpty { throw ValidationError("no case matches '\(only)'; --list names all cases") }
    }

    private func run(_ opener: some StoreOpener) throws {
        if list {
            for item in ConformanceRunner(only: only).cases { print("\(item.id)  [\(item.clause)]") }
            return
        }
        if let seed { RandomCases.seed = seed }
        IsolationCases.isThorough = thorough
        // Many cases provoke errors on purpose.
        StoreLogging.logger = SilentLogger()
        var isGreen = true, texts: [String] = []
        for store in stores {
            let harness: StoreHarness
            do {
                harness = try StoreHarness.scratch(store, beside: stores.filter { $0 != store }, opener: opener)
            } catch {
                FileHandle.standardError.write(Data("polystore-conformance: \(error)\n".utf8))
                throw ExitCode(2)
            }
            let result = ConformanceRunner(only: only).run((try? StoreURL(store).redacted) ?? store, harness)
            isGreen = isGreen && result.isGreen
            texts.append(report == "json" ? result.json : (report == "junit" ? result.junit : result.text))
        }
        let text = texts.joined(separator: "\n") + "\n"
        if let output { try text.write(toFile: output, atomically: true, encoding: .utf8) } else { print(text, terminator: "") }
        if !isGreen { throw ExitCode(1) }
    }
}

/// Says nothing.
private struct SilentLogger: StoreLogger {
    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {}
    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {}
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {}
}
