import Foundation
import Polystore
import PolystoreCatalog
import Testing

/// Files that were cut or damaged anywhere, read by other processes: what is wrong is found, and no process dies of it.
@Suite(.serialized) struct LMDBDamageTests {
    /// 600 for the whole proof; fewer in every run of the tests.
    private static let rounds = (Int(ProcessInfo.processInfo.environment["POLYSTORE_TEST_KILLS"] ?? "") ?? 40) * 3
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-damage-\(UUID().uuidString)")

    private func dump(_ path: String) throws -> (wasKilled: Bool, text: String) {
        let process = Process(), output = Pipe()
        process.executableURL = Helper.program
        process.arguments = ["--dump", "lmdb:\(path)"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationReason == .uncaughtSignal, text)
    }

    private func damage(_ data: Data, _ generator: inout SystemRandomNumberGenerator) -> Data {
        var data = data
        let place = Int.random(in: 0..<data.count, using: &generator), page = place / 4096 * 4096
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: data = data.prefix(place)
        case 1: data[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: data[page + Int.random(in: 0..<64, using: &generator)] = .random(in: 0...255, using: &generator)
        case 3: data.replaceSubrange(page..<(page + 4096), with: Data(count: 4096))
        case 4:
            for _ in 0..<50 { data[Int.random(in: 0..<data.count, using: &generator)] = .random(in: 0...255, using: &generator) }
        default:
            let other = Int.random(in: 0..<(data.count / 4096), using: &generator) * 4096
            data.replaceSubrange(page..<(page + 4096), with: data[other..<(other + 4096)])
        }
        return data
    }

    @Test func damageNeitherEndsTheProcessNorReturnsWrongRows() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let original = folder.appendingPathComponent("original.lmdb").path, damaged = folder.appendingPathComponent("damaged.lmdb").path
        let fill = Process()
        fill.executableURL = Helper.program
        fill.arguments = ["--fill", "lmdb:\(original)", "2000"]
        try fill.run()
        fill.waitUntilExit()
        let data = try Data(contentsOf: URL(fileURLWithPath: original)), sound = try dump(original)
        #expect(!sound.wasKilled && sound.text.count > 10_000)
        var generator = SystemRandomNumberGenerator(), found = 0
        for round in 0..<Self.rounds {
            try damage(data, &generator).write(to: URL(fileURLWithPath: damaged))
            let result = try dump(damaged)
            #expect(!result.wasKilled, "round \(round)")
            let last = result.text.split(separator: "\n").last ?? "", isRefused = last.hasPrefix("error ")
            #expect(isRefused || result.text == sound.text, "round \(round): wrong rows")
            found += isRefused ? 1 : 0
        }
        #expect(found > Self.rounds / 3)
    }
}
