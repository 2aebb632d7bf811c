internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// A live transfer by the command line.
struct LiveTransferRun {
    let source: String
    let target: String
    let choice: LiveTransferOptions
    let verifies: Bool
    /// Whether a fence is ended although the target cannot be opened.
    let isCertain: Bool
    let isQuiet: Bool
    let json: Bool

    /// Seconds between two steps that follow the source.
    private static let interval = 0.1

    func run() throws {
        // A source that the target has replaced is opened too, so that the same command can be repeated.
        let from = try Stores.open(source, readOnly: false, acceptsIncompleteCopy: true, isScanned: true)
        defer { from.close() }
        Interruption.watch()
        if choice.release { return try release(from) }
        let place = try TransferTarget(target)
        var options = TransferOptions()
        options.source = from.place
        options.isLive = true
        options.verifies = verifies
        let to = try place.open(from.schema, options)
        let transfer: LiveTransfer
        do throws(StorageError) {
            if !to.opened.store.capabilities.contains(.persistent) {
                throw StorageError(
                    .unsupported, "the target ends with this program, so it cannot replace a store; choose a target that keeps its objects")
            }
            transfer = try LiveTransfer(from: from.store, to: to.opened.store, options, limit: Interruption.limit)
        } catch {
            _ = to.abandon(error, options)
            throw error
        }
        defer { to.opened.keep() }
        do {
            try run(transfer, from, to, place)
        } catch {
            if !isQuiet { Console.error("note: the target is kept; repeat the same command to continue") }
            throw error
        }
    }

    private func run(
        _ transfer: LiveTransfer, _ from: Stores.Opened, _ to: TransferTarget.Opened, _ place: TransferTarget
    ) throws {
        try copy(transfer)
        if !choice.cutOver { return try follow(transfer) }
        let result = try transfer.cutOver(to: place.redacted) { try to.opened.finish() }
        let pause = Double(result.pause.components.attoseconds) / 1e18 + Double(result.pause.components.seconds)
        let rows = result.verified.reduce(0) { $0 + $1.digest.count }
        let compared = result.verified.isEmpty ? "" : "; \(rows) rows were compared"
        report(
            "\(place.redacted) has replaced \(from.url.redacted), whose write transactions had been refused for "
                + "\(String(format: "%.3f", pause)) s\(compared)",
            [("pause", String(format: "%.6f", pause)), ("drained", "\(result.drained)"), ("compared", "\(rows)")])
    }

    /// Ends the fence of an interrupted cut-over. Creates nothing.
    private func release(_ from: Stores.Opened) throws {
        let target = existingTarget()
        defer { target?.close() }
        let wasFenced = try LiveTransfer.release(from.store, target: target?.store, isCertain: isCertain)
        report(
            wasFenced
                ? "write transactions of \(from.url.redacted) are accepted again"
                : "write transactions of \(from.url.redacted) were not refused", [("released", "\(wasFenced)")])
    }

    /// Opens the target, also under its temporary name; nil if it cannot be opened.
    private func existingTarget() -> Stores.Opened? {
        if let opened = try? Stores.open(target, acceptsIncompleteCopy: true) { return opened }
        return try? Stores.open("\(target).partial", acceptsIncompleteCopy: true)
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
                if error.code != .timeout { throw error }
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
