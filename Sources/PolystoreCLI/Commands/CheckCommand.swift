internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore check`.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a store as a whole for damage, and repairs it if that is requested.",
        discussion: """
            Rows are decoded; references and members of relationships must exist; both ends of a relationship, and each index, must agree with \
            the rows; indexes and triggers must be those of the model; values under a unique constraint must differ; what is required must not \
            be nil; relationships must have as many members as the model says; versions, positions and key counters must leave room for later ones; the history must be readable. The exit code is 1 \
            if anything is found. Nothing is changed without --repair; each finding says what a repair would do.

            A repair rebuilds indexes and triggers, sets optional references that lead nowhere to nil, removes members that do not exist, and restores the \
            other ends of relationships, after a confirmation. It removes no object without --delete-broken or --remove-unreadable. Each part \
            is one transaction, which the history records. The store is checked again, and the exit code is 0 only if it is whole. A repair that \
            was interrupted is finished by the same command.
            """)

    @Argument(help: "The store to check, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Option(parsing: .unconditional, help: "The maximum number of findings to print.")
    var limit = 100

    @Flag(help: "Print JSON, one finding per line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Do not show progress.")
    var quiet = false

    @Flag(help: "Mend what can be mended.")
    var repair = false

    @Flag(help: "With --repair: delete objects that lack a required value or whose required relationship leads nowhere.")
    var deleteBroken = false

    @Option(
        help: ArgumentHelp(
            "With --repair: remove rows, values and history that cannot be decoded, after adding their bytes, and the pairs of removed rows, to this file.",
            valueName: "file"))
    var removeUnreadable: String?

    @Flag(help: "Repair without asking.")
    var yes = false

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
        if !repair, deleteBroken || removeUnreadable != nil || yes {
            throw ValidationError("--delete-broken, --remove-unreadable and --yes are for --repair")
        }
    }

    func run() throws {
        let output = FindingList(limit: limit, isJSON: json), engine = TransferEngine(limit: Interruption.limit)
        let options = RepairOptions(deletesBroken: deleteBroken, removesUnreadable: removeUnreadable != nil)
        let opened = try Stores.open(store)
        defer { opened.close() }
        if !repair { Interruption.watch() }
        let plan = try ProgressLine.follow(isQuiet: quiet) { report throws(StorageError) in
            try engine.planRepair(of: opened.store, options, report: report) { finding in output.add(finding) }
        }
        output.finish()
        if plan.findings == 0 { return }
        guard repair else {
            if !json { try report(plan, opened.store) }
            throw Failure.differs
        }
        try plan.checkIsPossible(in: opened.store)
        if plan.changes == 0 {
            Console.error("polystore: nothing was changed, because none of the findings can be mended")
            throw Failure.differs
        }
        for part in plan.summary { Console.error("to do: \(part)") }
        try Question.confirm("repair \(opened.url.redacted)?", isConfirmed: yes)
        // Not before the question: a signal is to end the wait for its answer.
        Interruption.watch()
        if let removeUnreadable, plan.removesUnreadable { try save(plan, of: opened, engine, in: removeUnreadable) }
        opened.close()
        try run(plan, engine)
    }

    /// Prints the number of findings that a repair mends.
    private func report(_ plan: StoreRepair, _ store: OpenStore) throws {
        do throws(StorageError) { try plan.checkIsPossible(in: store) } catch {
            return Console.error("polystore: check --repair mends none of \(plan.findings) findings: \(error.message)")
        }
        Console.error("polystore: check --repair mends \(plan.findings - plan.unmended) of \(plan.findings) findings")
    }

    /// Writes what the repair removes because it cannot be decoded.
    private func save(_ plan: StoreRepair, of opened: Stores.Opened, _ engine: TransferEngine, in path: String) throws {
        try Stores.checkIsNoPart(path, of: opened)
        try Stores.check(output: path, from: nil)
        let file = try AppendedFile(path)
        try engine.unreadable(of: opened.store, in: plan) { line throws(StorageError) in file.add(line) }
        try file.finish()
    }

    private func run(_ plan: StoreRepair, _ engine: TransferEngine) throws {
        let opened = try Stores.open(store, readOnly: false)
        defer { opened.close() }
        let rest = FindingList(limit: limit, isJSON: json, isRest: true)
        let report = try engine.repair(opened.store, plan, report: { Console.error("done: \($0)") }) { finding in rest.add(finding) }
        rest.finish()
        Console.error("polystore: made \(report.changes) changes; \(report.remaining) findings are left")
        if report.remaining > 0 { throw Failure.differs }
    }
}
