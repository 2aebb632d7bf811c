internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

extension HistoryCommand {
    /// `polystore history purge`.
    struct Purge: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "purge", abstract: "Deletes transactions of the history that no consumer needs.",
            discussion: """
                A transaction that a registered consumer has not acknowledged is never deleted.

                Example: polystore history purge sqlite:shop.db --older-than 30d
                """)

        @Argument(help: "The store whose history to purge, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Option(parsing: .unconditional, help: "Delete all transactions up to this token.")
        var through: String?

        @Option(parsing: .unconditional, help: "Delete transactions older than this: a number with s, m, h or d.")
        var olderThan: String?

        @Flag(help: "Delete the transactions that all consumers have acknowledged.")
        var acknowledged = false

        @Option(parsing: .unconditional, help: "Ignore consumers that were inactive for this long: a number with s, m, h or d.")
        var ignoreUnseen: String?

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws {
            let bounds = (through == nil ? 0 : 1) + (olderThan == nil ? 0 : 1) + (acknowledged ? 1 : 0)
            if bounds != 1 { throw ValidationError("specify what to delete with one of --through, --older-than and --acknowledged") }
            for text in [olderThan, ignoreUnseen].compactMap({ $0 }) { _ = try Self.seconds(text) }
        }

        func run() throws {
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            if !opened.store.capabilities.contains(.history) { throw StorageError.keepsNoHistory }
            let purge = HistoryPurge(try bound(opened), ignoresUnseenFor: try ignoreUnseen.map(Self.seconds))
            let outcome = try HistoryConsumers.write({ options throws(StorageError) in try opened.store.beginWrite(options) }) {
                writer throws(StorageError) in try purge.run(writer)
            }
            show(outcome)
        }

        private func bound(_ opened: Stores.Opened) throws -> HistoryPurge.Bound {
            if let through { return .through(try HistoryCommand.token(through, opened)) }
            return try olderThan.map { .olderThan(seconds: try Self.seconds($0)) } ?? .acknowledged
        }

        private func show(_ outcome: HistoryPurge.Outcome) {
            guard json else {
                Console.report("\(outcome.removed) transactions deleted\(outcome.through.map { ", up to \($0)" } ?? "")")
                if !outcome.heldBackBy.isEmpty { Console.report("held back by \(outcome.heldBackBy.joined(separator: ", "))") }
                if !outcome.ignored.isEmpty { Console.report("ignored: \(outcome.ignored.joined(separator: ", "))") }
                return
            }
            Console.report(
                JSONText.object([
                    ("removed", String(outcome.removed)), ("through", JSONText.string(outcome.through?.description)),
                    ("heldBackBy", JSONText.strings(outcome.heldBackBy)), ("ignored", JSONText.strings(outcome.ignored)),
                ]))
        }

        private static func seconds(_ text: String) throws -> Double {
            let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
            guard let unit = text.last.flatMap({ units[$0] }), let number = UInt32(text.dropLast()) else {
                throw ValidationError("\"\(text)\" is not a duration: write a number and s, m, h or d, such as 7d")
            }
            return Double(number) * unit
        }
    }
}
