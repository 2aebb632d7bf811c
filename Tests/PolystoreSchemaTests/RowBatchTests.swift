import PolystoreSchema
import Testing

#if canImport(Glibc)
import Glibc
#endif

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

    #if canImport(Glibc)
    @Test func aBatchForOneRowTakesMemoryForOneRow() {
        func used() -> Int {
            let info = mallinfo2()
            return Int(info.uordblks + info.hblkhd)
        }
        let before = used()
        var batches: [RowBatch] = []
        for number in 0..<4_000 {
            let batch = RowBatch(capacity: 1)
            let cells = batch.appendRow(key: Int64(number), version: 1, entity: 0, slots: 8)
            cells.update(repeating: batch.cell(for: .string("a text of more than fifteen bytes")), count: 8)
            batches.append(batch)
        }
        // With other tests beside it; a page of 64 KiB for each would be 262 MB.
        #expect(used() - before < 64 << 20)
        #expect(batches.count == 4_000)
    }
    #endif
}
