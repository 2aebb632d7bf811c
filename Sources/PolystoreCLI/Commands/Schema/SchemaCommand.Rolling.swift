internal import ArgumentParser
internal import Dispatch
internal import Polystore
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema expand`.
    struct Expand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expand", abstract: "Makes room for the next version beside the present one, while programs go on.",
            discussion: """
                The phases of a step without downtime: expand, backfill, start programs of the new version, stop those of the old one, \
                contract. PostgreSQL only.
                """)

        @Argument(help: "The store.")
        var store: String

        @OptionGroup var models: Models

        @Flag(help: "Show what the store would do in each phase, and change nothing.")
        var dryRun = false

        @OptionGroup var patience: Patience

        func run() throws {
            let history = try models.required(accepting: [])
            try Rolling.with(store) { migration, _ in
                if dryRun {
                    for line in try migration.explanation(to: history) { Console.print(line) }
                    return Console.print("nothing was changed")
                }
                try migration.expand(to: history, timeout: patience.timeout)
                let isReady = try migration.current()?.phase == .ready
                Console.print(
                    isReady
                        ? "done: programs of version \"\(history.currentSchema.version)\" can start"
                        : "done: now fill the objects that are there with polystore schema backfill")
            }
        }
    }

    /// `polystore schema backfill`.
    struct Backfill: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backfill", abstract: "Fills what the next version has of the objects that are there, a batch at a time.",
            discussion: "It can be stopped at any time; running it again goes on from there.")

        @Argument(help: "The store.")
        var store: String

        @Option(help: "The most objects of one transaction.")
        var batch = 1000

        @Option(help: "Milliseconds to rest between two transactions.")
        var pause = 0

        @Flag(name: .shortAndLong, help: "Show no progress.")
        var quiet = false

        func validate() throws {
            if batch < 1 || pause < 0 { throw ValidationError("--batch is at least 1, --pause at least 0") }
        }

        func run() throws {
            try Rolling.with(store) { migration, _ in
                Interruption.watch()
                try ProgressLine.follow("backfill", isQuiet: quiet) { progress in
                    try migration.backfill(BackfillPace(batchSize: batch, pause: Double(pause) / 1000), progress: progress)
                }
                let version = try migration.current()?.destination.version ?? ""
                Console.print("done: programs of version \"\(version)\" can start")
            }
        }
    }

    /// `polystore schema contract`.
    struct Contract: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "contract", abstract: "Ends a step with the next version; programs of the older one are refused from then on.")

        @Argument(help: "The store.")
        var store: String

        @Option(help: "What only the older version had and may be lost, by its path, such as Note.mail; there can be several.")
        var acceptLoss: [String] = []

        @Flag(help: "Do not ask.")
        var yes = false

        @OptionGroup var patience: Patience

        func run() throws {
            try Rolling.with(store) { migration, opened in
                let version = try migration.current()?.destination.version ?? ""
                let losses = try migration.losses(accepting: Set(acceptLoss))
                if !losses.isEmpty {
                    let texts = losses.compactMap(\.loss).joined(separator: ", ")
                    throw StorageError(
                        .dataLossRefused, "the step would lose \(texts); accept it with \(SchemaStep.options(losses))")
                }
                try Question.confirm(
                    "Refuse programs of version \"\(opened.schema.version)\" of \(opened.url.redacted) from now on?", isConfirmed: yes)
                try migration.contract(acceptingLosses: Set(acceptLoss), timeout: patience.timeout)
                Console.print("done: the store keeps version \"\(version)\" now")
            }
        }
    }

    /// `polystore schema abandon`.
    struct Abandon: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "abandon", abstract: "Ends a step with the older version; programs of the next one are refused from then on.")

        @Argument(help: "The store.")
        var store: String

        @Flag(help: "Lose what programs of the next version stored that the older one has no place for.")
        var acceptLosses = false

        @Flag(help: "Do not ask.")
        var yes = false

        @OptionGroup var patience: Patience

        func run() throws {
            try Rolling.with(store) { migration, opened in
                let version = try migration.current()?.destination.version ?? ""
                try Question.confirm(
                    "Refuse programs of version \"\(version)\" of \(opened.url.redacted) from now on?", isConfirmed: yes)
                try migration.abandon(acceptingLosses: acceptLosses, timeout: patience.timeout)
                Console.print("done: the store keeps version \"\(opened.schema.version)\"")
            }
        }
    }

    /// The time for which a phase tries to acquire locks that other programs hold.
    struct Patience: ParsableArguments {
        @Option(help: "The most seconds to try; other programs are let pass in between.")
        var timeout = 60.0

        func validate() throws { if !(timeout >= 0) { throw ValidationError("--timeout is a number of seconds, at least 0") } }
    }

    private enum Rolling {
        static func with(_ store: String, _ body: (RollingMigration, Stores.Opened) throws -> Void) throws {
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            try body(try RollingMigration(opened.store), opened)
        }
    }
}
