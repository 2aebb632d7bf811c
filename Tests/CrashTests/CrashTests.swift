import Foundation
import Polystore
import PolystoreCatalog
import Testing

/// A process that commits over two stores is killed again and again; no commit is ever half there.
@Suite(.serialized) struct CrashTests {
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    /// 200 for the whole proof; fewer in every run of the tests.
    private static let kills = Int(ProcessInfo.processInfo.environment["POLYSTORE_TEST_KILLS"] ?? "") ?? 12
    private static let pairs = [
        ("sqlite", "lmdb"), ("lmdb", "sqlite"), ("sqlite", "sqlite"), ("lmdb", "lmdb"), ("sqlite", "postgresql"),
        ("sqlite?checksums=on", "sqlite"),
        ("postgresql", "lmdb"), ("postgresql", "postgresql"),
    ]
    .filter { server != nil || ($0.0 != "postgresql" && $0.1 != "postgresql") }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-crash-\(UUID().uuidString)")
    private let schema = Result {
        try Schema(
            entities: [Entity("Left", attributes: [Attribute("x", .int64)]), Entity("Right", attributes: [Attribute("x", .int64)])],
            configurations: ["Left": ["Left"], "Right": ["Right"]])
    }

    private func url(_ kind: String, _ name: String) -> String {
        if kind == "postgresql" {
            return (Self.server ?? "") + "&x-schema=crash_\(folder.lastPathComponent.suffix(12).lowercased())_\(name)"
        }
        let scheme = kind.prefix { $0 != "?" }
        return "\(scheme):\(folder.path)/\(name).\(scheme)\(kind.dropFirst(scheme.count))"
    }

    private func commitAndKill(_ urls: [String]) throws {
        let process = Process(), output = Pipe()
        process.executableURL = Helper.program
        process.arguments = urls
        process.standardOutput = output
        try process.run()
        // It works from the first mark on; the moment of the kill is chance.
        _ = try output.fileHandleForReading.read(upToCount: 1)
        Thread.sleep(forTimeInterval: Double.random(in: 0...0.03))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
    }

    @Test(arguments: pairs) func commitsAreAtomicAcrossCrashes(_ left: String, _ right: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let urls = [url(left, "left"), url(right, "right")]
        defer {
            for url in urls { try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase() }
            try? FileManager.default.removeItem(at: folder)
        }
        var last = 0
        for round in 0..<Self.kills {
            try commitAndKill(urls)
            let stack = try DataStack(schema: try schema.get())
            for (url, name) in zip(urls, ["Left", "Right"]) {
                try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: name))
            }
            // Somebody writes to one of the two right after the kill.
            try stack.perform(synchronous: { transaction in
                try transaction.create(Into<DynamicObject>(entity: round % 2 == 0 ? "Left" : "Right")).setValue(.int(-1), for: "x")
            })
            try stack.perform(synchronous: { transaction in
                for object in try transaction.fetchAll(From<DynamicObject>(entity: round % 2 == 0 ? "Left" : "Right"))
                where try object.value("x") == .int(-1) { try transaction.delete(object) }
            })
            let numbers = try ["Left", "Right"].map { entity in
                try stack.fetchAll(From<DynamicObject>(entity: entity).orderBy(.ascending("x"))).map { try $0.value("x") }
            }
            #expect(numbers[0] == numbers[1])
            #expect(numbers[0] == (1...max(numbers[0].count, 1)).map { .int(Int64($0)) })
            #expect(numbers[0].count > last)
            last = numbers[0].count
            for store in stack.storages { try stack.removeStorage(store) }
        }
    }
}
