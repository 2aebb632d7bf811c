internal import ArgumentParser
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema revert`.
    struct Revert: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revert", abstract: "Migrates a store back to a previous version, in place.",
            discussion: """
                Renamed items get their previous names. Data that only the newer version has is lost, and each loss must be \
                accepted by its path. Data that a migration removed is not restored; use a backup of the store from before the migration.
                """)

        @Argument(help: "The store to migrate, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Option(parsing: .unconditional, help: "The version to go back to; by default the previous one.")
        var to: String?

        @OptionGroup var options: Steps

        func run() throws {
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            let way = try SchemaWay(backOver: try versions(opened), opened, accepting: options.acceptLoss)
            try SchemaWork(way: way, opened: opened, options: options).run()
        }

        /// Returns the versions on the path back, nearest first.
        private func versions(_ opened: Stores.Opened) throws(StorageError) -> [Schema] {
            let reader = try opened.store.beginRead()
            defer { reader.end() }
            let known = MigrationRecord.ancestors(of: opened.schema, try MigrationRecord.all(reader))
            guard !known.isEmpty else {
                throw StorageError(.noMigrationPath, "the store had no version before \"\(opened.schema.version)\"")
            }
            guard let to else { return Array(known.prefix(1)) }
            if let position = known.firstIndex(where: { $0.version == to }) { return Array(known[...position]) }
            let names = known.map(\.version), list = names.map { "\"\($0)\"" }.joined(separator: ", ")
            throw StorageError(
                .noMigrationPath,
                "version \"\(opened.schema.version)\" of the store did not come from version \"\(to)\"\(Suggestion.nearest(to, in: names)) "
                    + "(it came from \(list))")
        }
    }
}
