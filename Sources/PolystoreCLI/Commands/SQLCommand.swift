internal import ArgumentParser
internal import PolystoreStorage

/// `polystore sql`.
struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql", abstract: "Prints the rows of an SQL statement that changes nothing, on stores that run SQL.",
        discussion: "The tables have the names of the root entities, with the columns _id, _version and the names of the properties.")

    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Argument(help: "The statement.")
    var statement: String

    @Option(help: "The form of the output: \(AnswerFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = AnswerFormat.ndjson

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        Interruption.watch()
        let reader = try opened.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        let answer = try reader.rawRows(RawSQL(stringLiteral: statement))
        if format == .json || format == .ndjson { try Self.checkAreUnique(answer.names) }
        var writer = AnswerWriter(format, answer.names)
        for row in answer.rows { try writer.write(row) }
        try writer.finish()
    }

    /// Refuses columns with the same name, of which readers of JSON keep one.
    private static func checkAreUnique(_ names: [String]) throws(StorageError) {
        var known: Set<String> = []
        for name in names where !known.insert(name).inserted {
            throw StorageError(
                .invalidPredicate,
                "several columns of the statement have the name \(name.excerpt()), which JSON cannot have; give them names with AS, or use "
                    + "--format table, csv or tsv")
        }
    }
}
