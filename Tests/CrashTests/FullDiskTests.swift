import Foundation
import Testing

/// A file system that fills while a store is migrated or takes a large transaction: the store has what was acknowledged, and goes on when there
/// is room.
@Suite(.serialized) struct FullDiskTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-full-\(UUID().uuidString)")

    /// A small file system needs the power to mount one.
    static let canMount: Bool = {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-mount-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        guard getuid() == 0, (try? FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)) != nil else {
            return false
        }
        defer { _ = run("/bin/umount", [place.path]) }
        return run("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "none", place.path]).status == 0
    }()

    static func run(_ tool: String, _ arguments: [String]) -> (status: Int32, output: String) {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        guard (try? process.run()) != nil else { return (-1, "") }
        let data = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func helper(_ arguments: String...) -> (status: Int32, output: String) { Self.run(Helper.program.path, arguments) }

    @Test(.enabled(if: canMount), arguments: ["sqlite", "lmdb"]) func aFullDiskLeavesTheOldVersion(_ kind: String) throws {
        let manager = FileManager.default, objects = "12000"
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? manager.removeItem(at: folder) }
        let original = folder.appendingPathComponent("original.\(kind)")
        #expect(helper("--fill", "\(kind):\(original.path)", objects).status == 0)
        let size = try #require(manager.attributesOfItem(atPath: original.path)[.size] as? Int)
        let small = folder.appendingPathComponent("small")
        try manager.createDirectory(at: small, withIntermediateDirectories: true)
        #expect(Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(size / 1024 * 5 / 4)k", "none", small.path]).status == 0)
        defer { _ = Self.run("/bin/umount", [small.path]) }
        let store = small.appendingPathComponent("store.\(kind)"), url = "\(kind):\(store.path)"
        try manager.copyItem(at: original, to: store)
        let failed = helper("--migrate", url)
        #expect(failed.status != 0 && failed.output.contains("diskFull"), "\(failed.output)")
        #expect(helper("--verify", url, objects).output == "V1")
        #expect(Self.run("/bin/mount", ["-o", "remount,size=64m", small.path]).status == 0)
        #expect(helper("--migrate", url).status == 0)
        #expect(helper("--verify", url, objects).output == "V2")
    }

    /// The rows of each commit and the number of entries in the history, by another program.
    private func found(_ path: String) -> [String] {
        let sql = "SELECT part, count(*) FROM Item GROUP BY part; SELECT count(*) FROM polystore_history; PRAGMA integrity_check"
        return Self.run("/usr/bin/sqlite3", [path, sql]).output.split(separator: "\n").map(String.init)
    }

    /// The second commit, of 100,000 objects of a kilobyte, fails at its end; with little cache it fails while its statements run.
    @Test(.enabled(if: canMount), arguments: ["", "?cache=2000"])
    func aTransactionLargerThanTheDiskLeavesNothing(_ options: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=80m", "none", folder.path]).status == 0)
        defer { _ = Self.run("/bin/umount", [folder.path]) }
        let path = folder.appendingPathComponent("store.db").path
        let said = helper("--bulky", "sqlite:\(path)\(options)", "5000", "100000", "10").output
        #expect(said == "0 done\n1 diskFull\n2 done")
        #expect(found(path) == ["0|5000", "2|10", "2", "ok"])
    }

    /// Beyond a limit of the size of files a write fails as on a disk that is broken. One that failed at COMMIT may have been made.
    @Test(arguments: [("", "commitOutcomeUnknown"), ("?cache=2000", "inputOutput")])
    func aTransactionLargerThanAFileMayBeLeavesNothing(_ options: String, _ error: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("store.db").path
        let script = "ulimit -f 60000; trap '' XFSZ; exec \"$0\" --bulky \"$1\" 5000 100000 10"
        let said = Self.run("/bin/bash", ["-c", script, Helper.program.path, "sqlite:\(path)\(options)"]).output
        #expect(said == "0 done\n1 \(error)\n2 done")
        #expect(found(path) == ["0|5000", "2|10", "2", "ok"])
    }
}
