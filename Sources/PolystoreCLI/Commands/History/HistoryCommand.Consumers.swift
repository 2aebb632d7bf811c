internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

extension HistoryCommand {
    /// `polystore history consumers`.
    struct Consumers: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "consumers", abstract: "Lists the registered consumers of a store's history, and how far each is behind.")

        @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Flag(help: "Print each consumer as one line of JSON.")
        var json = false

        @Option(
            parsing: .unconditionalSingleValue, help: "First remove this consumer, so that it no longer prevents purges; can be repeated.")
        var forget: [String] = []

        func run() throws {
            let opened = try Stores.open(store, readOnly: forget.isEmpty)
            defer { opened.close() }
            if !opened.store.capabilities.contains(.history) { throw StorageError.keepsNoHistory }
            for name in forget { try remove(name, opened) }
            let reader = try opened.store.beginRead()
            defer { reader.end() }
            let consumers = HistoryConsumers(reader)
            for offset in try consumers.all() { try show(offset, consumers) }
        }

        private func remove(_ name: String, _ opened: Stores.Opened) throws(StorageError) {
            try HistoryConsumers.write({ options throws(StorageError) in try opened.store.beginWrite(options) }) {
                writer throws(StorageError) in
                _ = try HistoryConsumers(writer).offset(name)
                try HistoryConsumers.unregister(name, writer)
            }
        }

        private func show(_ offset: HistoryOffset, _ consumers: HistoryConsumers) throws(StorageError) {
            var lag: HistoryOffsetLag?
            do throws(StorageError) { lag = try consumers.lag(of: offset) } catch  where error.code == .tokenExpired {}
            let seen = ISO8601.string(offset.seen), oldest = (lag?.oldest).map(ISO8601.string)
            guard json else {
                let behind = lag.map { "\($0.transactions) behind" + (oldest.map { " since \($0)" } ?? "") } ?? "expired"
                return Console.print("\(offset.name)  \(offset.token)  \(behind)  seen \(seen)")
            }
            Console.print(
                JSONText.object([
                    ("name", JSONText.string(offset.name)), ("token", JSONText.string(offset.token.description)),
                    ("registered", JSONText.string(ISO8601.string(offset.registered))), ("seen", JSONText.string(seen)),
                    ("expired", lag == nil ? "true" : "false"), ("behind", lag.map { String($0.transactions) } ?? "null"),
                    ("oldest", JSONText.string(oldest)),
                ]))
        }
    }
}
