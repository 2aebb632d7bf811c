import Foundation
import PolystoreStorage
import Testing

@testable import PolystorePostgreSQL

/// What a connection keeps prepared, and how much goes in one statement.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLStatementTests {
    @Test func aPipelineKeepsTheStatementsThatItNames() throws {
        let connection = try TestStore.admin()
        func step(_ number: Int) -> PostgreSQLStep { PostgreSQLStep("SELECT \(number)::int8") }
        func run(_ numbers: [Int]) throws {
            #expect(try connection.pipeline(numbers.map(step)).map { $0.integer(0, 0) } == numbers.map(Int64.init))
        }
        for start in stride(from: 0, to: 200, by: 10) { try run(Array(start..<(start + 10))) }
        // The oldest beside many that are new.
        for round in 0..<20 { try run([0, 1, 2, 3] + (0..<40).map { 1000 + 40 * round + $0 } + [0, 1, 2, 3]) }
        // More than are kept.
        try run(Array(5000..<5300))
        try run(Array(5000..<5300))
        let kept = try connection.text("SELECT count(*) FROM pg_prepared_statements")
        #expect((Int(kept ?? "") ?? .max) <= 300)
    }

    @Test func frequentStatementsStayPrepared() throws {
        let connection = try TestStore.admin()
        for number in 0..<1000 {
            _ = try connection.query("SELECT 'often'", [])
            _ = try connection.query("SELECT \(number)", [])
        }
        #expect(try connection.text("SELECT name FROM pg_prepared_statements WHERE statement = 'SELECT ''often'''") == "s1")
    }

    @Test(arguments: [17, 33]) func objectsOfAnySizeAreCommittedTogether(_ count: Int) throws {
        let test = try TestStore()
        defer { test.erase() }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 20, alignment: 16)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 7)
        let keys = (1...count).map(Int64.init), rows = test.rows(keys, "large", UnsafeRawBufferPointer(bytes))
        let writer = try test.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: rows)]))
        _ = try writer.commit(CommitRecord())
        let sizes = "SELECT count(*) || ' ' || sum(octet_length(data)) FROM \"\(test.name)\".\"Note\""
        #expect(try TestStore.admin().text(sizes) == "\(count) \(count << 26)")
    }

    @Test func manyUpdatesOfSomeSizeAreSeveralStatements() throws {
        let test = try TestStore()
        defer { test.erase() }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 7)
        let keys = (1...18_000).map(Int64.init)
        let writer = try test.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: test.rows(keys, "small"))]))
        var mask = SlotMask()
        mask.insert(1)
        let update = RowUpdate(mask: mask, checksVersion: true, rows: test.rows(keys, "", UnsafeRawBufferPointer(bytes)))
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, updates: [update])]))
        _ = try writer.commit(CommitRecord())
        let sizes = "SELECT min(octet_length(data)) || ' ' || min(_version) FROM \"\(test.name)\".\"Note\""
        #expect(try TestStore.admin().text(sizes) == "65536 2")
    }

    @Test func anObjectThatNoMessageHoldsIsTooLarge() throws {
        let test = try TestStore()
        defer { test.erase() }
        // The bytes are never read: their number is enough.
        let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 4096), count: 1_000_000_001)
        let writer = try test.store.beginWrite(WriteOptions())
        defer { writer.end() }
        let error = #expect(throws: StorageError.self) {
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: test.rows([1], "huge", bytes))]))
        }
        #expect(error?.code == .valueTooLarge)
    }

    @Test func noKeyIsLeftAboveTheGreatest() throws {
        let test = try TestStore()
        defer { test.erase() }
        let writer = try test.store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        let batch = RowBatch()
        let cells = batch.appendRow(key: .max, version: 1, entity: 0, slots: 2)
        cells[0] = batch.cell(for: .string("last"))
        cells[1] = .null
        try writer.load(0, batch)
        let error = #expect(throws: StorageError.self) { _ = try writer.commit(CommitRecord()) }
        #expect(error?.code == .limitExceeded)
    }

    /// The last keys of the sequence are fewer than a program takes at once; then there are none.
    @Test func atTheEndOfTheSequenceNoKeyIsGiven() throws {
        let test = try TestStore()
        defer { test.erase() }
        let sequence = try test.store.opened().sequence(0)
        try TestStore.admin().execute("SELECT setval('\"\(test.name)\".\(sequence)', \(Int64.max - 5), false)")
        for _ in 0..<2 {
            let writer = try test.store.beginWrite(WriteOptions())
            defer { writer.end() }
            let error = #expect(throws: StorageError.self) { _ = try writer.reserveKeys(0, count: 1) }
            #expect(error?.code == .limitExceeded)
        }
    }

    /// The expected bytes are the server's own.
    @Test func numbersHaveTheBytesOfTheServer() throws {
        let connection = try TestStore.admin()
        var random = SystemRandomNumberGenerator()
        var texts = ["0", "1", "-1", "10000", "9999", "99990000", "0.0001", "0.00012", "12.5", "-12.345678", "1e127", "9.9e-100", "1e-128"]
        texts.append(String(repeating: "9", count: 38))
        for _ in 0..<400 {
            let digits = (0..<Int.random(in: 1...37, using: &random)).map { _ in "\(Int.random(in: 0...9, using: &random))" }.joined()
            texts.append("\(Bool.random(using: &random) ? "-" : "")1\(digits)e\(Int.random(in: -90...80, using: &random))")
        }
        for text in texts {
            let number = try #require(Decimal(string: text))
            let sent = try #require(try connection.text("SELECT encode(numeric_send(trim_scale('\(text)')), 'hex')"))
            let words = stride(from: 0, to: sent.utf8.count, by: 4).compactMap { UInt16(sent.dropFirst($0).prefix(4), radix: 16) }
            let parts = try #require(DecimalKey.withBytes(of: number) { DecimalKey.parts($0) })
            #expect(PostgreSQLNumeric.words(parts) == words, "\(text)")
            let read = words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }.withUnsafeBytes { PostgreSQLNumeric.decode($0) }
            #expect(read == number, "\(text)")
        }
    }

    @Test func numbersThatNoServerWritesAreRefused() {
        func number(_ words: [UInt16]) -> Decimal? {
            let bytes = words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
            return bytes.withUnsafeBytes { PostgreSQLNumeric.decode($0) }
        }
        #expect(number([1, 0, 0, 0, 9999]) == 9999)
        #expect(number([1, 0, 0x4000, 0, 42]) == -42)
        #expect(number([1, 0, 0, 0, 10_000]) == nil)
        #expect(number([1, 0, 0, 0, 65_535]) == nil)
        #expect(number([2, 0, 0, 0, 1]) == nil)
        #expect(number([0, 0, 0xc000, 0])?.isNaN == true)
        #expect(number([0, 0, 0, 0]) == 0)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...8, using: &random)
            _ = number([UInt16(count)] + (0..<(3 + count)).map { _ in UInt16.random(in: 0...(.max), using: &random) })
            _ = number((0..<count).map { _ in UInt16.random(in: 0...20, using: &random) })
        }
    }
}
