internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore advise`.
struct AdviseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advise", abstract: "Proposes indexes for requests to a store.",
        discussion: """
            The requests are in a file, one JSON object in a line, as --request of query takes it: \
            {"entity": "Person", "where": "city == 'Rome'", "orderBy": ["age"], "limit": 10}. Without --try all indexes are proposed that the \
            requests could use. With --try the store is copied to a scratch store, each index is created there, the requests are measured \
            before and after it, and only indexes that make one of them faster by half are proposed; the scratch store is removed \
            afterwards. Indexes whose first property none of the requests reads or compares are listed too; statements in SQL and lookups by \
            id may use them. The store itself is only read.

            An index is added by a new version of the model (schema apply). A program can record its own requests: see recordsRequests and \
            adviseIndexes of DataStack.
            """)

    @Argument(help: "The store, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Option(help: "The file with the requests; - is the standard input.", completion: .file())
    var requests: String

    @Option(
        name: .customLong("try"),
        help: ArgumentHelp(
            "The kind of store for the copy, as a URL such as sqlite: for a temporary folder, or lmdb:/mnt/disk for this folder; PostgreSQL gets a schema with a random name.",
            valueName: "url"), completion: ShellCompletion.store)
    var trial: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let text = try requests == "-" ? RequestOptions.standardInput() : Stores.text(requests)
        let opened = try Stores.open(store)
        defer { opened.close() }
        let requests = try described(text, opened.store.schema)
        Interruption.watch()
        let engine = TransferEngine(limit: Interruption.limit)
        let advice =
            try trial.map { try tried($0, requests, opened.store, engine) } ?? engine.adviseIndexes(for: requests, of: opened.store)
        Console.print(json ? Self.json(advice) : advice.description)
    }

    private func tried(
        _ url: String, _ requests: [AdvisedRequest], _ store: OpenStore, _ engine: TransferEngine
    ) throws -> IndexAdvice {
        let place: ScratchPlace
        do throws(StorageError) { place = try ScratchPlace(url) } catch {
            // The error is about the other store.
            UsedStores.removeAll()
            throw error
        }
        defer { place.remove() }
        let copy = try Stores.create(place.text, store.schema)
        defer { copy.abandon() }
        defer { try? copy.store.erase() }
        return try engine.adviseIndexes(for: requests, of: store, tryingInOpen: copy.store)
    }

    /// Parses the requests.
    private func described(_ text: String, _ schema: Schema) throws -> [AdvisedRequest] {
        var found: [AdvisedRequest] = []
        // The two scalars at the end of a line of Windows are one character.
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }).enumerated()
        where !line.allSatisfy(\.isWhitespace) {
            do throws(StorageError) {
                let description = try RequestDescription(json: String(line))
                let request: RecordedRequest
                if let values = try description.valueRequest() {
                    try Self.check { () throws(QueryError) in _ = try values.plan(in: schema) }
                    request = .values(values)
                } else {
                    let objects = try description.objectRequest()
                    try Self.check { () throws(QueryError) in _ = try objects.plan(in: schema) }
                    request = .objects(objects)
                }
                try description.checkPrefetched(in: schema)
                found.append(AdvisedRequest(request, shape: "line \(number + 1): \(description.line)"))
            } catch {
                // The error is about the file.
                UsedStores.removeAll()
                let place = "\(requests == "-" ? "the standard input" : requests), line \(number + 1)"
                throw StorageError(error.code, "\(place): \(error.message)", details: error.details, cause: error)
            }
        }
        if found.isEmpty {
            UsedStores.removeAll()
            throw StorageError(.invalidConfiguration, "\(requests) contains no requests")
        }
        return found
    }

    private static func check(_ body: () throws(QueryError) -> Void) throws(StorageError) {
        do throws(QueryError) { try body() } catch { throw StorageError(error) }
    }

    private static func json(_ advice: IndexAdvice) -> String {
        func items(_ items: [IndexAdvice.Item]) -> String {
            JSONText.array(
                items.map { item in
                    JSONText.object([
                        ("entity", JSONText.string(item.entity)), ("properties", JSONText.strings(item.properties)),
                        ("requests", JSONText.array(item.requests.map(json))),
                    ])
                })
        }
        return JSONText.object([
            ("add", items(advice.proposals)), ("rejected", items(advice.rejected)), ("unused", items(advice.unused)),
        ])
    }

    private static func json(_ request: IndexAdvice.Request) -> String {
        JSONText.object([
            ("request", JSONText.string(request.shape)),
            ("secondsBefore", request.trial.map { seconds($0.before) } ?? "null"),
            ("secondsAfter", request.trial.map { seconds($0.after) } ?? "null"),
        ])
    }

    private static func seconds(_ duration: Duration) -> String { "\(duration / .seconds(1))" }
}

extension RequestDescription {
    /// The objects of the request on one line.
    fileprivate var line: String {
        var text = entity
        if let condition { text += " where \(condition)" }
        if !order.isEmpty { text += " order by \(order.joined(separator: ", "))" }
        if let limit { text += " limit \(limit)" }
        return text
    }
}
