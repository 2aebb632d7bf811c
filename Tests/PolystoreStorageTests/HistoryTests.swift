import Foundation
import PolystoreStorage
import Testing

@Suite struct HistoryTests {
    private func decoded(_ bytes: [UInt8]) -> HistoryChanges? { bytes.withUnsafeBytes(HistoryRecorder.decode) }

    @Test func recordedChangesAreReadInOrder() throws {
        var recorder = HistoryRecorder()
        var mask = SlotMask()
        mask.insert(3)
        mask.insert(70)
        for key in [5, 6, 7, 1] as [Int64] { recorder.insert(2, key) }
        recorder.update(0, 6, mask)
        recorder.delete(2, 9)
        recorder.links(4, owner: 1, .max)
        let changes = try #require(decoded(recorder.encode()))
        let expected = [
            HistoryChange(entity: 2, key: 5, kind: .insert), HistoryChange(entity: 2, key: 6, kind: .insert),
            HistoryChange(entity: 2, key: 7, kind: .insert), HistoryChange(entity: 2, key: 1, kind: .insert),
            HistoryChange(entity: 0, key: 6, kind: .update(mask)), HistoryChange(entity: 2, key: 9, kind: .delete),
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
            // Deletions with what is kept of them: more than there are bytes, a value of an unknown kind, a text that is cut off.
            [5, 0, 2, 0xff, 0xff, 0x03, 0], [5, 0, 2, 1, 1, 0, 99], [5, 0, 2, 1, 1, 0, 6, 4, 65], [5, 0, 2, 1],
            // A run that goes past the last key: first 2^63 - 1, two keys.
            [1, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 2],
            // An entity and a link table whose number is 2^64 - 1.
            [1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 2, 1],
            [4, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 2, 1],
        ] as [[UInt8]]) func damageIsSeen(_ bytes: [UInt8])
    { #expect(decoded(bytes) == nil) }

    private static let model = Result {
        try Schema(entities: [
            Entity("Item", attributes: [Attribute("number", .int64)], relationships: [Relationship("tags", to: "Tag", .toMany)]),
            Entity("Tag", attributes: [Attribute("name", .string)]),
        ])
    }

    @Test(
        arguments: [[1, 1, 2, 1], [2, 0, 1, 0, 2, 1], [4, 0, 0, 2, 1], [5, 1, 2, 1, 1, 0, 0], [1, 0, 2, 0x80, 0x80, 0x20]] as [[UInt8]])
    func changesOfItemsOfTheModelAreRead(_ bytes: [UInt8]) throws {
        try #require(decoded(bytes)).check(Self.model.get())
    }

    // An entity, a link table, and slots: of an update, beyond the first word, and of what is kept of a deleted object.
    @Test(
        arguments: [[1, 2, 2, 1], [4, 0, 9, 2, 1], [2, 0, 0x40, 0, 2, 1], [2, 0, 0, 1, 1, 2, 1], [5, 0, 2, 1, 1, 9, 0]] as [[UInt8]])
    func changesOfItemsOutsideOfTheModelAreCorrupted(_ bytes: [UInt8]) throws {
        let changes = try #require(decoded(bytes)), model = try Self.model.get()
        let error = #expect(throws: StorageError.self) { try changes.check(model) }
        #expect(error?.code == .corrupted)
    }

    @Test func aHistoryDoesNotBeginAfterTheLastPosition() throws {
        let error = #expect(throws: StorageError.self) { _ = try HistoryFloor(note: Data("9223372036854775807".utf8)) }
        #expect(error?.code == .corrupted)
        #expect(try HistoryFloor(note: Data("9223372036854775806 off".utf8)) == HistoryFloor(.max - 1, isUnrecorded: true))
    }

    @Test func recordingCanReturnToAMark() {
        var recorder = HistoryRecorder()
        recorder.insert(0, 1)
        let mark = recorder.mark()
        recorder.insert(0, 2)
        recorder.delete(0, 9)
        recorder.rewind(to: mark)
        #expect(decoded(recorder.encode()).map(Array.init) == [HistoryChange(entity: 0, key: 1, kind: .insert)])
    }

    // MARK: One change for each object

    private static func mask(_ slots: Int...) -> SlotMask {
        var mask = SlotMask()
        for slot in slots { mask.insert(slot) }
        return mask
    }

    private func changes(_ body: (inout HistoryRecorder) -> Void, _ rules: HistoryRules? = nil) -> [HistoryChange] {
        var recorder = HistoryRecorder(rules)
        body(&recorder)
        return decoded(recorder.encode()).map(Array.init) ?? []
    }

    @Test func changesOfOneObjectBecomeOne() {
        let found = changes { recorder in
            for key in 1...6 as ClosedRange<Int64> { recorder.update(0, key, Self.mask(0)) }
            for key in 4...9 as ClosedRange<Int64> { recorder.update(0, key, Self.mask(1)) }
            recorder.delete(0, 5)
        }
        #expect(
            found
                == (1...3).map { HistoryChange(entity: 0, key: $0, kind: .update(Self.mask(0))) } + [
                    HistoryChange(entity: 0, key: 4, kind: .update(Self.mask(0, 1))), HistoryChange(entity: 0, key: 5, kind: .delete),
                    HistoryChange(entity: 0, key: 6, kind: .update(Self.mask(0, 1))),
                ] + (7...9).map { HistoryChange(entity: 0, key: $0, kind: .update(Self.mask(1))) })
    }

    @Test func anObjectThatIsAddedAndDeletedLeavesNoChangesOfItsPairs() {
        let found = changes { recorder in
            for key in 1...4 as ClosedRange<Int64> { recorder.insert(0, key) }
            for key in 1...4 as ClosedRange<Int64> { recorder.links(0, owner: 0, key) }
            recorder.delete(0, 2)
            recorder.delete(0, 3)
            // Another entity has the same keys.
            recorder.delete(1, 1)
        }
        #expect(
            found == [
                HistoryChange(entity: 0, key: 1, kind: .insert), HistoryChange(entity: 0, key: 4, kind: .insert),
                HistoryChange(entity: 0, key: 1, kind: .links(0)), HistoryChange(entity: 0, key: 4, kind: .links(0)),
                HistoryChange(entity: 1, key: 1, kind: .delete),
            ])
        #expect(
            changes {
                $0.insert(0, 1); $0.delete(0, 1)
            }.isEmpty)
    }

    @Test func theGreatestKeyIsRecorded() {
        let found = changes { recorder in
            recorder.update(0, .max, Self.mask(0))
            recorder.update(0, .max - 1, Self.mask(0))
            recorder.update(0, .max, Self.mask(1))
            recorder.update(0, .min, Self.mask(1))
        }
        #expect(
            Set(found) == [
                HistoryChange(entity: 0, key: .max - 1, kind: .update(Self.mask(0))),
                HistoryChange(entity: 0, key: .max, kind: .update(Self.mask(0, 1))),
                HistoryChange(entity: 0, key: .min, kind: .update(Self.mask(1))),
            ])
        #expect(found.count == 3)
    }

    @Test func runsThatDoNotOverlapAreWrittenAsTheyCame() {
        var bytes: [[UInt8]] = []
        for keys in [[1, 2, 3, 9, 8, 7], [9, 8, 7, 1, 2, 3]] as [[Int64]] {
            var recorder = HistoryRecorder()
            for key in keys { recorder.insert(0, key) }
            bytes.append(recorder.encode())
        }
        // Insert, entity 0, distance, count.
        #expect(bytes[0] == [1, 0, 2, 3, 1, 0, 10, 1, 1, 0, 3, 1, 1, 0, 3, 1])
        #expect(bytes[1] == [1, 0, 18, 1, 1, 0, 3, 1, 1, 0, 3, 1, 1, 0, 13, 3])
    }

    // MARK: What the model says

    private static let rules = Result {
        HistoryRules(
            try Schema(entities: [
                Entity(
                    "Note",
                    attributes: [
                        Attribute("a", .int64), Attribute("b", .string, history: .preserved), Attribute("c", .data, history: .excluded),
                    ])
            ]))
    }

    private func row(_ key: Int64, _ text: String, in batch: RowBatch) {
        let cell = batch.cell(for: .string(text)), cells = batch.appendRow(key: key, version: 1, entity: 0, slots: 3)
        (cells[0], cells[1], cells[2]) = (.int(5), cell, .null)
    }

    @Test func deletionsKeepPreservedValues() throws {
        let batch = RowBatch(capacity: 4)
        for (key, text) in [(1, "one"), (2, "two"), (3, ""), (7, "seven")] as [(Int64, String)] { row(key, text, in: batch) }
        let rules = try Self.rules.get()
        let found = changes(
            { recorder in
                for index in 0..<batch.count { recorder.remember(batch.row(index)) }
                for key in [1, 2, 3, 7] as [Int64] { recorder.delete(0, key) }
                let mark = recorder.mark()
                recorder.remember(batch.row(0))
                recorder.delete(0, 8)
                recorder.rewind(to: mark)
                // Cut out of the run.
                recorder.insert(0, 2)
            }, rules)
        #expect(
            found == [
                HistoryChange(entity: 0, key: 1, kind: .delete, tombstone: [1: .string("one")]),
                HistoryChange(entity: 0, key: 2, kind: .update(Self.mask(0, 1))),
                HistoryChange(entity: 0, key: 3, kind: .delete, tombstone: [1: .string("")]),
                HistoryChange(entity: 0, key: 7, kind: .delete, tombstone: [1: .string("seven")]),
            ])
    }

    @Test func excludedAttributesAreInNoMask() throws {
        let found = changes(
            {
                $0.update(0, 1, Self.mask(0, 2)); $0.update(0, 9, Self.mask(2))
            }, try Self.rules.get())
        #expect(
            found == [
                HistoryChange(entity: 0, key: 1, kind: .update(Self.mask(0))),
                HistoryChange(entity: 0, key: 9, kind: .update(SlotMask())),
            ])
    }

    @Test func nothingIsRecordedWhereTheHistoryIsOff() throws {
        var rules = try Self.rules.get()
        rules.isOn = false
        var recorder = HistoryRecorder(rules)
        let mark = recorder.mark()
        recorder.insert(0, 1)
        #expect(recorder.isEmpty && recorder.hasChanges && recorder.encode().isEmpty)
        recorder.rewind(to: mark)
        #expect(!recorder.hasChanges)
    }
}
