internal import ArgumentParser
internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The objects that a command changes: those of an entity that satisfy a condition, or all of them if this is said.
struct ChosenObjects: ParsableArguments {
    @Argument(help: "The store to change, as a URL.")
    var store: String

    @Argument(help: "The entity of the objects.")
    var entity: String

    @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition that the objects must satisfy.")
    var condition: String?

    @Flag(help: "Choose all objects of the entity.")
    var all = false

    @Flag(help: "Change the store without asking.")
    var yes = false

    func validate() throws {
        if (condition == nil) != all { throw ValidationError("specify either --where CONDITION or --all") }
    }

    /// Counts the objects, asks for confirmation, and changes them in one transaction, which the history records with the name of the
    /// command as its author.
    ///
    /// - Parameter verb: What happens to the objects, such as `delete`.
    /// - Throws: `Failure.refused` without a confirmation.
    func change(
        _ verb: String, _ body: (WriteTransaction, From<DynamicObject>) throws -> Int
    ) throws -> Int {
        let (stack, url) = try Stores.stack(store)
        var from = From<DynamicObject>(entity: entity)
        if let condition {
            do throws(QueryError) { from = from.where(Where(try QueryPredicate(parsing: condition))) } catch { throw StorageError(error) }
        }
        let count = try stack.fetchCount(from)
        if count == 0 { return 0 }
        try Question.confirm("\(verb) \(count) objects of \(entity) in \(url.redacted)?", isConfirmed: yes)
        return try stack.perform(author: TransactionAuthor(verb), synchronous: { transaction in try body(transaction, from) })
    }
}
