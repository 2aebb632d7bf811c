import Foundation
import Polystore
import PolystoreCatalog
import RawSessions
import Testing

/// Programs that die while they read an LMDB store.
@Suite(.serialized) struct LMDBReaderTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-readers-\(UUID().uuidString)")
    private static let schema = Result { try Schema(entities: [Entity("Blob", attributes: [Attribute("bytes", .data)])]) }

    private var path: String { folder.appendingPathComponent("store.lmdb").path }

    private func withStore(_ body: (any StorageInterface) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StoreCatalog.standard.store(at: StoreURL("lmdb:\(path)?durability=relaxed"), configuration: nil)
        _ = try store.open(OpenRequest(schema: Self.schema.get()))
        defer { try? store.close() }
        try body(store)
    }

    private func write(_ value: UInt8, to store: any StorageInterface) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.setNote("bytes", Data(repeating: value, count: 1 << 18))
        _ = try writer.commit(CommitRecord())
    }

    private func size() throws -> Int { try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) }

    private func killReaders(_ reads: Int) throws {
        let process = Process(), output = Pipe()
        process.executableURL = Helper.program
        process.arguments = ["--hold-reads", "lmdb:\(path)?mode=ro", "\(reads)"]
        process.standardInput = Pipe()
        process.standardOutput = output
        try process.run()
        #expect(try output.fileHandleForReading.read(upToCount: 6) == Data("ready\n".utf8))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
    }

    @Test func aDeadReaderDoesNotLetTheFileGrow() throws {
        try withStore { store in
            for value in 0..<40 { try write(UInt8(value), to: store) }
            let before = try size()
            for round in 0..<3 {
                try killReaders(1)
                for value in 0..<100 { try write(UInt8(round * 80 + value % 80), to: store) }
            }
            // Each of the 300 commits would add a quarter of a megabyte; until it is noticed that a reader is dead, sixteen may.
            #expect(try size() < before + (20 << 20))
        }
    }

    @Test func deadReadersDoNotUseUpTheSlots() throws {
        try withStore { store in
            // All 510 slots: who finds none that is free looks for dead readers, in a new process and in one that has the file open.
            for _ in 0..<2 { try killReaders(510) }
            try store.beginRead().end()
        }
    }
}
