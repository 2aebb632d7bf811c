internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore query`.
struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Fetches objects, or computes one aggregate over them.",
        discussion:
            "Example: polystore query sqlite:shop.db Order --where 'total > 100 AND customer.name BEGINSWITH \"A\"' --order-by -total")

    @Argument(help: "The store to read, as a URL.")
    var store: String

    @Argument(help: "The entity of the objects.")
    var entity: String

    @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition that the objects must satisfy.")
    var condition: String?

    @Option(
        parsing: .unconditional,
        help: "The properties to sort by, separated by commas; a minus sign before a name sorts in descending order.")
    var orderBy: String?

    @Option(help: "The maximum number of objects.")
    var limit: Int?

    @Flag(help: "Print the number of objects.")
    var count = false

    @Option(help: "Print the sum of this property.")
    var sum: String?

    @Option(help: "Print the average of this property.")
    var average: String?

    @Option(help: "Print the minimum of this property.")
    var minimum: String?

    @Option(help: "Print the maximum of this property.")
    var maximum: String?

    func validate() throws {
        let options = [("--sum", sum), ("--average", average), ("--minimum", minimum), ("--maximum", maximum)]
        let asked = (count ? ["--count"] : []) + options.filter { $0.1 != nil }.map(\.0)
        if asked.count > 1 { throw ValidationError("\(asked.joined(separator: " and ")) cannot be combined; use one at a time") }
        if let limit, limit < 0 { throw ValidationError("--limit must be at least 0") }
        if let first = asked.first, limit != nil || orderBy != nil {
            throw ValidationError("\(first) prints one value over all objects and cannot be combined with --order-by or --limit")
        }
    }

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        let reader = try opened.store.beginRead()
        defer { reader.end() }
        do {
            let request = try fetchRequest()
            if let aggregate {
                let plan = try QueryRequest(request, outputs: [.aggregate(aggregate)]).plan(in: opened.schema)
                let value = try reader.values(for: plan).first?.first ?? .null
                return Console.print(JSONWriter.write(ValueText.json(value)))
            }
            try show(request.plan(in: opened.schema), reader)
        } catch let error as QueryError {
            throw StorageError(error)
        }
    }

    private var aggregate: Aggregate? {
        if count { return Aggregate(.count) }
        if let sum { return Aggregate(.sum, PropertyPath(sum)) }
        if let average { return Aggregate(.average, PropertyPath(average)) }
        if let minimum { return Aggregate(.minimum, PropertyPath(minimum)) }
        return maximum.map { Aggregate(.maximum, PropertyPath($0)) }
    }

    private func fetchRequest() throws(QueryError) -> ObjectRequest {
        let keys = (orderBy ?? "").split(separator: ",").map { key in
            let name = key.drop { $0 == " " }, isDescending = name.hasPrefix("-")
            return OrderTerm(
                PropertyPath(name.dropFirst(isDescending ? 1 : 0).trimmingCharacters(in: .whitespaces)), ascending: !isDescending)
        }
        let predicate = try condition.map { text throws(QueryError) in try QueryPredicate(parsing: text) }
        return ObjectRequest(entity, where: predicate, orderBy: keys, limit: limit)
    }

    private func show(_ plan: FetchPlan, _ reader: ReadSession) throws(StorageError) {
        let cursor = try reader.cursor(for: plan), schema = reader.schema, batch = RowBatch()
        while try cursor.next(into: batch) {
            var lines = ""
            for index in 0..<batch.count { lines += try RowText.line(batch.row(index), schema) + "\n" }
            try Console.write(Data(lines.utf8))
        }
    }
}
