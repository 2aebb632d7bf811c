internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore query`.
struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Fetches objects, or one aggregate over them.",
        discussion:
            "Example: polystore query sqlite:shop.db Order --where 'total > 100 AND customer.name BEGINSWITH \"A\"' --order-by -total")

    @Argument(help: "The store.")
    var store: String

    @Argument(help: "The entity.")
    var entity: String

    @Option(name: .customLong("where"), help: "The condition.")
    var condition: String?

    @Option(help: "Properties separated by commas; a minus sign for descending.")
    var orderBy: String?

    @Option(help: "The greatest number of objects.")
    var limit: Int?

    @Flag(help: "Print the number of objects.")
    var count = false

    @Option(help: "Print the total of a property.")
    var sum: String?

    @Option(help: "Print the mean of a property.")
    var average: String?

    @Option(help: "Print the smallest value of a property.")
    var minimum: String?

    @Option(help: "Print the greatest value of a property.")
    var maximum: String?

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

    private func fetchRequest() throws(QueryError) -> FetchRequest {
        let keys = (orderBy ?? "").split(separator: ",").map { key in
            SortDescriptor(PropertyPath(String(key.drop { $0 == "-" })), ascending: !key.hasPrefix("-"))
        }
        let predicate = try condition.map { text throws(QueryError) in try Predicate(parsing: text) }
        return FetchRequest(entity, where: predicate, orderBy: keys, limit: limit)
    }

    private func show(_ plan: FetchPlan, _ reader: ReadSession) throws(StorageError) {
        let cursor = try reader.cursor(for: plan), schema = reader.schema, batch = RowBatch()
        while try cursor.next(into: batch) {
            for index in 0..<batch.count { Console.print(try Dump.line(batch.row(index), schema)) }
        }
    }
}
