import ArgumentParser
import Foundation
import Polystore

@main struct NotebookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notebook", abstract: "Keeps notes with tags.", subcommands: [Add.self, List.self, Remove.self])

    struct Place: ParsableArguments {
        @Option(help: "The URL of the store. Without it the variable NOTEBOOK, or sqlite:notes.db.")
        var store: String?

        func open() throws -> Notebook {
            try Notebook(store ?? ProcessInfo.processInfo.environment["NOTEBOOK"] ?? "sqlite:notes.db")
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Adds a note.")
        @OptionGroup var place: Place
        @Option(name: .shortAndLong, help: "A tag; repeatable.") var tag: [String] = []
        @Argument var text: String

        func run() async throws { print("note", try await place.open().add(text, tags: tag)) }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists notes, newest first.")
        @OptionGroup var place: Place
        @Option(name: .shortAndLong, help: "A tag that the notes have.") var tag: String?
        @Option(name: .shortAndLong, help: "Words that the notes contain.") var words: String?

        func run() throws {
            for entry in try place.open().entries(tag: tag, words: words) {
                print("\(entry.number)  \(entry.text)", entry.tags.map { "#" + $0 }.joined(separator: " "))
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes a note.")
        @OptionGroup var place: Place
        @Argument var number: Int

        func run() async throws {
            guard try await place.open().remove(number) else { throw ValidationError("there is no note \(number)") }
        }
    }
}
