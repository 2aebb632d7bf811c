import Foundation
import Testing

/// The script of commits of the helper with each call of the system failing in turn: whatever fails, the store holds what was acknowledged,
/// nothing of what was reported as failed, and is whole; and the program goes on.
struct FailingScript {
    let kind: String
    let failure: FailingCalls.Failure
    var commits = 6
    var writers = 1
    /// The kinds of calls that fail; nil for all that can.
    var kinds: Set<FailingCalls.Kind>?
    /// Behind the path of the URL.
    var options = ""
    /// The failing commits that one failing call may cause.
    var mostFailures = 1

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-failing-\(UUID().uuidString)")

    init(_ kind: String, _ failure: FailingCalls.Failure) {
        self.kind = kind
        self.failure = failure
    }

    private var url: String { "\(kind):\(folder.path)/store.\(kind)\(options)" }

    /// Runs the script once for each call that can fail so.
    func check() throws {
        let calls = FailingCalls(path: folder.lastPathComponent, kinds: kinds ?? failure.kinds)
        let sound = try inFolder { try calls.run(["--script", url, "\(commits)", "\(writers)"]) }
        #expect(sound.lines.sorted() == (["open done", "read done"] + (1...commits).map { "\($0) done" }).sorted())
        #expect(!sound.calls.isEmpty)
        for number in 1...max(sound.calls.count, 1) {
            try inFolder {
                let run = try calls.run(["--script", url, "\(commits)", "\(writers)"], failing: number, failure)
                let name = "call \(number) of \(sound.calls.count) (\(sound.calls[number - 1]), \(failure)): \(run.lines)"
                #expect(run.status == 0 && !run.wasKilled, "\(name)")
                try check(run.lines, name)
            }
        }
    }

    /// Runs the script on a file system of some size.
    func checkDisk(of kilobytes: Int) throws {
        var script = self
        script.commits = 40
        try inFolder {
            #expect(FullDiskTests.run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "none", folder.path]).status == 0)
            defer { _ = FullDiskTests.run("/bin/umount", [folder.path]) }
            let run = try FailingCalls(path: "no such path").run(["--script", url, "\(script.commits)"])
            #expect(run.status == 0 && !run.wasKilled, "\(run.lines)")
            #expect(run.lines.contains { $0.hasSuffix(" diskFull") }, "\(run.lines)")
            #expect(FullDiskTests.run("/bin/mount", ["-o", "remount,size=64m", folder.path]).status == 0)
            try script.check(run.lines, "\(kilobytes) kB: \(run.lines)")
        }
    }

    private func inFolder<R>(_ body: () throws -> R) throws -> R {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body()
    }

    /// Compares what the script said with what another process finds.
    private func check(_ lines: [String], _ name: String) throws {
        var acknowledged: Set<Int> = [], unknown: [Int: String] = [:], failures = 0
        for line in lines {
            // What the device did says nothing of the file.
            #expect(!["notFound", "notADatabase", "corrupted", "permissionDenied"].contains { line.hasSuffix(" \($0)") }, "\(name)")
            let words = line.split(separator: " ").map(String.init)
            guard let number = Int(words[0]) else { continue }
            switch words[1] {
            case "done": acknowledged.insert(number)
            case "commitOutcomeUnknown": unknown[number] = words.count > 2 ? words[2] : ""
            default: failures += 1
            }
        }
        let found = try FailingCalls(path: "no such path").run(["--script-verify", url, "\(writers)"])
        #expect(found.status == 0 && !found.wasKilled && found.lines.count <= 1, "\(name), then \(found.lines)")
        let numbers = (found.lines.first ?? "").split(separator: " ").map { Int($0) }, there = Set(numbers.compactMap { $0 })
        #expect(numbers.count == there.count, "\(name), then \(found.lines)")
        #expect(acknowledged.isSubset(of: there), "\(name): acknowledged and lost: \(acknowledged.subtracting(there).sorted())")
        let surplus = there.subtracting(acknowledged).subtracting(unknown.keys)
        #expect(surplus.isEmpty, "\(name): reported as failed and there: \(surplus.sorted())")
        for (number, token) in unknown {
            let outcome = try FailingCalls(path: "no such path").run(["--script-outcome", url, token]).lines
            #expect(outcome == [there.contains(number) ? "committed" : "notCommitted"], "\(name)")
        }
        if !failure.isLasting { #expect(failures + unknown.count <= mostFailures, "\(name): the program could not go on") }
    }
}
