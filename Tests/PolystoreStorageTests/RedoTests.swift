import Foundation
import PolystoreStorage
import Testing

@Suite struct RedoTests {
    private let schema = Result {
        try Schema(entities: [
            Entity(
                "A",
                attributes: [
                    Attribute("n", .int64, isOptional: true), Attribute("x", .double, isOptional: true),
                    Attribute("t", .string, isOptional: true), Attribute("b", .data, isOptional: true),
                ], relationships: [Relationship("others", to: "A", .toMany)])
        ])
    }

    private func values(_ row: borrowing RowView, _ schema: Schema) -> [Value] {
        schema[0].slots.enumerated().map { Value(row[$0.offset], as: $0.element.type) ?? .null }
    }

    private func redo(_ schema: Schema) throws -> Data {
        let rows: [[Value]] = [
            [.int(.min), .double(-0.1), .string("é\u{301}"), .data(Data([0, 255]))],
            [.null, .double(.infinity), .string(""), .data(Data())],
        ]
        let inserts = RowSource(count: 2) { range, batch in
            for index in range {
                let cells = batch.appendRow(key: Int64(index) + 10, version: 1, entity: 0, slots: 4)
                for slot in 0..<4 { cells[slot] = batch.cell(for: rows[index][slot]) }
            }
        }
        var mask = SlotMask()
        mask.insert(2)
        let updates = RowSource(count: 1) { _, batch in
            let cells = batch.appendRow(key: 3, version: 7, entity: 0, slots: 4)
            cells.update(repeating: .null, count: 4)
            cells[2] = batch.cell(for: .string("new"))
        }
        var recorder = Redo.Recorder(schema)
        try recorder.add(
            ChangeSet(
                entities: [
                    EntityChanges(
                        entity: 0, deletes: [RowDeletion(key: 5, expectedVersion: 4)],
                        updates: [RowUpdate(mask: mask, checksVersion: true, rows: updates)], inserts: inserts)
                ],
                links: [
                    LinkChanges(link: 0, removed: [LinkPair(owner: 1, member: 2)], added: [LinkPair(owner: 10, rank: -3, member: 11)])
                ]))
        try recorder.add(ChangeSet())
        return recorder.bytes(number: 42, author: "ann")
    }

    @Test func keptChangesAreReadBack() throws {
        let schema = try schema.get()
        let redo = try Redo(try redo(schema), schema)
        #expect(redo.number == 42 && redo.author == "ann" && redo.changes.count == 2 && redo.changes[1].isEmpty)
        let change = try #require(redo.changes[0].entities.first)
        #expect(change.deletes == [RowDeletion(key: 5, expectedVersion: 4)])
        var seen: [[Value]] = []
        try change.inserts?.forEachBatch(RowBatch(capacity: 1)) { batch in
            let row = batch.row(0)
            seen.append([.int(row.key)] + values(row, schema))
        }
        #expect(
            seen == [
                [.int(10), .int(.min), .double(-0.1), .string("é\u{301}"), .data(Data([0, 255]))],
                [.int(11), .null, .double(.infinity), .string(""), .data(Data())],
            ])
        #expect(change.updates[0].mask.slots == [2] && change.updates[0].checksVersion)
        try change.updates[0].rows.forEachBatch(RowBatch(capacity: 1)) { batch in
            let row = batch.row(0)
            #expect(row.key == 3 && row.version == 7 && values(row, schema)[2] == .string("new"))
        }
        #expect(redo.changes[0].links.first?.added == [LinkPair(owner: 10, rank: -3, member: 11)])
        #expect(redo.changes[0].links.first?.removed == [LinkPair(owner: 1, member: 2)])
    }

    /// The bytes of the first format, by hand: versions are not in it, so that nothing is compared.
    @Test func keptChangesInTheFirstFormatAreRead() throws {
        let schema = try schema.get(), hash = Array(schema.hash.description.utf8)
        func number(_ value: Int64) -> [UInt8] { [UInt8(value << 1)] }
        let head: [UInt8] = [1, UInt8(hash.count)] + hash + [3] + Array("ann".utf8) + [42]
        // One change set of one entity: two rows are deleted, no row is changed or added, no links.
        let set: [UInt8] = [1, 0, 2] + number(5) + number(6) + [0, 0] + [0]
        let redo = try Redo(Data(head + [1] + set), schema)
        #expect(redo.number == 42 && redo.author == "ann")
        #expect(redo.changes.first?.entities.first?.deletes == [RowDeletion(key: 5), RowDeletion(key: 6)])
    }

    @Test func damageAndAnotherSchemaAreErrors() throws {
        let schema = try schema.get(), bytes = try redo(schema)
        for count in 0..<bytes.count {
            let error = #expect(throws: StorageError.self) { try Redo(bytes.prefix(count), schema) }
            #expect(error?.code == .corrupted || error?.code == .schemaMismatch)
        }
        // Whatever a bit does, it ends in a value or an error, never in the process.
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x81
            _ = try? Redo(damaged, schema)
        }
        let other = try Schema(entities: [Entity("B")])
        let error = #expect(throws: StorageError.self) { try Redo(bytes, other) }
        #expect(error?.code == .schemaMismatch)
    }
}
