import CSQLite
import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Synchronization
import Testing

@testable import PolystoreSQLite

/// Checksums of the pages of a SQLite file.
@Suite struct SQLiteChecksumTests {
    private static let option = "?checksums=on", pageSize = 8192, random = UInt64(20_261_123)

    // MARK: Files

    /// A row as a reader gets it.
    private struct Row: Equatable {
        let key: Int64
        let version: Int64
        let values: [Value?]
    }

    private func open(_ path: String, _ options: String = "") throws -> any StorageInterface {
        let store = try StoreCatalog.standard.store(at: StoreURL("sqlite:\(path)\(options)"), configuration: nil)
        _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        return store
    }

    private func rows(_ store: any StorageInterface) throws -> [Row] {
        let reader = try store.beginRead(), cursor = try reader.cursor(for: FetchPlan(entity: 0, entities: [0])), batch = RowBatch()
        defer { reader.end() }
        var rows: [Row] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                rows.append(
                    Row(key: row.key, version: row.version, values: [Value(row[0], as: .int64), Value(row[1], as: .data)]))
            }
        }
        return rows
    }

    private func rows(at path: String) throws -> [Row] {
        let store = try open(path)
        defer { try? store.close() }
        return try rows(store)
    }

    /// Inserts items, each tenth with a value of several pages.
    private func fill(_ store: any StorageInterface, _ numbers: Range<Int64>, isCommitted: Bool = true) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        for number in numbers {
            let text = [UInt8](String(repeating: "\(number) ", count: number % 10 == 0 ? 5_000 : 20).utf8)
            try text.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                try writer.apply(SQLiteFile.inserting([[.int(number), .blob(start, bytes.count)]], from: number + 1))
            }
        }
        if isCommitted { _ = try writer.commit(CommitRecord()) }
    }

    /// A closed file of 300 items.
    private func filled(_ options: String) throws -> SQLiteFile {
        let file = try SQLiteFile(options)
        try fill(file.store, 0..<300)
        try file.store.close()
        return file
    }

    private func data(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func write(_ data: [UInt8], _ path: String) throws {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try Data(data).write(to: URL(fileURLWithPath: path))
    }

    /// The pages that a table or index takes, counted from 0.
    private func pages(_ file: SQLiteFile, of name: String) throws -> [Int] {
        try file.sql("SELECT pageno - 1 FROM dbstat WHERE name = '\(name)'").split(separator: "\n").compactMap { Int($0) }
    }

    // MARK: The format

    /// Computed as https://sqlite.org/cksumvfs.html has it: pairs of 32-bit words, least significant byte first.
    private func fits(_ page: ArraySlice<UInt8>) -> Bool {
        func word(_ index: Int) -> UInt64 { (0..<4).reduce(0) { $0 | UInt64(page[page.startIndex + index * 4 + $1]) << (8 * UInt64($1)) } }
        var first: UInt64 = 0, second: UInt64 = 0
        for index in stride(from: 0, to: page.count / 4 - 2, by: 2) {
            first = (first + word(index) + second) % (1 << 32)
            second = (second + word(index + 1) + first) % (1 << 32)
        }
        return word(page.count / 4 - 2) == first && word(page.count / 4 - 1) == second
    }

    private func expectChecksums(_ path: String, pages least: Int = 1) throws {
        let data = try data(path)
        #expect(data.count >= least * Self.pageSize && data.count % Self.pageSize == 0)
        #expect(data[20] == 8)
        for start in stride(from: 0, to: data.count, by: Self.pageSize) {
            #expect(fits(data[start..<start + Self.pageSize]), "page \(start / Self.pageSize + 1)")
        }
    }

    @Test func everyPageEndsWithItsChecksum() throws {
        let file = try SQLiteFile(Self.option)
        try fill(file.store, 0..<300)
        try file.store.close()
        try expectChecksums(file.path, pages: 60)
        // Without the option the file keeps them.
        let store = try open(file.path)
        try fill(store, 300..<400)
        let writer = try store.beginWrite(WriteOptions())
        _ = try writer.execute("DELETE FROM Item WHERE number % 3 = 0")
        _ = try writer.commit(CommitRecord())
        try (store as? SQLiteStore)?.compact()
        try store.close()
        try expectChecksums(file.path, pages: 50)
        #expect(try rows(at: file.path).count == 266)
        #expect(try file.sql("PRAGMA integrity_check") == "ok")
    }

    // MARK: Damage

    /// The control: without checksums the same damage is read as values.
    @Test(arguments: [true, false]) func damagedRowsAreNeverReadAsOthers(_ hasChecksums: Bool) throws {
        let file = try filled(hasChecksums ? Self.option : ""), sound = try rows(at: file.path), data = try data(file.path)
        let pages = try pages(file, of: "Item"), copy = file.path + ".damaged"
        #expect(sound.count == 300 && pages.count > 50)
        var generator = Generator(state: Self.random), refused = 0, wrong = 0
        for round in 0..<240 {
            var damaged = data
            let page = pages[Int.random(in: 0..<pages.count, using: &generator)]
            damaged[page * Self.pageSize + Int.random(in: 0..<Self.pageSize, using: &generator)] ^= .random(in: 1...255, using: &generator)
            try write(damaged, copy)
            do {
                if try rows(at: copy) != sound { wrong += 1 }
            } catch let error as StorageError {
                #expect(error.code == .corrupted, "round \(round)")
                refused += 1
            }
        }
        #expect(hasChecksums ? refused == 240 : wrong > 100, "\(refused) refused, \(wrong) wrong")
    }

    /// Where the header says that there are no checksums, a damaged page would not be noticed.
    @Test func aDamagedHeaderDoesNotTurnChecksumsOff() throws {
        let file = try filled(Self.option), data = try data(file.path), copy = file.path + ".damaged"
        for offset in 0..<100 {
            var damaged = data
            damaged[offset] ^= offset == 20 ? 8 : 1
            try write(damaged, copy)
            let code = code { _ = try rows(at: copy) }
            #expect(code == .corrupted || code == .notADatabase && offset < 24, "byte \(offset): \(code.map { "\($0)" } ?? "read")")
        }
    }

    @Test func readingADamagedPageIsAnError() throws {
        let file = try filled(Self.option), data = try data(file.path), pages = try pages(file, of: "Item")
        let history = try #require(try self.pages(file, of: "polystore_history").last)
        var damaged = data
        // The first leaf: new rows go to the last one.
        let leaf = try #require(pages.first { data[$0 * Self.pageSize] == 13 })
        damaged[leaf * Self.pageSize + Self.pageSize / 2] ^= 1
        try write(damaged, file.path)
        #expect(code { _ = try open(file.path, "?check=on") } == .corrupted)
        let store = try #require(try open(file.path) as? SQLiteStore)
        defer { try? store.close() }
        #expect(throws: StorageError.self) { try rows(store) }
        do { _ = try rows(store) } catch let error as StorageError {
            #expect(error.code == .corrupted && error.message.contains("checksum") && error.message.contains("restore"))
        }
        #expect(code { try store.check() } == .corrupted)
        #expect(code { try store.backup(to: URL(fileURLWithPath: file.path + ".copy")) } == .corrupted)
        #expect(code { try store.compact() } == .corrupted)
        #expect(!FileManager.default.fileExists(atPath: file.path + ".copy"))
        // What needs no damaged page goes on.
        try fill(store, 300..<310)
        let reader = try store.beginRead()
        #expect(try reader.history(since: nil, limit: 10).count == 2)
        reader.end()
        try store.close()

        damaged = data
        damaged[history * Self.pageSize + Self.pageSize / 2] ^= 1
        try write(damaged, file.path)
        _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        let other = try store.beginRead()
        defer { other.end() }
        #expect(code { _ = try other.history(since: nil, limit: 10) } == .corrupted)
        #expect(try rows(store).count == 300)
    }

    /// Some versions of the engine read the pages of large values past their cache, without the reserved bytes.
    @Test func partsOfDamagedPagesAreNotRead() throws {
        let file = try filled(Self.option), page = 40
        var data = try data(file.path)
        data[page * Self.pageSize + 100] ^= 1
        try write(data, file.path)
        let connection = try SQLiteConnection(path: file.path, readOnly: true, create: false, checksums: .kept)
        var pointer: UnsafeMutablePointer<sqlite3_file>?, bytes = [UInt8](repeating: 0, count: Self.pageSize)
        #expect(sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK)
        let opened = try #require(pointer), read = try #require(opened.pointee.pMethods.pointee.xRead)
        for count in [8, 8184, 8192] as [Int32] {
            #expect(read(opened, &bytes, count, Int64(page * Self.pageSize)) == SQLiteChecksums.mismatch)
            #expect(read(opened, &bytes, count, Int64((page + 1) * Self.pageSize)) == SQLITE_OK)
        }
    }

    // MARK: Logs, transactions, copies

    /// The files are what a process that was killed leaves: nothing was copied from the log.
    @Test func aLogIsRecovered() throws {
        let file = try SQLiteFile(Self.option), copy = file.path + ".copy"
        try fill(file.store, 0..<50)
        try fill(file.store, 50..<100)
        try fill(file.store, 100..<150, isCommitted: false)
        let expected = try rows(file.store)
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: file.path + suffix, toPath: copy + suffix) }
        #expect(try data(file.path).count < 10 * Self.pageSize)
        #expect(expected.count == 100)
        #expect(try rows(at: copy) == expected)
        try expectChecksums(copy, pages: 15)
        #expect(try rows(at: copy) == expected)
    }

    /// With hardly any cache pages are written in the middle of the transaction.
    @Test func aTransactionThatIsRolledBackLeavesTheFileSound() throws {
        let file = try SQLiteFile(Self.option + "&cache=16")
        try fill(file.store, 0..<100)
        let expected = try rows(file.store)
        try fill(file.store, 100..<300, isCommitted: false)
        #expect(try rows(file.store) == expected)
        try fill(file.store, 300..<400)
        try file.store.close()
        try expectChecksums(file.path, pages: 40)
        #expect(try rows(at: file.path).count == 200)
    }

    /// The copy is larger than the cache, so that pages are written before the header.
    @Test func copiesKeepChecksums() throws {
        let file = try SQLiteFile(Self.option), copy = file.path + ".copy"
        try fill(file.store, 0..<2000)
        try (file.store as? SQLiteStore)?.backup(to: URL(fileURLWithPath: copy))
        try expectChecksums(copy, pages: 400)
        #expect(try rows(at: copy) == rows(file.store))
    }

    @Test func concurrentCreatorsOfAFileAgree() throws {
        let file = try SQLiteFile()
        for number in 0..<20 {
            let path = "\(file.path).\(number)", schema = try SQLiteFile.schema.get(), codes = Mutex<[StorageError.Code]>([])
            let stores = try (0..<4).map { index in
                try StoreCatalog.standard.store(at: StoreURL("sqlite:\(path)\(index % 2 == 0 ? Self.option : "")"), configuration: nil)
            }
            DispatchQueue.concurrentPerform(iterations: stores.count) { index in
                do { _ = try stores[index].open(OpenRequest(schema: schema)) } catch let error as StorageError {
                    codes.withLock { $0.append(error.code) }
                } catch {}
            }
            let hasChecksums = codes.withLock { $0.isEmpty }
            #expect(hasChecksums || codes.withLock { $0 } == [.invalidConfiguration, .invalidConfiguration])
            for (index, store) in stores.enumerated() where hasChecksums || index % 2 == 1 {
                try fill(store, Int64(index * 100)..<Int64(index * 100 + 50))
            }
            #expect(try rows(stores[1]).count == (hasChecksums ? 200 : 100))
            for store in stores { try store.close() }
            if hasChecksums { try expectChecksums(path) } else { #expect(try data(path)[20] == 0) }
            #expect(try file.sql("PRAGMA integrity_check", of: path) == "ok")
        }
    }

    // MARK: Refusals

    @Test func aFileWithoutChecksumsIsRefused() throws {
        let file = try filled(""), before = try data(file.path)
        for options in [Self.option, Self.option + "&mode=ro"] {
            do {
                _ = try open(file.path, options)
                Issue.record("opened")
            } catch let error as StorageError {
                #expect(error.code == .invalidConfiguration && error.message.contains("transfer its data to a new file"))
            }
        }
        #expect(try data(file.path) == before)
        #expect(try rows(at: file.path).count == 300)
    }

    @Test func filesOfOtherProgramsGetNone() throws {
        let file = try filled(Self.option), other = file.path + ".other"
        #expect(try file.sql("CREATE TABLE T(id INTEGER PRIMARY KEY, x INT); INSERT INTO T VALUES(1, 2)", of: other) == "")
        for catalog in ["foreign", "inplace"] {
            #expect(code { _ = try open(other, "\(Self.option)&catalog=\(catalog)") } == .invalidConfiguration)
        }
        // To write there without the checksums would damage a file that has them.
        #expect(code { _ = try open(file.path, "?catalog=inplace") } == .unsupported)
        try expectChecksums(file.path)
    }
}

/// Numbers that follow from a first one: SplitMix64.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
