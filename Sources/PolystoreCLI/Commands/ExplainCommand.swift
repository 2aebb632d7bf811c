internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

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

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let file = try objects.requestOfFile(), description = file ?? objects.described
        let stack = try Stores.stack(objects.store, readOnly: true).stack
        let naming = file == nil ? RequestOptions.option : RequestDescription.quoted
        if try description.valueRequest(naming) != nil {
            throw StorageError(.unsupported, "explain takes requests for objects, not for values")
        }
        let request = try description.objectRequest(naming)
        var from = From<DynamicObject>(entity: request.entity).orderBy(OrderBy(terms: request.order)).offset(request.offset)
        if let predicate = request.predicate { from = from.where(Where(predicate)) }
        if let limit = request.limit { from = from.limit(limit) }
        let explanation = try stack.explain(from, analyze: analyze)
        Console.print(json ? Self.json(explanation) : explanation.description)
    }

    private static func json(_ explanation: Explanation) -> String {
        func parts(_ parts: [Explanation.Part]) -> String {
            JSONText.array(parts.map { JSONText.object([("text", JSONText.string($0.text)), ("inStore", "\($0.pushdown == .exact)")]) })
        }
        let stores = explanation.stores.map { store in
            JSONText.object([
                ("store", JSONText.string(store.storeType)), ("conditions", parts(store.conditions)), ("order", parts(store.order)),
                ("plan", JSONText.strings(store.plan)), ("requests", store.work.map { "\($0.requests)" } ?? "null"),
                ("rowsRead", store.work.map { "\($0.rowsRead)" } ?? "null"),
            ])
        }
        return JSONText.object([("stores", JSONText.array(stores)), ("objects", explanation.answer.map { "\($0.count)" } ?? "null")])
    }
}
