internal import ArgumentParser
internal import PolystoreStorage

/// The options of a request for objects of a store.
struct RequestOptions: ParsableArguments {
    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Argument(help: "The entity of the objects.", completion: ShellCompletion.entity)
    var entity: String

    @Option(
        name: .customLong("where"), parsing: .unconditional, help: "The condition that the objects must satisfy.",
        completion: ShellCompletion.expression)
    var condition: String?

    @Option(
        parsing: .unconditional,
        help: "The values to sort by, separated by commas; a minus sign before a value sorts in descending order.",
        completion: ShellCompletion.property)
    var orderBy: String?

    @Option(parsing: .unconditional, help: "The maximum number of rows.")
    var limit: Int?

    @Option(parsing: .unconditional, help: "The number of rows to skip.")
    var offset: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be at least 0") }
        if let offset, offset < 0 { throw ValidationError("--offset must be at least 0") }
    }

    /// Returns the request.
    ///
    /// - Throws: `invalidPredicate`, which names the option.
    func request() throws(StorageError) -> ObjectRequest {
        let order = try ChosenObjects.parsedIfGiven(orderBy, "--order-by", SelectList.order) ?? []
        let predicate = try ChosenObjects.parsedIfGiven(condition, "--where", ChosenObjects.predicate)
        return ObjectRequest(entity, where: predicate, orderBy: order, limit: limit, offset: offset ?? 0)
    }
}
