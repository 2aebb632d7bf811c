internal import ArgumentParser
internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// The objects that a command changes: those of an entity that satisfy a condition, or all of them if this is said.
struct ChosenObjects: ParsableArguments {
    @Argument(help: "The store to change, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Argument(help: "The entity of the objects.", completion: ShellCompletion.entity)
    var entity: String

    @Option(
        name: .customLong("where"), parsing: .unconditional, help: "The condition that the objects must satisfy.",
        completion: ShellCompletion.expression)
    var condition: String?

    @Flag(help: "Choose all objects of the entity.")
    var all = false

    @Flag(help: "Change the store without asking.")
    var yes = false

    @Flag(help: "Print the number of objects as JSON.")
    var json = false

    func validate() throws {
        if (condition == nil) != all { throw ValidationError("specify either --where CONDITION or --all") }
    }

    /// Counts the objects, asks for confirmation, and changes them in one transaction, which the history records with the name of the
    /// command as its author. The store is opened for writing only after the confirmation.
    ///
    /// - Parameters:
    ///   - verb: What happens to the objects, such as `delete`.
    ///   - prepare: Checks the change, and returns it and what it changes beside the objects, for the question.
    /// - Returns: The number of changed objects.
    /// - Throws: `Failure.refused` without a confirmation, and if more objects satisfy the condition by then.
    func change(_ verb: String, _ prepare: (DataStack, From<DynamicObject>) throws -> (change: Change, beside: String)) throws -> Int {
        let (reading, url) = try Stores.stack(store, readOnly: true)
        var from = From<DynamicObject>(entity: entity)
        if let predicate = try Self.parsedIfGiven(condition, "--where", Self.predicate) { from = from.where(Where(predicate)) }
        let (change, beside) = try prepare(reading, from), count = try reading.fetchCount(from)
        for storage in reading.storages { try reading.removeStorage(storage) }
        if count == 0 { return 0 }
        let question = "\(verb) \(Console.counted(count)) of \(entity)\(beside) in \(url.redacted)?"
        try Question.confirm(question, isConfirmed: yes)
        // Not before the question: a signal is to end the wait for its answer.
        Interruption.watch()
        return try Stores.stack(store, readOnly: false).stack.perform(
            author: TransactionAuthor(verb), limit: Interruption.limit,
            synchronous: { transaction in
                if !yes, try transaction.fetchCount(from) > count {
                    Console.error("polystore: nothing was changed; more than \(Console.counted(count)) satisfy the condition by now")
                    throw Failure.refused
                }
                return try change(transaction, from)
            })
    }

    /// Prints the number of changed objects.
    func report(_ count: Int, _ text: String) {
        if json {
            Console.report(JSONText.object([("entity", JSONText.string(entity)), ("objects", "\(count)")]))
        } else {
            Console.report(text)
        }
    }

    /// A change of the objects of a request. Returns their number.
    typealias Change = (WriteTransaction, From<DynamicObject>) throws -> Int

    /// Parses a condition.
    static func predicate(_ text: String) throws(QueryError) -> QueryPredicate { try QueryPredicate(parsing: text) }

    /// Parses the text of an option, which an error names; nil without a text.
    static func parsedIfGiven<R>(
        _ text: String?, _ option: String, _ parse: (String) throws(QueryError) -> R
    ) throws(StorageError) -> R? {
        try text.map { text throws(StorageError) in try parsed(text, option, parse) }
    }

    /// Parses the text of an option, which an error names.
    static func parsed<R>(_ text: String, _ option: String, _ parse: (String) throws(QueryError) -> R) throws(StorageError) -> R {
        do throws(QueryError) { return try parse(text) } catch {
            let error = StorageError(error)
            throw StorageError(error.code, "\(option) '\(text.excerpt())': \(error.message)", details: error.details, cause: error)
        }
    }
}
