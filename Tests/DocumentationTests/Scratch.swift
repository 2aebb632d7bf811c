import Foundation
import Synchronization
import TestStores
import Testing

/// The location of a file or a database of a sample, for the running test alone: `scratch("pets.db")`, `scratch("sqlite:pets.db")`,
/// `scratch("dbname=pets")` or `scratch("postgresql:///pets?x-schema=shop")`.
///
/// A suite of samples has the trait `.scratch`, which removes what is there at the end of each test. A test with a database is
/// `.enabled(if: TestStore.server != nil, "POLYSTORE_TEST_POSTGRES names no server")`.
func scratch(_ location: String) -> String {
    guard let scratch = Scratch.current else { preconditionFailure("the suite lacks the trait .scratch") }
    return scratch.location(location)
}

/// Records what a sample prints, in `printed`.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    let line = items.map { "\($0)" }.joined(separator: separator)
    Scratch.current?.lines.withLock { $0.append(line) }
}

/// What the samples of the running test have printed.
var printed: [String] { Scratch.current?.lines.withLock { $0 } ?? [] }

/// Waits until a condition holds that a task or another thread brings about.
func eventually(isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool) async throws {
    for _ in 0..<3000 {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("nothing happened for 30 seconds; printed: \(printed)")
}

/// The files, the databases and the output of one test.
final class Scratch: Sendable {
    @TaskLocal static var current: Scratch?

    let lines = Mutex<[String]>([])
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString.lowercased())")
    private let databases = Mutex<[String: String]>([:])

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// Removes the files and the databases.
    func remove() {
        try? FileManager.default.removeItem(at: folder)
        for name in databases.withLock({ Array($0.values) }) { try? Self.psql("DROP DATABASE \(name) WITH (FORCE)") }
    }

    fileprivate func location(_ text: String) -> String {
        if let name = text.wholeMatch(of: #/dbname=(\w+)/#)?.1 { return database(String(name), options: "") }
        if let url = text.wholeMatch(of: #/postgresql:.*\/(\w+)(?:\?(.*))?/#) {
            return database(String(url.1), options: url.2.map { "&\($0)" } ?? "")
        }
        if let url = text.wholeMatch(of: #/(\w+:)(.+)/#) { return "\(url.1)\(folder.path)/\(url.2)" }
        return folder.appendingPathComponent(text).path
    }

    /// The URL of a new database of the server.
    private func database(_ name: String, options: String) -> String {
        let made = databases.withLock { databases in
            if let made = databases[name] { return made }
            let made = "polystore_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
            do { try Self.psql("CREATE DATABASE \(made) TEMPLATE template0") } catch { Issue.record(error) }
            databases[name] = made
            return made
        }
        return (TestStore.server ?? "").replacing(#/^(postgresql:\/\/[^\/]*)\/\w*/#) { "\($0.1)/\(made)" } + options
    }

    /// Runs statements on the server, or in the database of a sample.
    static func psql(_ sql: String, in database: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database ?? TestStore.server ?? "", "-c", sql]
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw CocoaError(.executableLoad) }
    }
}

/// Gives each test of a suite files, databases and an output of its own.
struct ScratchTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        try await Scratch.$current.withValue(scratch) { try await function() }
    }
}

extension Trait where Self == ScratchTrait {
    /// Files, databases and an output for each test of the suite.
    static var scratch: Self { ScratchTrait() }
}
