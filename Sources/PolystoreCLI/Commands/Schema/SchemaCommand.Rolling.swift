internal import ArgumentParser
internal import Dispatch
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaCommand {
    /// `polystore schema expand`.
    struct Expand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expand",
            abstract: "Starts an online migration: prepares the store for the next version while programs use the present one.",
            discussion: """
                The phases of an online migration: expand, backfill, start programs of the new version, stop those of the old one, \
                contract. PostgreSQL only.
                """)

        @Argument(help: "The store to migrate, as a URL.", completion: ShellCompletion.store)
        var store: String

        @OptionGroup var models: Models

        @Flag(help: "Show the operations of each phase without changing the store.")
        var dryRun = false

        @OptionGroup var patience: Patience

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let history = try models.required(accepting: [])
            try Rolling.with(store) { migration, _ in
                if dryRun {
                    let lines = try migration.explanation(to: history)
                    if json { return Console.print(JSONText.object([("operations", JSONText.strings(lines))])) }
                    for line in lines { Console.print(line) }
                    return Console.print("nothing was changed")
                }
                try migration.expand(to: history, timeout: patience.timeout)
                let isReady = try migration.current()?.phase == .ready
                Rolling.report(
                    history.currentSchema.version, isReady ? .ready : .filling, json,
                    isReady
                        ? "done: programs of version \"\(history.currentSchema.version)\" can start"
                        : "done: now fill the existing objects with polystore schema backfill")
            }
        }
    }

    /// `polystore schema backfill`.
    struct Backfill: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backfill", abstract: "Fills the data of the next version for existing objects, in batches.",
            discussion: "The command can be stopped at any time; the next run continues.")

        @Argument(help: "The store to migrate, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Option(parsing: .unconditional, help: "The maximum number of objects per transaction.")
        var batch = 1000

        @Option(parsing: .unconditional, help: "The pause between two transactions, in milliseconds.")
        var pause = 0

        @Flag(name: .shortAndLong, help: "Do not show progress.")
        var quiet = false

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws {
            if batch < 1 || pause < 0 { throw ValidationError("--batch must be at least 1, and --pause at least 0") }
        }

        func run() throws {
            try Rolling.with(store) { migration, _ in
                Interruption.watch()
                try ProgressLine.follow("backfill", isQuiet: quiet) { progress in
                    try migration.backfill(BackfillPace(batchSize: batch, pause: Double(pause) / 1000), progress: progress)
                }
                let version = try migration.current()?.destination.version ?? ""
                Rolling.report(version, .ready, json, "done: programs of version \"\(version)\" can start")
            }
        }
    }

    /// `polystore schema contract`.
    struct Contract: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "contract",
            abstract: "Completes an online migration with the next version; programs of the older one are refused from then on.")

        @Argument(help: "The store to migrate, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Option(
            parsing: .unconditionalSingleValue,
            help: "The path of data of the older version that may be lost, such as Note.mail; can be repeated.")
        var acceptLoss: [String] = []

        @Flag(help: "Do not ask for confirmation.")
        var yes = false

        @OptionGroup var patience: Patience

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            try Rolling.with(store) { migration, opened in
                let version = try migration.current()?.destination.version ?? ""
                let losses = try migration.losses(accepting: Set(acceptLoss))
                if !losses.isEmpty {
                    let texts = losses.compactMap(\.loss).joined(separator: ", ")
                    throw StorageError(
                        .dataLossRefused, "the step would lose \(texts); accept the loss with \(SchemaStep.options(losses))")
                }
                try Question.confirm(
                    "Refuse programs of version \"\(opened.schema.version)\" of \(opened.url.redacted) from now on?", isConfirmed: yes)
                try migration.contract(acceptingLosses: Set(acceptLoss), timeout: patience.timeout)
                Rolling.report(version, nil, json, "done: the store now has version \"\(version)\"")
            }
        }
    }

    /// `polystore schema abandon`.
    struct Abandon: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "abandon",
            abstract: "Abandons an online migration and keeps the older version; programs of the next one are refused from then on.")

        @Argument(help: "The store to migrate, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Flag(help: "Accept the loss of data of the next version that the older one cannot store.")
        var acceptLosses = false

        @Flag(help: "Do not ask for confirmation.")
        var yes = false

        @OptionGroup var patience: Patience

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            try Rolling.with(store) { migration, opened in
                let version = try migration.current()?.destination.version ?? ""
                try Question.confirm(
                    "Refuse programs of version \"\(version)\" of \(opened.url.redacted) from now on?", isConfirmed: yes)
                try migration.abandon(acceptingLosses: acceptLosses, timeout: patience.timeout)
                let older = opened.schema.version
                Rolling.report(older, nil, json, "done: the store has version \"\(older)\"")
            }
        }
    }

    /// The time for which a phase tries to acquire locks that other programs hold.
    struct Patience: ParsableArguments {
        @Option(parsing: .unconditional, help: "The maximum time for retries, in seconds; other programs can proceed between attempts.")
        var timeout = 60.0

        func validate() throws { if !(timeout >= 0) { throw ValidationError("--timeout must be a number of seconds, at least 0") } }
    }

    private enum Rolling {
        /// Prints what a phase has reached: the version, and the phase of the migration, which is nil after its end.
        static func report(_ version: String, _ phase: RollingMigrationState.Phase?, _ isJSON: Bool, _ text: String) {
            Console.print(
                isJSON ? JSONText.object([("version", JSONText.string(version)), ("phase", JSONText.string(phase?.rawValue))]) : text)
        }

        static func with(_ store: String, _ body: (RollingMigration, Stores.Opened) throws -> Void) throws {
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            try body(try RollingMigration(opened.store), opened)
        }
    }
}
