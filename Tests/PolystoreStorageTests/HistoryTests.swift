import PolystoreStorage
import Testing

@Suite struct HistoryTests {
    private func decoded(_ bytes: [UInt8]) -> HistoryChanges? { bytes.withUnsafeBytes(HistoryRecorder.decode) }

    @Test func whatIsRecordedComesBackInOrder() throws {
        var recorder = HistoryRecorder()
        var mask = SlotMask()
        mask.insert(3)
        mask.insert(70)
        for key in [5, 6, 7, 1] as [Int64] { recorder.insert(2, key) }
        recorder.update(0, 6, mask)
        recorder.delete(2, 5)
        recorder.links(4, owner: 1, .max)
        let changes = try #require(decoded(recorder.encode()))
        let expected = [
            HistoryChange(entity: 2, key: 5, kind: .insert), HistoryChange(entity: 2, key: 6, kind: .insert),
            HistoryChange(entity: 2, key: 7, kind: .insert), HistoryChange(entity: 2, key: 1, kind: .insert),
            HistoryChange(entity: 0, key: 6, kind: .update(mask)), HistoryChange(entity: 2, key: 5, kind: .delete),
            HistoryChange(entity: 1, key: .max, kind: .links(4)),
        ]
        #expect(Array(changes) == expected)
        #expect(changes.indices.map { changes[$0] } == expected)
        #expect(changes == HistoryChanges(expected))
        #expect(changes.reversed().first == expected.last)
    }

    @Test func aLongRunStaysSmall() throws {
        // Inserts of 2^40 keys from 1 on: insert, entity 0, first 1 (zigzag), count.
        let bytes: [UInt8] = [1, 0, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20]
        let changes = try #require(decoded(bytes))
        #expect(changes.count == 1 << 40)
        #expect(changes[1 << 39].key == 1 << 39 + 1)
        #expect(changes.last?.key == 1 << 40)
    }

    @Test(
        arguments: [
            [1], [9, 0, 2, 1], [1, 0, 2, 0], [1, 0, 2], [2, 0, 1, 0xff, 0xff, 0xff, 0x7f, 2, 1],
            // A run that goes past the last key: first 2^63 - 1, two keys.
            [1, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 2],
        ] as [[UInt8]]) func damageIsSeen(_ bytes: [UInt8])
    { #expect(decoded(bytes) == nil) }

    @Test func aMarkCanBeReturnedTo() {
        var recorder = HistoryRecorder()
        recorder.insert(0, 1)
        let mark = recorder.mark()
        recorder.insert(0, 2)
        recorder.delete(0, 9)
        recorder.rewind(to: mark)
        #expect(decoded(recorder.encode()).map(Array.init) == [HistoryChange(entity: 0, key: 1, kind: .insert)])
    }
}
