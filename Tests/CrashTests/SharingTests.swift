import Foundation
import Polystore
import PolystoreCatalog
import Testing

/// Programs of several versions of a model share a store: after one has led it to the next version the older ones are refused, and however
/// many lead it at once, it goes there once.
@Suite(.serialized) struct SharingTests {
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    private static let kinds = ["sqlite", "lmdb", "postgresql"].filter { server != nil || $0 != "postgresql" }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-sharing-\(UUID().uuidString)")

    /// Works with a place for a store.
    private func withPlace(_ kind: String, _ body: (String) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url =
            kind == "postgresql"
            ? (Self.server ?? "") + "&x-schema=sharing_\(folder.lastPathComponent.suffix(12).lowercased())"
            : "\(kind):\(folder.path)/store.\(kind)"
        defer {
            try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase()
            try? FileManager.default.removeItem(at: folder)
        }
        try body(url)
    }

    private func run(_ arguments: String...) throws -> [String] { try HelperProcess(arguments).rest() }

    @Test(arguments: kinds) func anOlderProgramIsRefusedFromTheSwitchOn(_ kind: String) throws {
        try withPlace(kind) { url in
            let old = try HelperProcess(["--write", url])
            #expect(old.lines(2) == ["open: done", "ready"])
            old.say("2")
            #expect(old.lines(2) == ["write: done", "read: done"])
            let new = try HelperProcess(["--upgrade", url])
            #expect(new.lines(1) == ["ready"])
            new.say("go")
            #expect(try new.rest() == ["upgrade: done", "open: done", "count: 2", "read: done"])
            let refusal =
                "schemaMismatch another process migrated the store from version \"V1\" of the model to \"V3\"; open it again with that "
                + "version"
            for number in 3...4 {
                old.say("\(number)")
                #expect(old.lines(2) == ["write: \(refusal)", "read: \(refusal)"])
            }
            old.endInput()
            #expect(try old.rest() == [])
            // What it began anew would be is refused at once.
            let again = try run("--write", url)
            #expect(again.count == 1)
            #expect(again[0].hasPrefix("open: schemaMismatch the store has version \"V3\" of the model, but the program has \"V1\": "))
            #expect(try run("--notes", url) == ["V1>V2>V3: 1 2"])
        }
    }

    @Test(arguments: kinds) func programsThatMigrateAtOnceDoItOnce(_ kind: String) throws {
        for _ in 0..<3 {
            try withPlace(kind) { url in
                #expect(try run("--fill-notes", url, "3000") == [])
                let programs = try (0..<4).map { _ in try HelperProcess(["--upgrade", url]) }
                for program in programs { #expect(program.lines(1) == ["ready"]) }
                for program in programs { program.say("go") }
                for program in programs {
                    let lines = try program.rest()
                    #expect(lines == ["upgrade: done", "open: done", "count: 3000", "read: done"])
                }
                #expect(try run("--notes", url) == ["V1>V2>V3: \((1...3000).map(String.init).joined(separator: " "))"])
            }
        }
    }
}

/// A helper with which a test talks line by line.
final class HelperProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = Helper.program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func say(_ line: String) { input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    /// Tells the helper that no more lines come.
    func endInput() { try? input.fileHandleForWriting.close() }

    /// The next lines that it says; fewer where it ended, or says nothing for a minute.
    func lines(_ count: Int) -> [String] {
        var lines: [String] = [], line: [UInt8] = []
        while lines.count < count {
            var ready = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 60_000) > 0, let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first else { break }
            if byte != UInt8(ascii: "\n") {
                line.append(byte)
            } else {
                lines.append(String(decoding: line, as: UTF8.self))
                line = []
            }
        }
        return lines
    }

    /// Whether it says something in the next seconds.
    func saysSomething(within seconds: Int32) -> Bool {
        var ready = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, seconds * 1000) > 0
    }

    /// All lines until it ends, which it does without an error.
    func rest() throws -> [String] {
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.split(separator: "\n").map(String.init)
    }
}
