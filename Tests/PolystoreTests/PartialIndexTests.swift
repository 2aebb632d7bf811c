import Polystore
import TestStores
import Testing

/// Partial indexes: answers are the same with and without them, and the engines that keep them use them by themselves.
@Suite struct PartialIndexTests {
    private static func entity(_ indexes: [Index]) -> Entity {
        Entity(
            "Task",
            attributes: [
                Attribute("age", .int32), Attribute("isActive", .bool), Attribute("state", .string),
                Attribute("closed", .int64, isOptional: true),
            ], indexes: indexes)
    }

    private static let conditions = [
        "isActive == true", "state != 'it\\'s done\\\\'", "closed == nil OR closed > 990", "age <= -5", "age != 3",
    ]

    private func opened(_ store: TestStore, _ indexes: [Index]) throws -> (any StorageInterface, Schema) {
        let schema = try Schema(entities: [Self.entity(indexes)])
        let storage = store.make()
        _ = try storage.open(OpenRequest(schema: schema))
        let writer = try storage.beginWrite(WriteOptions())
        defer { writer.end() }
        let batch = RowBatch(capacity: 2000)
        for number in 1...2000 {
            let rest = number % 100
            let values: [Value] = [
                .int(Int64(number % 50 - 10)), .bool(rest == 7), .string(rest == 8 ? "open" : "it's done\\"),
                rest == 9 ? .null : .int(Int64(number % 1000)),
            ]
            let cells = batch.appendRow(key: Int64(number), version: 1, entity: 0, slots: values.count)
            for (slot, value) in values.enumerated() { cells[slot] = batch.cell(for: value) }
        }
        try writer.load(0, batch)
        _ = try writer.commit(CommitRecord())
        return (storage, schema)
    }

    private func keys(_ storage: any StorageInterface, _ plan: FetchPlan) throws -> [Int64] {
        let reader = try storage.beginRead()
        defer { reader.end() }
        let cursor = try reader.cursor(for: plan), batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) { keys += (0..<batch.count).map(batch.key) }
        return keys
    }

    private func plan(_ text: String, _ schema: Schema) throws -> FetchPlan {
        try FetchRequest("Task", where: Predicate(parsing: text)).plan(in: schema)
    }

    @Test(arguments: TestStore.all) func answersAreThoseOfAStoreWithoutIndexes(_ store: TestStore) throws {
        let (partial, schema) = try opened(store, Self.conditions.map { Index(["age"], where: $0) })
        let (plain, _) = try opened(store, [])
        let more = ["age > 20", "age == 12", "isActive == false", "closed > 990", "state == 'open'", "age <= -4"]
        for condition in Self.conditions + more {
            for other in [condition, "\(condition) AND age > 10", "(\(condition)) AND age == 22", "NOT (\(condition)) AND age < 0"] {
                let plan = try plan(other, schema)
                #expect(try keys(partial, plan) == keys(plain, plan), "\(other)")
            }
        }
        try partial.erase()
        try plain.erase()
    }

    @Test(arguments: TestStore.all.filter { [.sqlite, .postgresql].contains($0) })
    func theEngineUsesThePartialIndexForTheSameTerms(_ store: TestStore) throws {
        for condition in Self.conditions.dropLast(2) {
            let (storage, schema) = try opened(store, [Index(["age"], where: condition)])
            let reader = try storage.beginRead()
            let used = try reader.explanation(of: plan("(\(condition)) AND age == 12", schema)).joined(separator: "\n")
            #expect(used.contains("Task.index.age where") || used.contains("Task.index.age wh"), "\(condition): \(used)")
            let other = try reader.explanation(of: plan("age == 12", schema)).joined(separator: "\n")
            #expect(!other.contains("Task.index.age"), "\(condition): \(other)")
            reader.end()
            try storage.erase()
        }
    }
}
