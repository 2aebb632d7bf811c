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
        var writer = AnswerWriter(format, answer.names)
        for row in answer.rows { try writer.write(row) }
        try writer.finish()
    }
}
