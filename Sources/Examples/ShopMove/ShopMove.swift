import ArgumentParser
import Foundation
import PolystoreCatalog
import PolystoreStorage
import PolystoreTransfer

/// Moves the store of the shop's first version, whose prices are texts, into a store of the second one.
@main struct ShopMove: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Moves a shop to another store, with the names and types of its second version.")
    @Argument(help: "The URL of the store of the first version.") var source: String
    @Argument(help: "The URL of the new store.") var target: String
    @Flag(help: "Leaves out the products whose price is no number, and lists them.") var skip = false

    /// What the second version calls differently, and what has another type.
    static let mapping = TransferMapping(
        renames: ["Product": "Article", "Product.label": "name"], types: ["Product.price": .init(.decimal)])

    func run() throws {
        let catalog = StoreCatalog.standard
        let old = try OpenStore(opening: catalog.store(at: StoreURL(source), configuration: nil), OpenRequest(schema: nil))
        defer { try? old.close() }
        let schema = try Self.mapping.schema(for: old.schema)
        let new = try OpenStore(opening: catalog.store(at: StoreURL(target), configuration: nil), OpenRequest(schema: schema))
        defer { try? new.close() }
        var options = TransferOptions()
        options.mapping = Self.mapping
        if skip { options.onError = .skip() }
        // The same command continues a transfer that was interrupted.
        let report = try TransferEngine().transfer(from: old, to: new, options) { progress in
            if progress.allDone == progress.allTotal { FileHandle.standardError.write(Data("\(progress.name): \(progress.done)\n".utf8)) }
        }
        for row in report.rejected { print("left out: \(row.reason)") }
        print("moved \(report.items.reduce(0) { $0 + $1.digest.count }) objects", report.isVerified ? "and verified them" : "")
    }
}
