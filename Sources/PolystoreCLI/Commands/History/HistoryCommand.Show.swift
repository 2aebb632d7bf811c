internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage

extension HistoryCommand {
    /// `polystore history show`, the default subcommand.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Lists the transactions of the history, oldest first, or follows new ones.",
            discussion: """
                Each transaction has a token; --since continues after it. Behind an entity are the numbers of inserted (+), updated (~) and \
                deleted (-) objects, and of to-many relationships whose members changed (links). With --json and --follow each transaction is one line of JSON, written \
                immediately. With --consumer the store keeps the position of the consumer: the next run continues there, and no purge deletes \
                transactions after it.

                Examples: polystore history sqlite:shop.db --entity Order
                          polystore history env:SHOP --follow --consumer search-index | index
                """)

        @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Option(parsing: .unconditional, help: "Start after this token; a number is a position in the store's history.")
        var since: String?

        @Option(parsing: .unconditionalSingleValue, help: "Include only transactions of this author; can be repeated.")
        var author: [String] = []

        @Option(parsing: .unconditionalSingleValue, help: "Exclude transactions of this author; can be repeated.")
        var notAuthor: [String] = []

        @Option(
            parsing: .unconditionalSingleValue, help: "Include only transactions that changed objects of this entity; can be repeated.",
            completion: ShellCompletion.entity)
        var entity: [String] = []

        @Option(parsing: .unconditional, help: "The maximum number of transactions.")
        var limit: Int?

        @Flag(help: "Print each transaction with all its changes as one line of JSON.")
        var json = false

        @Flag(help: "Continue with new commits until interrupted; implies --json.")
        var follow = false

        @Option(parsing: .unconditional, help: "Continue at the position of this consumer, and keep the new position in the store.")
        var consumer: String?

        @Flag(help: "Restart the consumer after --since, or at the oldest transaction in the history.")
        var restart = false

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
            if let both = author.first(where: notAuthor.contains) {
                throw ValidationError("--author and --not-author both name \(both)")
            }
            if restart, consumer == nil { throw ValidationError("--restart requires --consumer") }
        }

        func run() throws {
            Interruption.watch()
            let opened = try Stores.open(store, readOnly: consumer == nil)
            defer { opened.close() }
            var feed = try HistoryFeed(opened, scan(opened), consumer: consumer, limit: limit)
            try feed.begin(since: token(opened), restarts: restart)
            if follow {
                try feed.follow { entry throws(StorageError) in try HistoryOutput.write(HistoryLine(opened.schema).json(entry)) }
            } else {
                let line = HistoryLine(opened.schema)
                _ = try feed.show { entry throws(StorageError) in try HistoryOutput.write(json ? line.json(entry) : line.text(entry)) }
            }
        }

        private func scan(_ opened: Stores.Opened) throws(StorageError) -> HistoryScan {
            var scan = HistoryScan(limit: min(limit ?? 256, 256))
            if !author.isEmpty { scan.authors = Set(author) }
            scan.excludedAuthors = Set(notAuthor)
            var entities: Set<EntityIndex> = []
            for name in entity {
                guard let index = opened.schema.index(of: name) else {
                    let nearest = Suggestion.nearest(name, in: opened.schema.entities.map(\.name))
                    throw StorageError(.notFound, "the store has no entity \"\(name)\"\(nearest)")
                }
                entities.formUnion(opened.schema[index].family)
            }
            if !entity.isEmpty { scan.entities = entities }
            return scan
        }

        private func token(_ opened: Stores.Opened) throws -> HistoryToken? {
            try since.map { try HistoryCommand.token($0, opened) }
        }
    }

    /// Parses a token, or a position in the store.
    static func token(_ text: String, _ opened: Stores.Opened) throws -> HistoryToken {
        if let position = Int64(text) { return HistoryToken(store: opened.state.storeID, position: position) }
        if let token = HistoryToken(text) { return token }
        throw ValidationError("\"\(text)\" is not a token: a token is the store's identity, a colon and a position, as printed")
    }
}
