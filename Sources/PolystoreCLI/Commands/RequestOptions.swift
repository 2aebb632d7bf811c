internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// The options of a request for objects of a store.
struct RequestOptions: ParsableArguments {
    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Argument(help: "The entity of the objects, unless --request names it.", completion: ShellCompletion.entity)
    var entity: String?

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

    @Option(help: "A file with the whole request in JSON, in place of the entity and the other options; - is the standard input.")
    var request: String?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be at least 0") }
        if let offset, offset < 0 { throw ValidationError("--offset must be at least 0") }
        if (entity == nil) == (request == nil) { throw ValidationError("specify either an entity or --request FILE") }
        if request != nil, condition != nil || orderBy != nil || limit != nil || offset != nil {
            throw ValidationError(
                "--request contains the whole request and cannot be combined with --where, --order-by, --limit or --offset")
        }
    }

    /// Returns the request of the options, without those of the command.
    var described: RequestDescription {
        var description = RequestDescription(entity ?? "")
        description.condition = condition
        description.order = orderBy.map(SelectList.parts) ?? []
        description.limit = limit
        description.offset = offset
        return description
    }

    /// Returns the request in the file of `--request`; nil without the option.
    ///
    /// - Throws: `invalidPredicate`, with the name of the file.
    func requestOfFile() throws -> RequestDescription? {
        guard let path = request else { return nil }
        let text = path == "-" ? try Self.standardInput() : try Stores.text(path)
        do throws(StorageError) { return try RequestDescription(json: text) } catch {
            let name = path == "-" ? "the standard input" : path
            throw StorageError(error.code, "\(name): \(error.message)", details: error.details, cause: error)
        }
    }

    static func standardInput() throws -> String {
        let data = try FileHandle.standardInput.readToEnd() ?? Data()
        guard let text = String(data: data, encoding: .utf8) else {
            throw StorageError(.invalidConfiguration, "the standard input is not valid UTF-8")
        }
        return text
    }

    /// Returns the name of the option for a part of a request.
    static func option(_ member: RequestDescription.Member) -> String {
        switch member {
        case .orderBy: "--order-by"
        case .groupBy: "--group-by"
        case .entity, .where, .arguments, .limit, .offset, .select, .having, .distinct, .count, .sum, .average, .minimum, .maximum,
            .prefetch:
            "--\(member.rawValue)"
        }
    }
}
