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

    @OptionGroup
    var objects: RequestOptions

    @Flag(help: "Execute the request, and add what was read.")
    var analyze = false

    func run() throws {
        let stack = try Stores.stack(objects.store, readOnly: true).stack
        let request: ObjectRequest
        do throws(QueryError) { request = try objects.request() } catch { throw StorageError(error) }
        var from = From<DynamicObject>(entity: request.entity).orderBy(OrderBy(terms: request.order)).offset(request.offset)
        if let predicate = request.predicate { from = from.where(Where(predicate)) }
        if let limit = request.limit { from = from.limit(limit) }
        Console.print(try stack.explain(from, analyze: analyze).description)
    }
}
