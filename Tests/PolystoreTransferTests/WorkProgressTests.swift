import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import Testing

/// The reported numbers of rows while a store is compared, checked or copied.
@Suite struct WorkProgressTests {
    private let schema: Schema
    /// More than the rows between two reports of each kind of work.
    private let rows = 20_000

    init() throws {
        schema = try Schema(entities: [
            Entity("Note", attributes: [Attribute("text", .string)], relationships: [Relationship("parts", to: "Note", .toMany)])
        ])
    }

    private func store(_ count: Int) throws -> OpenStore {
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let writer = try store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        let batch = RowBatch()
        for key in 0..<Int64(count) {
            batch.appendRow(key: key + 1, version: 1, entity: 0, slots: 1).initialize(to: batch.cell(for: .string("a")))
        }
        try writer.load(0, batch)
        try writer.load(link: 0, [LinkPair(owner: 1, rank: 0, member: 2)])
        _ = try writer.commit(CommitRecord())
        return store
    }

    /// Expects rising numbers of rows with this total, the last of which is near it. Pairs have no total.
    private func expect(_ reports: [TransferProgress], total: Int, isVerifying: Bool = true) {
        #expect(reports.allSatisfy { $0.allTotal == total && $0.isVerifying == isVerifying && $0.total == ($0.name == "Note" ? total : 0) })
        #expect(reports.contains { $0.name == "Note.parts" && $0.done > 0 } || !isVerifying)
        let done = reports.filter { $0.name == "Note" }.map(\.allDone)
        #expect(done.count > 1 && done == done.sorted())
        #expect(done.last.map { $0 <= total && $0 > total - total / 4 } == true)
    }

    @Test func aComparisonCountsTheRowsOfBothStores() throws {
        let first = try store(rows), second = try store(rows / 2)
        var reports: [TransferProgress] = []
        _ = try TransferEngine().verify(first, second) { reports.append($0) }
        expect(reports, total: rows + rows / 2)
        #expect(reports.last { $0.name == "Note" }?.allDone == rows + rows / 2)
        reports = []
        var found = 0
        try TransferEngine().differences(between: first, and: second, report: { reports.append($0) }) { _ in found += 1 }
        #expect(found == rows / 2)
        #expect(reports.count > 1 && reports.allSatisfy { $0.isVerifying && $0.allTotal == rows + rows / 2 })
        #expect(reports.map(\.allDone) == reports.map(\.allDone).sorted())
        #expect(reports.last.map { $0.allDone > rows } == true)
    }

    @Test func aCheckCountsEachRowTwice() throws {
        var reports: [TransferProgress] = []
        try TransferEngine().check(store(rows), report: { reports.append($0) }) { #expect(Bool(false), "\($0)") }
        expect(reports, total: 2 * rows)
    }

    @Test func aTransferCountsTheRowsAgainWhenItVerifiesThem() throws {
        let target = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        var reports: [TransferProgress] = []
        _ = try TransferEngine().transfer(from: store(rows), to: target) { reports.append($0) }
        let start = try #require(reports.firstIndex { $0.isVerifying })
        expect(Array(reports[..<start]), total: rows, isVerifying: false)
        expect(Array(reports[start...]), total: rows)
    }
}
