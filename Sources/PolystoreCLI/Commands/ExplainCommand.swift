internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage

/// `polystore explain`.
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows how a store answers a request for objects.",
        discussion: """
            Prints which parts of the condition and the order the store evaluates, which are left to the layer above it, and the plan of the \
            engine. --analyze executes the request and adds how many rows were read.
            """)

    @Argument(help: "The store to read, as a URL.")
    var store: String

    @Argument(help: "The entity of the objects.")
    var entity: String

    @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition that the objects must satisfy.")
    var condition: String?

    @Option(
        parsing: .unconditional,
        help: "The values to sort by, separated by commas; a minus sign before a value sorts in descending order.")
    var orderBy: String?

    @Option(parsing: .unconditional, help: "The maximum number of objects.")
    var limit: Int?

    @Option(parsing: .unconditional, help: "The number of objects to skip.")
    var offset: Int?

    @Flag(help: "Execute the request, and add what was read.")
    var analyze = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be at least 0") }
        if let offset, offset < 0 { throw ValidationError("--offset must be at least 0") }
    }

    func run() throws {
        let stack = try Stores.stack(store).stack
        var from = From<DynamicObject>(entity: entity)
        do throws(QueryError) {
            if let condition { from = from.where(Where(try QueryPredicate(parsing: condition))) }
            if let orderBy { from = from.orderBy(OrderBy(terms: try SelectList.order(orderBy))) }
        } catch {
            throw StorageError(error)
        }
        if let limit { from = from.limit(limit) }
        if let offset { from = from.offset(offset) }
        Console.print(try stack.explain(from, analyze: analyze).description)
    }
}
