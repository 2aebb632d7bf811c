internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore query`.
struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Fetches objects, or computes values of objects or of groups of objects.",
        discussion: """
            Example: polystore query sqlite:shop.db Order --where 'total > 100 AND customer.name BEGINSWITH "A"' --order-by -total

            Without --select all values of the objects are printed, one JSON object per line. --select takes properties, paths, computed values \
            and aggregates, with names: --select 'customer.city AS city, @count() AS orders, @sum(total) AS total' --group-by customer.city \
            --having 'total > 1000' --order-by -total --format table
            """)

    @OptionGroup
    var objects: RequestOptions

    @Option(parsing: .unconditional, help: "The values to print, separated by commas.", completion: ShellCompletion.property)
    var select: String?

    @Option(
        parsing: .unconditional, help: "The values by which objects are grouped, separated by commas.", completion: ShellCompletion.property
    )
    var groupBy: String?

    @Option(parsing: .unconditional, help: "The condition that groups must satisfy.", completion: ShellCompletion.expression)
    var having: String?

    @Flag(help: "Print equal rows of --select once.")
    var distinct = false

    @Flag(help: "Print the number of objects.")
    var count = false

    @Option(parsing: .unconditional, help: "Print the sum of this property.", completion: ShellCompletion.property)
    var sum: String?

    @Option(parsing: .unconditional, help: "Print the average of this property.", completion: ShellCompletion.property)
    var average: String?

    @Option(parsing: .unconditional, help: "Print the minimum of this property.", completion: ShellCompletion.property)
    var minimum: String?

    @Option(parsing: .unconditional, help: "Print the maximum of this property.", completion: ShellCompletion.property)
    var maximum: String?

    @Option(help: "The form of the output: \(AnswerFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = AnswerFormat.ndjson

    private var aggregates: [(option: String, aggregate: Aggregate)] {
        let functions: [(String, AggregateFunction, String?)] = [
            ("--sum", .sum, sum), ("--average", .average, average), ("--minimum", .minimum, minimum), ("--maximum", .maximum, maximum),
        ]
        return (count ? [("--count", Aggregate(.count))] : [])
            + functions.compactMap { option, function, path in path.map { (option, Aggregate(function, PropertyPath($0))) } }
    }

    func validate() throws {
        if select == nil, let option = distinct ? "--distinct" : groupBy.map({ _ in "--group-by" }) ?? having.map({ _ in "--having" }) {
            throw ValidationError("\(option) needs --select")
        }
        guard let first = aggregates.first?.option else { return }
        if select != nil || objects.limit != nil || objects.offset != nil || objects.orderBy != nil {
            throw ValidationError(
                "\(first) prints one row over all objects and cannot be combined with --select, --order-by, --limit or --offset")
        }
    }

    func run() throws {
        let opened = try Stores.open(objects.store)
        defer { opened.close() }
        opened.noteLosses(of: objects.entity)
        Interruption.watch()
        let reader = try opened.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        do {
            let answer = RequestAnswer(reader, format)
            if let request = try valueRequest() {
                // A single aggregate is printed without a name, for scripts.
                if aggregates.count == 1, format == .ndjson { try answer.showValue(request) } else { try answer.show(request) }
            } else {
                try answer.show(objects.request())
            }
        } catch let error as QueryError {
            throw StorageError(error)
        }
    }

    /// Returns the request for values, or nil for a request for objects.
    private func valueRequest() throws(StorageError) -> QueryRequest? {
        let fetch = try objects.request()
        if !aggregates.isEmpty { return QueryRequest(fetch, outputs: aggregates.map { .aggregate($0.aggregate) }) }
        guard let outputs = try ChosenObjects.parsedIfGiven(select, "--select", SelectList.outputs) else { return nil }
        return QueryRequest(
            fetch, outputs: outputs, groupBy: try ChosenObjects.parsedIfGiven(groupBy, "--group-by", SelectList.expressions) ?? [],
            having: try ChosenObjects.parsedIfGiven(having, "--having", ChosenObjects.predicate), isDistinct: distinct)
    }
}
