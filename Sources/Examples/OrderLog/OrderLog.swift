import ArgumentParser
import Foundation
import Polystore
import PolystoreCatalog

/// Writes a line for each order that is new or newly paid, whichever program has committed it, also while this one was not running.
@main struct OrderLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Writes what happens to the orders of a store.")
    @Argument(help: "The URL of the store.") var store: String
    @Flag(help: "Ends after what has happened until now.") var once = false
    @Option(help: "Adds or pays the order of a number, as the shop does.") var order: Int?

    func run() async throws {
        let stack = try DataStack(Order.self)
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(store)))
        if let order {
            return try await stack.perform(author: "shop") { transaction in
                let known = try transaction.fetchOne(From<Order>().where(\.number == order))
                if let known { known.isPaid = true } else { try transaction.create(Order.self).number = order }
            }
        }
        // The commits are requested before the history is read, so that none is missed between the two.
        let commits = try stack.commits()
        let consumer = try stack.historyConsumer("order-log")
        try consumer.register(from: .beginning)
        try write(consumer, stack)
        if once { return }
        for await _ in commits { try write(consumer, stack) }
    }

    /// Writes what the consumer has not processed. After a crash the lines of the last page are written again.
    private func write(_ consumer: HistoryConsumer, _ stack: DataStack) throws {
        while true {
            let page = try consumer.next()
            for transaction in page.transactions {
                for id in transaction.changes.insertedObjectIDs(Order.self) { try write("new", id, transaction, stack) }
                for id in transaction.changes.updatedObjectIDs(Order.self) where transaction.changes.changedKeys(of: id).contains("isPaid")
                {
                    try write("paid", id, transaction, stack)
                }
            }
            try consumer.acknowledge(page.next)
            if page.isLast { return }
        }
    }

    private func write(_ event: String, _ id: ObjectID<Order>, _ transaction: HistoryTransaction, _ stack: DataStack) throws {
        // It can be deleted by now.
        guard let order = try stack.fetchExisting(id) else { return }
        // `print` would keep lines back when the output is a pipe.
        FileHandle.standardOutput.write(Data("\(event) \(order.number) by \(transaction.author)\n".utf8))
    }
}
