import Foundation
import PolystoreSchema
import Testing

@Suite struct RowBatchTests {
    @Test func bytesStayWhereTheyAreWhileChunksGrow() {
        let batch = RowBatch(capacity: 1)
        for _ in 0..<3 {
            let texts = (0..<2_000).map { String(repeating: "\($0) ", count: 1 + $0 % 40) } + [String(repeating: "x", count: 200_000)]
            let cells = texts.map { batch.cell(for: .string($0)) }
            for (cell, text) in zip(cells, texts) { #expect(String(decoding: cell.bytes, as: UTF8.self) == text) }
            batch.clear()
        }
    }

    #if os(Linux)
    @Test func aBatchForOneRowTakesMemoryForOneRow() throws {
        /// The bytes of memory that the process has asked for.
        func used() throws -> Int {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first.flatMap { Int($0) }
            return try #require(pages) * 4096
        }
        let before = try used()
        var batches: [RowBatch] = []
        for number in 0..<4_000 {
            let batch = RowBatch(capacity: 1)
            let cells = batch.appendRow(key: Int64(number), version: 1, entity: 0, slots: 8)
            cells.update(repeating: batch.cell(for: .string("a text of more than fifteen bytes")), count: 8)
            batches.append(batch)
        }
        // With other tests beside it; a page of 64 KiB for each would be 262 MB.
        #expect(try used() - before < 128 << 20)
        #expect(batches.count == 4_000)
    }
    #endif
}
