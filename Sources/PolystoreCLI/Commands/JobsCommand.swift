internal import ArgumentParser
internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore jobs`.
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "Lists the unfinished work of a store, with its progress and the command that continues it.",
        discussion: """
            Unfinished work is an incomplete copy of another store, also under its temporary name NAME.partial, a move of the store to another one, \
            and an online migration. The numbers are those that the store keeps; how many rows the source has is added if it can be opened. \
            A transfer is continued by the same command with the same options, which the store does not keep.
            """)

    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let opened = try Stores.openUnfinished(store)
        defer { opened.close() }
        let jobs = try StoreJob.all(of: opened, named: store)
        if json { return Console.print(JSONText.array(jobs.map(\.json))) }
        if jobs.isEmpty { Console.print("no work is unfinished") }
        for job in jobs { Console.print(job.lines.joined(separator: "\n")) }
    }
}
