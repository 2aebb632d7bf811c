import Foundation
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystoreLMDB

/// The file of a store among other files, programs and names.
@Suite struct LMDBFileTests {
    private static let schema = Result { try Schema(entities: [Entity("Blob", attributes: [Attribute("bytes", .data)])]) }
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString)").path

    private var path: String { folder + "/store.lmdb" }

    private func inFolder(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body()
    }

    private func open(_ path: String? = nil, _ options: String = "") throws -> LMDBStore {
        let store = try LMDBStore(url: StoreURL("lmdb:\(path ?? self.path)\(options)"))
        _ = try store.open(OpenRequest(schema: Self.schema.get()))
        return store
    }

    private func note(_ bytes: Data?, in store: LMDBStore, _ options: WriteOptions = WriteOptions()) throws {
        let writer = try store.beginWrite(options)
        defer { writer.end() }
        try writer.setNote("note", bytes)
        _ = try writer.commit(CommitRecord())
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? { #expect(throws: StorageError.self, performing: body)?.code }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func everyNameOfAFileLeadsToOneLock() throws {
        try inFolder {
            let store = try open(), link = folder + "/link.lmdb", hard = folder + "/hard.lmdb"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            try FileManager.default.linkItem(atPath: path, toPath: hard)
            #expect(code { _ = try open(link) } == .alreadyExists)
            #expect(code { _ = try open(hard) } == .alreadyExists)
            try store.close()
            try open(link).close()
            #expect(!FileManager.default.fileExists(atPath: link + "-lock"))
        }
    }

    @Test func aLinkToAFileThatIsStillToBeMadeMakesIt() throws {
        try inFolder {
            let link = folder + "/link.lmdb"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "store.lmdb")
            try open(link).close()
            #expect(FileManager.default.fileExists(atPath: path) && FileManager.default.fileExists(atPath: path + "-lock"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 3)
        }
    }

    @Test func onlyTheOwnerMayReadTheFiles() throws {
        try inFolder {
            let store = try open(), copy = folder + "/copy.lmdb"
            try store.backup(to: URL(fileURLWithPath: copy))
            try store.close()
            for file in [path, path + "-lock", copy] { #expect(try permissions(file) == 0o600) }
        }
    }

    @Test func anEmptyFileIsGivenContents() throws {
        try inFolder {
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try open().close()
            try open().close()
        }
    }

    @Test func aFileThatIsDeletedOrReplacedIsNoticed() throws {
        try inFolder {
            let store = try open()
            try note(Data([1]), in: store)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
            #expect(code { try note(Data([2]), in: store) } == .notFound)
            #expect(code { try store.beginRead().end() } == .notFound)
            try FileManager.default.copyItem(atPath: path + ".moved", toPath: path)
            #expect(code { try note(Data([2]), in: store) } == .notFound)
            try store.close()
            try open().close()
        }
    }

    @Test func eraseReportsWhatItCannotRemove() throws {
        try inFolder {
            let store = try open()
            try store.close()
            try FileManager.default.removeItem(atPath: path + "-lock")
            try FileManager.default.createDirectory(atPath: path + "-lock/inside", withIntermediateDirectories: true)
            #expect(throws: StorageError.self) { try store.erase() }
        }
    }

    /// Another descriptor locks as another process does.
    @Test func theWaitForAnotherProcessEnds() throws {
        try inFolder {
            let store = try open()
            defer { try? store.close() }
            let other = FileHandle(forReadingAtPath: path)
            #expect(flock(try #require(other).fileDescriptor, LOCK_EX) == 0)
            #expect(code { try note(nil, in: store, WriteOptions(timeout: 0.05)) } == .busy)
            #expect(code { try note(nil, in: store, WriteOptions(timeout: 600, limit: WorkLimit(timeout: .milliseconds(50)))) } == .timeout)
            let limit = WorkLimit()
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { limit.cancel() }
            #expect(code { try note(nil, in: store, WriteOptions(timeout: 600, limit: limit)) } == .cancelled)
            // Readers do not wait.
            try store.beginRead().end()
            try other?.close()
            try note(Data([1]), in: store)
        }
    }

    /// Pages that one transaction takes and gives back are never written: the file ends before its last page.
    @Test func aFileShorterThanItsPagesIsSound() throws {
        try inFolder {
            let store = try open()
            let writer = try store.beginWrite(WriteOptions())
            try writer.setNote("large", Data(count: 4 << 20))
            try writer.setNote("large", nil)
            try writer.setNote("note", Data([7]))
            _ = try writer.commit(CommitRecord())
            try store.close()
            let again = try open(nil, "?check=full")
            defer { try? again.close() }
            let reader = try again.beginRead()
            defer { reader.end() }
            #expect(try reader.note("note") == Data([7]))
        }
    }

    @Test func aCutFileIsRefused() throws {
        try inFolder {
            let store = try open()
            for size in [100_000, 300_000, 1] { try note(Data(count: size), in: store) }
            let batch = RowBatch(), writer = try store.beginWrite(WriteOptions())
            for key in 1...2_000 {
                batch.appendRow(key: Int64(key), version: 1, entity: 0, slots: 1)[0] = batch.cell(for: .data(Data(count: 500)))
            }
            try writer.load(0, batch)
            _ = try writer.commit(CommitRecord())
            try store.close()
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            for part in [0.97, 0.9, 0.5, 0.1, 0.03, 0.0005] {
                let cut = folder + "/cut.lmdb"
                try whole.prefix(Int(Double(whole.count) * part)).write(to: URL(fileURLWithPath: cut))
                let code = code { _ = try open(cut) }
                #expect(code == .corrupted || code == .notADatabase, "\(part)")
            }
        }
    }

    @Test func aTokenOfACommitThatIsNotThereIsAnswered() throws {
        try inFolder {
            let store = try LMDBStore(url: StoreURL("lmdb:\(path)?durability=relaxed"))
            let id = try store.open(OpenRequest(schema: Self.schema.get())).storeID
            defer { try? store.close() }
            for number in 0..<70 { try note(Data([UInt8(number)]), in: store) }
            func outcome(_ number: Int64, _ id: UUID) throws -> CommitOutcome {
                try store.outcome(of: CommitToken(storeID: id, value: "\(number).\(UUID().uuidString)"))
            }
            #expect(try outcome(60, id) == .notCommitted)
            #expect(try outcome(1_000, id) == .notCommitted)
            #expect(try outcome(5, id) == .unknown)
            #expect(code { _ = try outcome(60, UUID()) } == .notFound)
        }
    }
}
