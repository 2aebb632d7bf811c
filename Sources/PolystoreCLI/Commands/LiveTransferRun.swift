internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// The options of `polystore transfer` for a source that is in use.
struct LiveTransferOptions: ParsableArguments {
    @Flag(
        help: """
            Copy a store that is in use, and follow its changes until the command is interrupted. The same command continues.
            """)
    var live = false

    @Flag(
        help: """
            With --live: replace the source by the target as soon as little is left to follow. From then on write transactions of the \
            source are refused.
            """)
    var cutOver = false

    @Flag(help: "With --live: accept write transactions of the source again after an interrupted cut-over, and do nothing else.")
    var release = false

    func validate() throws {
        if !live, cutOver || release { throw ValidationError("--cut-over and --release are for a transfer with --live") }
        if cutOver, release { throw ValidationError("--cut-over and --release exclude each other") }
    }
}

/// A live transfer by the command line.
struct LiveTransferRun {
    let source: String
    let target: String
    let choice: LiveTransferOptions
    let verifies: Bool
    let isQuiet: Bool
    let json: Bool

    /// Seconds between two steps that follow the source.
    private static let interval = 0.1

    func run() throws {
        let from = try Stores.open(source, readOnly: false)
        defer { from.close() }
        Interruption.watch()
        let place = try TransferTarget(target)
        var options = TransferOptions()
        options.source = from.place
        options.isLive = true
        options.verifies = verifies
        let to = try place.open(from.schema, options)
        do {
            try run(from, to, place, options)
            to.opened.keep()
        } catch {
            guard let failure = error as? StorageError else { throw error }
            if to.abandon(failure, options), !isQuiet {
                Console.error("note: the target is kept; repeat the same command to continue")
            }
            throw failure
        }
    }

    private func run(
        _ from: Stores.Opened, _ to: TransferTarget.Opened, _ place: TransferTarget, _ options: TransferOptions
    ) throws {
        let transfer = try LiveTransfer(from: from.store, to: to.opened.store, options, limit: Interruption.limit)
        if choice.release {
            try transfer.release()
            return report("write transactions of \(from.url.redacted) are accepted again", [("released", "true")])
        }
        try copy(transfer)
        if !choice.cutOver { return try follow(transfer) }
        let result = try transfer.cutOver(to: place.redacted) { try to.opened.finish() }
        let pause = Double(result.pause.components.attoseconds) / 1e18 + Double(result.pause.components.seconds)
        let rows = result.verified.reduce(0) { $0 + $1.digest.count }
        let compared = result.verified.isEmpty ? "" : "; \(rows) rows were compared"
        report(
            "\(place.redacted) has replaced \(from.url.redacted), whose write transactions were refused for "
                + "\(String(format: "%.3f", pause)) s before\(compared)",
            [("pause", String(format: "%.6f", pause)), ("drained", "\(result.drained)"), ("compared", "\(rows)")])
    }

    private func copy(_ transfer: LiveTransfer) throws {
        if transfer.isCopied { return }
        let line = ProgressLine(isQuiet: isQuiet)
        defer { line.finish() }
        try transfer.copy(report: line.show)
    }

    /// Follows the source until the command is interrupted.
    private func follow(_ transfer: LiveTransfer) throws {
        // An interrupted cut-over is given up.
        try transfer.release()
        if !isQuiet { Console.error("note: everything is copied; changes are followed until the command is interrupted") }
        let line = ProgressLine(isQuiet: isQuiet)
        defer { line.finish() }
        var transactions = 0, objects = 0
        while !Interruption.isAsked {
            let followed: FollowedChanges
            do throws(StorageError) { followed = try transfer.follow() } catch {
                // A long transaction of the source delays the others.
                if error.code != .busy { throw error }
                line.show("waiting for a transaction of the source")
                continue
            }
            transactions += followed.transactions
            objects += followed.objects
            let lag = Double(followed.lag.components.attoseconds) / 1e18 + Double(followed.lag.components.seconds)
            line.show("followed \(transactions) transactions, \(objects) objects  \(String(format: "%.2f", lag)) s behind")
            Thread.sleep(forTimeInterval: Self.interval)
        }
        throw StorageError(.cancelled, "the transfer was interrupted; the target is not complete")
    }

    private func report(_ text: String, _ values: [(String, String)]) {
        if json { Console.print(JSONText.object(values)) } else if !isQuiet { Console.report(text) }
    }
}
