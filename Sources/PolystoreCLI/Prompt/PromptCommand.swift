internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage

/// `polystore prompt`.
struct PromptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prompt", abstract: "Reads requests line by line and answers them.",
        discussion: """
            A line is an entity with clauses (Order where total > 100 order by -total limit 10), or a command; help lists them. At a terminal \
            the tab key completes entities, clauses and properties, and the arrow keys go through earlier lines, which are kept in \
            ~/.local/state/polystore/history, or in the file that POLYSTORE_HISTORY names (none if it is empty). Nothing can be changed.

            Lines of a file or another program are answered without limits of rows, until the first error: polystore prompt sqlite:shop.db < \
            report.txt
            """)

    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Option(help: "The form of the answers: \(AnswerFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = AnswerFormat.table

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        if PromptTerminal.isAvailable { try converse(opened) } else { try answer(opened) }
    }

    /// Answers the lines of the standard input.
    private func answer(_ opened: Stores.Opened) throws {
        var session = try PromptSession(opened, format, limitsRows: false), number = 0
        Interruption.watch()
        while var line = readLine() {
            number += 1
            if number == 1, line.hasPrefix("\u{feff}") { line.removeFirst() }
            do {
                if try !session.run(line) { return }
            } catch let error as StorageError {
                throw StorageError(error.code, "line \(number): \(error.message)", details: error.details, cause: error)
            }
        }
    }

    /// Reads lines at a terminal. An error or an interruption ends a statement, and not the prompt.
    private func converse(_ opened: Stores.Opened) throws {
        var session = try PromptSession(opened, format, limitsRows: true), history = PromptHistory()
        let completion = PromptCompletion(opened.schema), name = opened.url.scheme
        let terminal = PromptTerminal("\(name)> ", complete: completion.complete)
        Console.error("\(opened.url.redacted); enter help for the commands, quit to end")
        Interruption.watch()
        while let line = terminal.line(history: history.lines) {
            history.add(line)
            Interruption.renew()
            do {
                if try !session.run(line) { break }
            } catch let error as StorageError {
                Console.error(error.code == .cancelled ? "interrupted" : error.message)
            }
        }
    }
}
