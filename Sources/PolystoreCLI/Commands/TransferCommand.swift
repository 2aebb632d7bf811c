internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore transfer`.
struct TransferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer", abstract: "Copies all objects from one store to another, and verifies the copy.",
        discussion: """
            Primary keys are preserved. The target is created if it does not exist; a target with objects is refused unless --if-exists says \
            what happens to them. The positions of consumers of the history are not copied; after --live with --cut-over they are expired.

            --history gives a new target the transactions of the source with their times, authors and changes. Their tokens are new: those of the source \
            are refused as expired, so consumers begin again. Where the source or the target keeps no history, the objects are copied without it.

            A new target is filled in steps. If the transfer is interrupted, even by the end of its process, what it has copied remains, and \
            the same command continues. Until then the target is called NAME.partial, or cannot be opened. A target that exists is changed \
            in one transaction.

            --live copies a store that is in use and follows its changes; with --cut-over the target then replaces the source, whose write \
            transactions are refused from that moment. After that, --live in the opposite direction keeps the former source up to date.

            --only, --except and --where choose a part of the objects. References to objects that are not copied are refused; --closure copies \
            these objects as well, and --accept-loss ENTITY.RELATIONSHIP makes the references nil. With it an object may also have fewer members \
            than the model requires.

            --rename gives entities and properties other names in the target, and --type gives attributes other types. All other options use \
            the names of the source. A value that has no exact equivalent of the new type is refused; --accept-loss ENTITY.ATTRIBUTE copies the nearest \
            value, or nil if there is none and the attribute is optional.

            --on-error skip leaves rows out that the target cannot take, such as a value without an equivalent, a value that breaks a rule of the \
            model, a duplicate, or a row of another program's database that cannot be read. They are in the file of --rejects, from which \
            polystore load reads them after a correction. The exit code is then 3, and the comparison includes all other rows.

            --rate and --memory limit the copy, and while the file of --throttle-file exists, it waits. --workers says how many threads copy.

            --plan reads the source completely and shows what would be copied and what would prevent it. It opens the target only for reading \
            and writes nothing; the exit code is 1 if the transfer would be refused.
            """)

    @Argument(help: "The store to copy from, as a URL.", completion: ShellCompletion.store)
    var source: String

    @Argument(help: "The store to copy to, as a URL.", completion: ShellCompletion.store)
    var target: String

    @OptionGroup
    var chosen: TransferredObjects

    @OptionGroup
    var changed: TransferredModel

    @Option(
        help: """
            What happens to a target with objects: fail; append adds objects, none of which may exist; merge also updates those that exist; \
            replace also deletes all others.
            """, completion: .list(TransferOptions.ExistingObjects.allCases.map(\.rawValue)), transform: existing)
    var ifExists = TransferOptions.ExistingObjects.fail

    @Flag(
        help: "Replace the objects of the target without asking; with --release, release the source although the target cannot be opened.")
    var yes = false

    @Flag(help: "Show what would be copied and what would prevent it, and write nothing.")
    var plan = false

    @Flag(help: "Print the result or the plan as JSON.")
    var json = false

    @Flag(help: "Also copy the history of the source, with its times, authors and changes, into a target without one.")
    var history = false

    @Flag(help: "Do not compare the stores after the copy.")
    var noVerify = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: """
            A loss that is accepted; can be repeated: the path of data of a foreign database that cannot be read, the relationship of \
            references that become nil, or the attribute of --type whose values become the nearest ones.
            """)
    var acceptLoss: [String] = []

    @OptionGroup
    var errors: TransferErrorOptions

    @OptionGroup
    var pace: TransferPaceOptions

    @OptionGroup
    var live: LiveTransferOptions

    @Option(
        help: """
            How the target keeps the objects: polystore makes a store; plain makes tables as a person would declare them in \
            SQL, for targets in SQL databases, and --plan prints their statements.
            """)
    var layout = TransferLayout.polystore

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    private static func existing(_ text: String) throws -> TransferOptions.ExistingObjects {
        if let found = TransferOptions.ExistingObjects(rawValue: text) { return found }
        let names = TransferOptions.ExistingObjects.allCases.map(\.rawValue)
        throw ValidationError("--if-exists is one of \(names.joined(separator: ", "))\(Suggestion.nearest(text, in: names))")
    }

    func validate() throws {
        if ifExists == .replace, !(try chosen.selection().isAll) {
            throw ValidationError("--if-exists replace copies all objects; use merge to copy a part of them")
        }
        if live.live {
            let isWhole = try chosen.selection().isAll && changed.mapping().isEmpty && ifExists == .fail && acceptLoss.isEmpty
            if !isWhole || plan || layout != .polystore {
                throw ValidationError(
                    "--live copies all objects as they are, without --plan, --layout, --if-exists, --accept-loss, a choice, or other names and types"
                )
            }
        }
        if errors.onError == .skip, errors.rejects == nil, !plan {
            throw ValidationError("--on-error skip needs a file for the rows that are left out: --rejects FILE")
        }
        if let rejects = errors.rejects, let file = pace.throttleFile, Self.isSame(rejects, file) {
            throw ValidationError("--rejects and --throttle-file name the same file, so the transfer would wait for itself")
        }
        if history {
            let isWhole = try chosen.selection().isAll && changed.mapping().isEmpty && ifExists == .fail && errors.onError == .stop
            if !isWhole || live.live || layout != .polystore {
                throw ValidationError(
                    "--history is for a copy of all objects as they are into a store, without --live, --layout, --if-exists, --on-error, a choice, "
                        + "or other names and types")
            }
        }
        if live.live || layout == .plain, errors.onError == .skip || pace.isGiven {
            throw ValidationError(
                "--on-error, --rate, --memory, --throttle-file and --workers are for a transfer into a store, without --live and --layout plain"
            )
        }
        try layout.check(ifExists, isMapped: try !changed.mapping().isEmpty)
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        func place(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path }
        return place(one) == place(other)
    }

    func run() throws {
        if live.live {
            return try LiveTransferRun(
                source: source, target: target, choice: live, verifies: !noVerify, isCertain: yes, isQuiet: quiet, json: json
            ).run()
        }
        let from = try Stores.open(source, isScanned: true)
        defer { from.close() }
        Interruption.watch()
        if layout == .plain { return try transferTables(from) }
        let place = try TransferTarget(target)
        var options = try options(from)
        if plan { return try showPlan(from, place, options) }
        if !quiet { for note in try from.remarks + notes(from) { Console.error("note: \(note)") } }
        try refuseLosses(from)
        let output = try errors.rejects.map { path throws(StorageError) in try TransferRejectsOutput(path, from: from, to: place) }
        if let output {
            options.receiveRejects = { rejects throws(StorageError) in try output.write(rejects) }
        }
        // A database of another program would get tables and triggers before the copy is refused.
        if let obstacle = try place.obstacle(to: from, try options.mapping.schema(for: from.schema), options) {
            throw obstacle.naming(place.url)
        }
        if ifExists == .replace, let count = try place.count(), count > 0 {
            try Question.confirm("replace the \(Console.counted(count)) of \(place.redacted)?", isConfirmed: yes)
        }
        let start = Date(), report = try copy(from, place, options)
        if json {
            Console.print(report.json)
        } else if !quiet {
            for line in TransferText.lines(report, seconds: Date().timeIntervalSince(start)) { Console.report(line) }
        }
        if report.rejected.isEmpty { return }
        output?.show(report.rejected, isQuiet: quiet)
        throw Failure.incomplete
    }

    /// Returns the options of the transfer.
    ///
    /// - Parameter losses: The names of further losses that can be accepted.
    func options(_ from: Stores.Opened, acceptable others: [String] = []) throws -> TransferOptions {
        var options = TransferOptions()
        options.source = ifExists == .fail ? from.place : nil
        options.selection = try chosen.selection()
        options.mapping = try changed.mapping()
        // A mapping that does not fit is refused before a loss that names its attributes.
        _ = try options.mapping.schema(for: from.schema)
        options.existing = ifExists
        options.acceptedLosses = Set(acceptLoss)
        let losses = from.store.ability((any ForeignStorage).self)?.losses ?? []
        let references = from.schema.descriptions.flatMap { entity in
            entity.relationships.map { "\(entity.name).\($0.relationship.name)" }
        }
        let known = losses + references + others + [TransferOptions.jointCommits] + options.mapping.types.keys.sorted()
        if let unknown = acceptLoss.first(where: { !known.contains($0) }) {
            let near = Suggestion.nearest(unknown, in: known)
            throw StorageError(.invalidConfiguration, "--accept-loss '\(unknown.excerpt())' names nothing that the copy could lack\(near)")
        }
        options.includesHistory = history
        options.verifies = !noVerify
        options.onError = errors.treatment
        options.pace = try pace.pace()
        options.workers = pace.threads
        return options
    }

    /// Copies the objects. A copy in steps begins again if the source has changed since an interruption.
    private func copy(_ from: Stores.Opened, _ place: TransferTarget, _ options: TransferOptions) throws(StorageError) -> TransferReport {
        let engine = TransferEngine(limit: Interruption.limit)
        // The options are known to fit before a target is made.
        let work = try engine.begin(from: from.store, options)
        defer { work.end() }
        while true {
            let to = try place.open(work.schema, options)
            do throws(StorageError) {
                let report = try transfer(work, to, engine)
                try to.opened.finish()
                return report
            } catch  where to.isInSteps && to.isOutdated(error, options) {
                let reason =
                    work.hasRefusedRows
                    ? "rows were found that the target refuses" : "the source has changed since the transfer was interrupted"
                if !quiet { Console.error("note: \(reason), so it begins again") }
                to.discard()
            } catch {
                if to.abandon(error, options), !quiet {
                    Console.error("note: the target remains as far as it was copied; repeat the same command to continue")
                }
                guard error.code == .alreadyExists, let name = to.opened.made?.name else { throw error }
                throw StorageError(error.code, "\(name): \(error.message)", details: error.details, cause: error)
            }
        }
    }

    private func transfer(
        _ work: TransferWork, _ to: TransferTarget.Opened, _ engine: TransferEngine
    ) throws(StorageError) -> TransferReport {
        let line = ProgressLine(isQuiet: quiet)
        defer { line.finish() }
        return try engine.run(work, to: to.opened.store, isInSteps: to.isInSteps, report: line.show)
    }

    /// Returns notes about data of a Polystore store that is not copied, or whose meaning changes in the copy.
    func notes(_ from: Stores.Opened) throws(StorageError) -> [String] {
        let reader = try from.store.beginRead()
        defer { reader.end() }
        var notes: [String] = []
        if !history, from.store.capabilities.contains(.history), let token = try reader.currentToken(), token.position > 0 {
            notes.append("the history of the source is not copied (--history copies it); the target starts a new history")
        }
        for entity in from.schema.entities {
            for attribute in entity.attributes where attribute.crossReference != nil {
                notes.append("\(entity.name).\(attribute.name) still refers to the original stores, even if they were copied too")
            }
        }
        return notes
    }

    /// Prints what a transfer would copy.
    ///
    /// - Throws: `Failure.differs` if it would be refused.
    private func showPlan(_ from: Stores.Opened, _ place: TransferTarget, _ options: TransferOptions) throws {
        var obstacles = unacceptedLosses(from).map { "data of \($0) cannot be read and would be missing" }
        let obstacle = try place.obstacle(to: from, try options.mapping.schema(for: from.schema), options)
        obstacles += [obstacle?.message].compactMap { $0 }
        var options = options, notes = try from.remarks + notes(from)
        if options.includesHistory, let reason = PastTransactions.obstacle(from: from.store, to: place.storage) {
            options.includesHistory = false
            notes.append("the history would be left out, because \(reason)")
        }
        let (plan, refusal) = try transferPlan(from, obstacle == nil ? place : nil, options)
        if options.includesHistory, let count = plan?.transactions {
            notes.append("\(count) transactions of the history would be copied")
        }
        obstacles += [refusal].compactMap { $0 } + (plan?.refusals ?? [])
        let removed = (plan?.removedReferences ?? [:]).sorted { $0.key < $1.key }
        let omitted = (plan?.omittedMembers ?? [:]).sorted { $0.key < $1.key }
        let text = PlanText(
            source: from.url.redacted, target: place.redacted, items: plan?.items ?? [], renames: plan?.renames ?? [],
            casts: plan?.casts ?? [],
            notes: notes + removed.map { "\($0.value) references of \($0.key) would become nil" }
                + omitted.map { "\($0.value) members of \($0.key) would be left out, because only one side would be copied" }
                + (plan?.rejected ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) rows of \($0.key) would be left out" },
            obstacles: obstacles)
        Console.print(json ? text.json : text.lines.joined(separator: "\n"))
        if text.isRefused { throw Failure.differs }
    }

    /// Returns what would be copied, or why the options cannot be carried out.
    private func transferPlan(
        _ from: Stores.Opened, _ place: TransferTarget?, _ options: TransferOptions
    ) throws(StorageError) -> (plan: TransferPlan?, refusal: String?) {
        let reader = try from.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        let target = ifExists == .fail ? nil : try place?.existing()
        defer { target?.close() }
        let present = try target?.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { present?.end() }
        let line = ProgressLine(isQuiet: quiet)
        defer { line.finish() }
        do throws(StorageError) {
            return (try TransferPlan(reader, to: present, options, Interruption.limit, line.show), nil)
        } catch {
            switch error.code {
            case .dataLossRefused, .invalidConfiguration, .invalidPredicate: return (nil, error.message)
            case .limitExceeded where errors.onError == .skip: return (nil, error.message)
            default: throw error
            }
        }
    }

    func unacceptedLosses(_ from: Stores.Opened) -> [String] {
        (from.store.ability((any ForeignStorage).self)?.losses ?? []).filter { !acceptLoss.contains($0) }
    }

    /// Refuses a copy that would lack stored data, unless the loss was accepted.
    func refuseLosses(_ from: Stores.Opened) throws(StorageError) {
        let losses = unacceptedLosses(from)
        if losses.isEmpty { return }
        let options = losses.map { "--accept-loss '\($0)'" }.joined(separator: " ")
        throw StorageError(
            .dataLossRefused,
            "the copy would lack data of \(losses.joined(separator: ", ")) that cannot be read (polystore info shows why); accept the loss with \(options)"
        )
    }
}
