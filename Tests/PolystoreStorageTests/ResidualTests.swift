import Foundation
import Testing

@testable import PolystoreStorage

/// Answers above a store that gives nothing but rows.
@Suite struct ResidualTests {
    private static let rows = 10_000, makers = 100

    private static let schema = Result {
        try Schema(
            version: "V1",
            entities: [
                Entity(
                    "Item", attributes: [Attribute("number", .int64), Attribute("note", .string)],
                    relationships: [Relationship("maker", to: "Maker", inverse: "items")]),
                Entity(
                    "Maker", attributes: [Attribute("name", .string)],
                    relationships: [Relationship("items", to: "Item", .toMany, inverse: "maker")]),
            ])
    }

    /// A session with items of 100 makers, that answers lists of keys and of makers.
    private final class Reader: StorageReader {
        let schema: Schema
        private(set) var read = 0
        /// The greatest number of primary keys of a request.
        private(set) var mostKeys = 0
        private(set) var plans: [FetchPlan] = []

        init(_ schema: Schema) { self.schema = schema }

        func pushdown(of plan: FetchPlan) -> Pushdown {
            guard plan.sort.isEmpty, plan.limit == nil, plan.offset == 0 else { return .unsupported }
            switch plan.predicate {
            case .constant(true): return .exact
            case .isIn(.path(let path), _): return path.steps.isEmpty ? .exact : .unsupported
            default: return .unsupported
            }
        }

        func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
            plans.append(plan)
            var keys = Array(1...Int64(schema[plan.entity].name == "Item" ? ResidualTests.rows : ResidualTests.makers))
            if case .isIn(.path(let path), let values) = plan.predicate {
                keys.removeAll { key in !values.contains(.int(path.leaf == .key ? key : key % Int64(ResidualTests.makers) + 1)) }
            }
            return Rows(keys, plan.entity, self)
        }

        func fill(_ key: Int64, _ entity: EntityIndex, _ batch: RowBatch) {
            let slots = schema[entity].slots, cells = batch.appendRow(key: key, version: 1, entity: entity, slots: slots.count)
            for (index, slot) in slots.enumerated() {
                switch slot.name {
                case "number": cells[index] = .int(key)
                case "maker": cells[index] = .int(key % Int64(ResidualTests.makers) + 1)
                default: cells[index] = batch.cell(for: .string("\(slot.name) \(key)"))
                }
            }
            read += 1
        }

        func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
            mostKeys = max(mostKeys, keys.count)
            for key in keys { fill(key, entity, batch) }
        }

        func links(
            _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
        ) throws(StorageError) {}

        func note(_ name: String) throws(StorageError) -> Data? { nil }
        func end() {}
    }

    private final class Rows: RowCursor {
        private var keys: ArraySlice<Int64>
        private let entity: EntityIndex
        private let reader: Reader

        init(_ keys: [Int64], _ entity: EntityIndex, _ reader: Reader) {
            self.keys = keys[...]
            self.entity = entity
            self.reader = reader
        }

        func next(into batch: RowBatch) throws(StorageError) -> Bool {
            batch.clear()
            while !batch.isFull, let key = keys.popFirst() { reader.fill(key, entity, batch) }
            return batch.count > 0
        }
    }

    private func plan(_ entity: String, _ condition: String, limit: Int? = nil) throws -> FetchPlan {
        try ObjectRequest(entity, where: QueryPredicate(parsing: condition), limit: limit).plan(in: Self.schema.get())
    }

    private func count(_ cursor: any RowCursor) throws -> Int {
        var count = 0
        let batch = RowBatch()
        while try cursor.next(into: batch) { count += batch.count }
        return count
    }

    @Test func rowsAreHandedOutAsTheyAreRead() throws {
        let reader = Reader(try Self.schema.get())
        let cursor = try ResidualReader(reader, schema: reader.schema).cursor(for: plan("Item", "number * 2 > 20"))
        #expect(reader.read == 0)
        #expect(try cursor.next(into: RowBatch()))
        #expect(reader.read <= 1024)
        let few = try ResidualReader(reader, schema: reader.schema).cursor(for: plan("Item", "number * 2 > 20", limit: 3))
        let before = reader.read
        #expect(try count(few) == 3)
        #expect(reader.read - before <= 1024)
    }

    @Test func onlyEvaluatedPropertiesAreRead() throws {
        let reader = Reader(try Self.schema.get()), item = try #require(reader.schema.index(of: "Item"))
        let number = try #require(reader.schema[item].slot("number"))
        var wanted = try plan("Item", "number * 2 > 20")
        wanted.fields = .keysOnly
        _ = try count(ResidualReader(reader, schema: reader.schema).cursor(for: wanted))
        #expect(reader.plans.last?.fields == .some(SlotMask([number])))
        let counting = QueryPlan.count(try plan("Item", "number * 2 > 20"))
        #expect(try ResidualReader(reader, schema: reader.schema).values(for: counting) == [[.int(9990)]])
        #expect(reader.plans.last?.fields == .some(SlotMask([number])))
    }

    @Test func relatedRowsAreReadForManyAtOnce() throws {
        let reader = Reader(try Self.schema.get()), maker = try #require(reader.schema.index(of: "Maker"))
        let cursor = try ResidualReader(reader, schema: reader.schema).cursor(for: plan("Maker", "ANY items.number * 2 > 19998"))
        #expect(try count(cursor) == 1)
        // One for the makers, and one for the items of all of them, without their notes.
        #expect(reader.plans.count == 2)
        let item = try #require(reader.schema.index(of: "Item")), number = try #require(reader.schema[item].slot("number"))
        #expect(reader.plans.last?.fields == .some(SlotMask([number])))
        let before = reader.plans.count
        let items = try ResidualReader(reader, schema: reader.schema).cursor(for: plan("Item", "uppercase(maker.name) == 'NAME 7'"))
        #expect(try count(items) == 100)
        #expect(reader.plans.dropFirst(before).allSatisfy { $0.entity == maker || $0.predicate == .constant(true) })
    }

    private final class Reports: @unchecked Sendable {
        // One thread adds and reads.
        var all: [ResidualWork] = []
    }

    @Test func residualReadsAreReported() throws {
        let reader = Reader(try Self.schema.get()), reports = Reports()
        let above = ResidualReader(reader, schema: reader.schema) { reports.all.append($0) }
        #expect(try count(above.cursor(for: plan("Item", "number * 2 > 19990"))) == 5)
        #expect(try above.values(for: QueryPlan.count(plan("Item", "number * 2 > 19990"))) == [[.int(5)]])
        _ = try count(above.cursor(for: plan("Item", "TRUEPREDICATE")))
        #expect(reports.all.map(\.read) == [10_000, 10_000] && reports.all.map(\.found) == [5, 5])
        #expect(reports.all.allSatisfy { $0.entity == "Item" && $0.related == 0 })
    }

    @Test func relatedRowsAreReportedToo() throws {
        let reader = Reader(try Self.schema.get()), reports = Reports()
        let above = ResidualReader(reader, schema: reader.schema) { reports.all.append($0) }
        #expect(try count(above.cursor(for: plan("Maker", "ANY items.number * 2 > 19998"))) == 1)
        #expect(try above.values(for: QueryPlan.count(plan("Maker", "ANY items.number * 2 > 19998"))) == [[.int(1)]])
        #expect(try count(above.cursor(for: plan("Item", "uppercase(maker.name) == 'NAME 7'"))) == 100)
        #expect(reports.all.map(\.read) == [100, 100, 10_000] && reports.all.map(\.found) == [1, 1, 100])
        #expect(reports.all.map(\.related) == [10_000, 10_000, 100])
    }

    @Test func rowsOfALongOrderAreReadAgain() throws {
        let reader = Reader(try Self.schema.get()), item = try #require(reader.schema.index(of: "Item"))
        let number = try #require(reader.schema[item].slot("number")), note = try #require(reader.schema[item].slot("note"))
        let order = [OrderTerm(try QueryExpression(parsing: "modulus(number, 7)"), ascending: false)]
        var request = ObjectRequest("Item", where: try QueryPredicate(parsing: "number * 2 > 20"), orderBy: order)
        let expected = (11...10_000).sorted { a, b in a % 7 == b % 7 ? a < b : a % 7 > b % 7 }
        func read() throws -> [Int] {
            let above = ResidualReader(reader, schema: reader.schema, isSnapshot: true), batch = RowBatch()
            let cursor = try above.cursor(for: request.plan(in: reader.schema))
            var numbers: [Int] = []
            while try cursor.next(into: batch) {
                for index in 0..<batch.count {
                    let row = batch.row(index)
                    numbers.append(Int(row[number].int))
                    if String(decoding: row[note].bytes, as: UTF8.self) != "note \(row.key)" { Issue.record("another row") }
                }
            }
            return numbers
        }
        #expect(try read() == expected)
        // The notes are not buffered.
        #expect(reader.plans.last?.fields == .some(SlotMask([number])))
        #expect(reader.mostKeys == 1024)
        (request.offset, request.limit) = (9_000, 5_000)
        #expect(try read() == Array(expected.dropFirst(9_000)))
        (request.offset, request.limit) = (3, 5_000)
        #expect(try read() == Array(expected.dropFirst(3).prefix(5_000)))
        #expect(reader.plans.last?.fields == .some(SlotMask([number])))
        request.limit = 100
        #expect(try read() == Array(expected.dropFirst(3).prefix(100)))
        #expect(reader.plans.last?.fields == .all)
    }
}
