import Foundation
import Polystore
import PolystoreCatalog
import Testing

/// A process that leads a store to another version of its model is killed at any moment: the store has the old version or the new one,
/// every value right, and it can go on from there.
@Suite(.serialized) struct MigrationCrashTests {
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    /// 100 kills and 200,000 objects are the whole proof; fewer in every run of the tests.
    private static let kills = Int(ProcessInfo.processInfo.environment["POLYSTORE_TEST_KILLS"] ?? "") ?? 4
    private static let objects = ProcessInfo.processInfo.environment["POLYSTORE_TEST_OBJECTS"] ?? "4000"
    private static let kinds = ["sqlite", "lmdb", "postgresql"].filter { server != nil || $0 != "postgresql" }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-crash-\(UUID().uuidString)")

    private func url(_ kind: String) -> String {
        kind == "postgresql"
            ? (Self.server ?? "") + "&x-schema=crash_\(folder.lastPathComponent.suffix(12).lowercased())"
            : "\(kind):\(folder.path)/store.\(kind)"
    }

    private func start(_ arguments: [String], _ output: Pipe) throws -> Process {
        let process = Process()
        process.executableURL = Helper.program
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        return process
    }

    private func run(_ arguments: [String]) throws -> String {
        let output = Pipe()
        let process = try start(arguments, output)
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments[0])")
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Migrates and kills after a time; the whole time where there is none.
    private func migrate(_ url: String, by verb: String = "--migrate", killAfter seconds: Double?) throws -> Double {
        let output = Pipe()
        let process = try start([verb, url], output)
        // It begins with the first mark.
        _ = try output.fileHandleForReading.read(upToCount: 1)
        let begin = Date()
        if let seconds {
            Thread.sleep(forTimeInterval: seconds)
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        return Date().timeIntervalSince(begin)
    }

    @Test(arguments: kinds) func aKilledMigrationLeavesTheOldVersionOrTheNewOne(_ kind: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = url(kind)
        func erase() { try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase() }
        defer {
            erase()
            try? FileManager.default.removeItem(at: folder)
        }
        _ = try run(["--fill", url, Self.objects])
        #expect(try run(["--verify", url, Self.objects]) == "V1")
        let time = try migrate(url, killAfter: nil)
        #expect(try run(["--verify", url, Self.objects]) == "V2")
        var ends = ["V1": 0, "V2": 0], version = "V2"
        for _ in 0..<Self.kills {
            if version == "V2" {
                erase()
                _ = try run(["--fill", url, Self.objects])
            }
            _ = try migrate(url, killAfter: Double.random(in: 0...(time * 1.05)))
            version = try run(["--verify", url, Self.objects])
            #expect(version == "V1" || version == "V2")
            ends[version, default: 0] += 1
        }
        // Whatever the last kill left, running again ends in the new version.
        _ = try migrate(url, killAfter: nil)
        #expect(try run(["--verify", url, Self.objects]) == "V2")
        print("\(kind): \(Self.kills) kills within \(time) s, then \(ends["V1"] ?? 0) old and \(ends["V2"] ?? 0) new")
    }

    @Test(.enabled(if: server != nil)) func aKilledOnlineMigrationContinues() throws {
        let url = url("postgresql")
        defer { try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase() }
        _ = try run(["--fill-rolling", url, Self.objects])
        let time = try migrate(url, by: "--roll", killAfter: nil)
        #expect(try run(["--verify-rolling", url, Self.objects]) == "V2")
        for _ in 0..<Self.kills {
            try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase()
            _ = try run(["--fill-rolling", url, Self.objects])
            var version = "V1", kills = 0
            // Each life is killed, until one was quick enough.
            while version == "V1", kills < 20 {
                _ = try migrate(url, by: "--roll", killAfter: Double.random(in: 0...(time * 1.2)))
                kills += 1
                version = try run(["--verify-rolling", url, Self.objects])
            }
            _ = try migrate(url, by: "--roll", killAfter: nil)
            #expect(try run(["--verify-rolling", url, Self.objects]) == "V2")
        }
    }
}

/// The program that is killed: of the folder that `POLYSTORE_PROGRAMS` names, such as that of a release build, or beside the tests.
enum Helper {
    static var program: URL {
        if let folder = ProcessInfo.processInfo.environment["POLYSTORE_PROGRAMS"] {
            return URL(fileURLWithPath: folder).appendingPathComponent("polystore-crash")
        }
        let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("polystore-crash")
        if FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
        return Bundle.main.bundleURL.deletingLastPathComponent().appendingPathComponent("debug/polystore-crash")
    }
}
