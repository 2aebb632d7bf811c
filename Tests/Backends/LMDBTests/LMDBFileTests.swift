import Foundation
import PolystoreKeyValue
import PolystoreStorage
import RawSessions
import Synchronization
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

    @Test(arguments: ["~/polystore-tilde.lmdb", "~polystore-tilde.lmdb"]) func aTildeIsNotExpanded(_ path: String) throws {
        for usesFolder in [false, true] {
            let store = LMDBStore(path: path, usesFolder: usesFolder)
            let error = #expect(throws: StorageError.self) { _ = try store.open(OpenRequest(schema: Self.schema.get())) }
            #expect(error?.code == .invalidConfiguration && error?.message.contains("expanded by a shell") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: NSHomeDirectory() + "/polystore-tilde.lmdb"))
    }

    @Test func allNamesOfAFileShareOneLock() throws {
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

    /// The data file of a folder is known by the folder and by its own name.
    @Test func aFolderAndTheFileInItUseOneLock() throws {
        try inFolder {
            let place = folder + "/place"
            try open(place, "?subdir=1").close()
            let inside = try open(place + "/data.mdb")
            #expect(code { _ = try open(place, "?subdir=1") } == .alreadyExists)
            try note(Data([1]), in: inside)
            try inside.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == ["data.mdb", "lock.mdb"])
            // And a folder whose file lies elsewhere.
            let other = folder + "/other"
            try open().close()
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: other + "/data.mdb", withDestinationPath: path)
            try open(other, "?subdir=1").close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["data.mdb"])
        }
    }

    /// A program that locks by another name of the file commits, and ours does not know its number.
    @Test func aWriterUnderAnotherLockIsDetectedBeforeAnythingIsWritten() throws {
        try inFolder {
            let store = try open(), hard = folder + "/hard.lmdb"
            defer { try? store.close() }
            try note(Data([1]), in: store)
            try FileManager.default.linkItem(atPath: path, toPath: hard)
            #expect(try run("/usr/bin/mdb_load", ["-n", "-s", "foreign", "-T", hard], input: "one\n1\ntwo\n2\n") == 0)
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(code { try note(Data([2]), in: store) } == .busy)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            try store.close()
            let again = try open()
            defer { try? again.close() }
            try note(Data([3]), in: again)
        }
    }

    @Test(arguments: [["-n", "-T"], ["-n", "-s", "theirs", "-T"]])
    func anEnvironmentOfAnotherProgramIsNotChanged(_ options: [String]) throws {
        try inFolder {
            #expect(try run("/usr/bin/mdb_load", options + [path], input: "one\n1\ntwo\n2\n") == 0)
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(code { _ = try open() } == .notADatabase)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    private func run(_ program: String, _ arguments: [String], input: String = "") throws -> Int32 {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = pipe
        try process.run()
        pipe.fileHandleForWriting.write(Data(input.utf8))
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The lock file of the old file would be that of the new one, too.
    @Test func aFileInThePlaceOfOneThatIsStillReadIsRefused() throws {
        try inFolder {
            let store = try open()
            try note(Data([1]), in: store)
            let reader = try store.beginRead()
            try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
            try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
            try FileManager.default.moveItem(atPath: path + ".copy", toPath: path)
            #expect(code { _ = try open() } == .alreadyExists)
            #expect(try reader.note("note") == Data([1]))
            reader.end()
            try store.close()
            let again = try open()
            defer { try? again.close() }
            try note(Data([2]), in: again)
        }
    }

    @Test func filesOfACreatorThatDiedAreRemoved() throws {
        try inFolder {
            let left = path + ".new-\(UUID().uuidString)", used = path + ".new-\(UUID().uuidString)", other = path + ".new-year"
            for file in [left, used, other] { #expect(FileManager.default.createFile(atPath: file, contents: Data([1]))) }
            let maker = try #require(FileHandle(forReadingAtPath: used))
            #expect(flock(maker.fileDescriptor, LOCK_EX) == 0)
            try open().close()
            func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
            #expect(!exists(left) && exists(used) && exists(other))
            // It died after it had given the file its name.
            try FileManager.default.linkItem(atPath: path, toPath: left)
            try open().close()
            #expect(!exists(left) && exists(used) && exists(other) && exists(path))
            try maker.close()
        }
    }

    @Test func anEmptyFileThatManyOpenIsInitialisedOnce() throws {
        try inFolder {
            for _ in 0..<20 {
                #expect(FileManager.default.createFile(atPath: path, contents: nil))
                let location = LMDBLocation(path, usesFolder: false), failures = Mutex(0)
                DispatchQueue.concurrentPerform(iterations: 8) { _ in
                    do {
                        _ = try location.prepare(OrderedOpen(create: true, readOnly: false, mapCount: 8), firstMap: 1 << 26)
                    } catch { failures.withLock { $0 += 1 } }
                }
                #expect(failures.withLock { $0 } == 0)
                try FileManager.default.removeItem(atPath: path)
            }
        }
    }

    @Test func aLinkToAMissingFileCreatesIt() throws {
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

    @Test func anEmptyFileIsInitialised() throws {
        try inFolder {
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try open().close()
            try open().close()
        }
    }

    @Test func aDeletedOrReplacedFileIsDetected() throws {
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

    @Test func erasingReportsFilesThatItCannotRemove() throws {
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
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { try? store.close() }
            let start = ContinuousClock.now
            #expect(code { try note(nil, in: store, WriteOptions(timeout: 20)) } == .storeClosed)
            #expect(start.duration(to: .now) < .seconds(10))
            try other?.close()
            let again = try open()
            defer { try? again.close() }
            try note(Data([1]), in: again)
        }
    }

    @Test func aClosedStoreIsOpenedAgainBesideWritersThatWaitForAnotherProcess() throws {
        try inFolder {
            let store = try open()
            defer { try? store.close() }
            let other = try #require(FileHandle(forReadingAtPath: path)), codes = Mutex<[StorageError.Code?]>([])
            #expect(flock(other.fileDescriptor, LOCK_EX) == 0)
            for _ in 0..<10 {
                let begins = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    begins.signal()
                    do throws(StorageError) { try store.beginWrite(WriteOptions(timeout: 1)).end() } catch {
                        codes.withLock { $0.append(error.code) }
                    }
                    ended.signal()
                }
                begins.wait()
                Thread.sleep(forTimeInterval: 0.02)
                try store.close()
                _ = try store.open(OpenRequest(schema: Self.schema.get()))
                ended.wait()
            }
            // One that began late waits in the store that was opened again.
            #expect(codes.withLock { $0.count } == 10 && codes.withLock { Set($0).isSubset(of: [.storeClosed, .busy]) })
            try other.close()
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
            // It is not walked through again: it has its full size now.
            let file = try LMDBFile(LMDBLocation(path, usesFolder: false), isReadOnly: true), meta = try LMDBMeta.pair(file).newest
            #expect(try file.size() >= (meta.lastPage + 1) * meta.pageSize)
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

    /// The number of maps is fixed when the file is opened, so a migration opens it again.
    @Test func openingAgainForMoreMapsDisturbsNoReader() throws {
        try inFolder {
            let engine = LMDBEngine(
                path, usesFolder: false, LMDBSettings(mapSize: 1 << 26, firstMap: 1 << 26, durability: .relaxed, check: .automatic))
            _ = try engine.open(OrderedOpen(create: true, readOnly: false, mapCount: 8))
            let number = try #require(try engine.prepare(maps: ["a", "b"])["b"]), key: [UInt8] = [1]
            let writer = try engine.write(WriteOptions())
            try key.withUnsafeBytes { key in try writer.put(number, key, key) }
            try writer.commit()
            let isOver = Atomic(false), found = Mutex((right: 0, wrong: 0)), errors = Mutex<[any Error]>([])
            DispatchQueue.concurrentPerform(iterations: 3) { thread in
                do {
                    if thread == 0 {
                        defer { isOver.store(true, ordering: .releasing) }
                        for count in 0..<200 {
                            do { try engine.reopen(mapCount: count) } catch let error as StorageError where error.code == .busy {}
                        }
                    }
                    // At least once, also where the first thread is done before the others begin.
                    repeat {
                        let reader = try engine.read(ReadOptions())
                        defer { reader.end() }
                        let value = try key.withUnsafeBytes { key in try reader.get(number, key).map(Array.init) }
                        found.withLock { if value == key { $0.right += 1 } else { $0.wrong += 1 } }
                    } while !isOver.load(ordering: .acquiring)
                } catch { errors.withLock { $0.append(error) } }
            }
            #expect(errors.withLock { $0 }.isEmpty)
            #expect(found.withLock { $0.right > 0 && $0.wrong == 0 })
            engine.close()
        }
    }

    @Test func theTokenOfAMissingCommitIsNotCommitted() throws {
        try inFolder {
            let store = try LMDBStore(url: StoreURL("lmdb:\(path)?durability=relaxed"))
            let id = try store.open(OpenRequest(schema: Self.schema.get())).storeID
            defer { try? store.close() }
            for number in 0..<70 { try note(Data([UInt8(number)]), in: store) }
            func outcome(_ number: Int64, _ id: UUID) throws -> CommitOutcome {
                try store.outcome(of: CommitToken(storeID: id, value: "\(number).\(UUID().uuidString)"))
            }
            let file = try LMDBFile(LMDBLocation(path, usesFolder: false), isReadOnly: true), before = try LMDBMeta.pair(file).newest
            #expect(try outcome(60, id) == .notCommitted)
            // A commit was built upon what the answer rests on.
            #expect(try LMDBMeta.pair(file).newest.transaction == before.transaction + 1)
            #expect(try outcome(1_000, id) == .notCommitted)
            #expect(try outcome(5, id) == .unknown)
            #expect(code { _ = try outcome(60, UUID()) } == .notFound)
        }
    }
}
