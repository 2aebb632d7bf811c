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

            --request takes all of this from JSON, in which conditions may have variables, whose values are in "arguments": \
            {"entity": "Order", "where": "total > $least", "arguments": {"least": 100}, "orderBy": ["-total"], "select": ["number", "total"]}
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

    /// The request of the options.
    private var described: RequestDescription {
        var description = objects.described
        description.outputs = select.map(SelectList.parts)
        description.groupKeys = groupBy.map(SelectList.parts)
        description.groupCondition = having
        description.isDistinct = distinct
        description.isCount = count
        description.aggregates = [.sum: sum, .average: average, .minimum: minimum, .maximum: maximum].compactMapValues { $0 }
        return description
    }

    func validate() throws {
        if objects.request != nil, described != objects.described {
            throw ValidationError("--request contains the whole request and cannot be combined with options for values")
        }
        if let contradiction = described.contradiction(RequestOptions.option) { throw ValidationError(contradiction) }
    }

    func run() throws {
        let file = try objects.requestOfFile(), request = file ?? described
        if !request.prefetched.isEmpty {
            throw StorageError(.unsupported, "\"prefetch\" is for programs that use the library; name the values in \"select\"")
        }
        let opened = try Stores.open(objects.store)
        defer { opened.close() }
        opened.noteLosses(of: request.entity)
        Interruption.watch()
        let reader = try opened.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        let naming = file == nil ? RequestOptions.option : RequestDescription.quoted
        do {
            let answer = RequestAnswer(reader, format)
            if let values = try request.valueRequest(naming) {
                // A single aggregate is printed without a name, for scripts.
                if request.isSingleValue, format == .ndjson { try answer.showValue(values) } else { try answer.show(values) }
            } else {
                try answer.show(request.objectRequest(naming))
            }
        } catch let error as QueryError {
            throw StorageError(error)
        }
    }
}
