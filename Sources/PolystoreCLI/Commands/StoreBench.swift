internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// A small benchmark of a store.
struct StoreBench {
    let objects: Int
    let batch: Int

    /// The time of one step.
    struct Step {
        let name: String
        let operations: Int
        let seconds: Double

        var secondsText: String { String(format: "%.4f", seconds) }
        /// The number of operations per second.
        var rate: Int { Int(min(Double(operations) / max(seconds, 1e-6), 1e15)) }
    }

    private static let entity = "Item"
    /// The number of single queries.
    private static let mostQueries = 1000

    /// Returns the schema of the objects.
    private static func schema() throws(StorageError) -> Schema {
        let text = """
            {"entities": [{"name": "Item", "attributes": [{"name": "number", "type": "int64"}, {"name": "name", "type": "string"}, \
            {"name": "weight", "type": "double"}], "indexes": [["number"]]}]}
            """
        do throws(SchemaError) { return try Schema(json: text) } catch { throw StorageError(error) }
    }

    /// Runs all steps in a new store, which is empty afterwards.
    func run(at place: ScratchPlace) throws -> [Step] {
        let opened = try Stores.create(place.text, try Self.schema())
        defer { opened.abandon() }
        let stack = try DataStack(schema: opened.schema)
        stack.add(opened.store)
        defer { try? opened.store.erase() }
        return [
            try measure("insert", objects) { try inBatches { try insert($0, stack) } },
            try measure("fetch", objects) { _ = try stack.fetchAll(From<DynamicObject>(entity: Self.entity)) },
            try measure("query", min(objects, Self.mostQueries)) { try query(stack) },
            try measure("update", objects) { try inBatches { try update($0, stack) } },
            try measure("delete", objects) { try inBatches { try delete($0, stack) } },
        ]
    }

    private func measure(_ name: String, _ operations: Int, _ body: () throws -> Void) throws -> Step {
        let start = ContinuousClock.now
        try body()
        let time = (ContinuousClock.now - start).components
        return Step(name: name, operations: operations, seconds: Double(time.seconds) + Double(time.attoseconds) / 1e18)
    }

    /// Passes the numbers of the objects to a closure, one batch after the other.
    private func inBatches(_ body: (Range<Int>) throws -> Void) throws {
        var start = 0
        while start < objects {
            let end = objects - start > batch ? start + batch : objects
            try body(start..<end)
            start = end
        }
    }

    private func insert(_ numbers: Range<Int>, _ stack: DataStack) throws {
        try stack.perform(
            limit: Interruption.limit,
            synchronous: { transaction in
                for number in numbers {
                    let item = try transaction.create(Into<DynamicObject>(entity: Self.entity))
                    try item.setValue(.int(Int64(number)), for: "number")
                    try item.setValue(.string("item \(number)"), for: "name")
                    try item.setValue(.double(Double(number) / 8), for: "weight")
                }
            })
    }

    private func query(_ stack: DataStack) throws {
        let count = min(objects, Self.mostQueries), stride = objects / count
        for index in 0..<count {
            if Interruption.isAsked { throw StorageError(.cancelled, "the measurement was interrupted") }
            let found = try stack.fetchAll(try Self.items("number == \(index * stride)"))
            guard found.count == 1 else { throw StorageError(.corrupted, "the store has \(found.count) objects where 1 was inserted") }
        }
    }

    private func update(_ numbers: Range<Int>, _ stack: DataStack) throws {
        try stack.perform(
            limit: Interruption.limit,
            synchronous: { transaction in
                for item in try transaction.fetchAll(try Self.items(numbers)) { try item.setValue(.double(0.5), for: "weight") }
            })
    }

    private func delete(_ numbers: Range<Int>, _ stack: DataStack) throws {
        try stack.perform(
            limit: Interruption.limit,
            synchronous: { transaction in try transaction.delete(try transaction.fetchAll(try Self.items(numbers))) })
    }

    private static func items(_ numbers: Range<Int>) throws(StorageError) -> From<DynamicObject> {
        try items("number >= \(numbers.lowerBound) AND number < \(numbers.upperBound)")
    }

    private static func items(_ condition: String) throws(StorageError) -> From<DynamicObject> {
        do throws(QueryError) { return From<DynamicObject>(entity: entity).where(Where(try QueryPredicate(parsing: condition))) } catch {
            throw StorageError(error)
        }
    }
}
