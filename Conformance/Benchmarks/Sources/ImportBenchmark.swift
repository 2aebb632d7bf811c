import Foundation
import Polystore
import PolystoreCatalog

/// A comparison of imports under unique IDs with the same number of plain inserts, and with half as many; one store at a time.
struct ImportBenchmark {
    let store: String
    let place: Places
    let count: Int
    let rounds: Int
    let report: (Measurement) -> Void

    func run() throws {
        var plain = Measurement("import-unique", store: store, against: "plain", count: count)
        try plain.run(rounds: rounds, ours: { try unique(count) }, theirs: { try self.plain(count) })
        report(plain)
        var half = Measurement("import-unique", store: store, against: "half", count: count)
        try half.run(rounds: rounds, ours: { try unique(count * 2) }, theirs: { try unique(count) })
        report(half)
        // The growth of trees and the caches of the machine for twice as many rows, independent of any lookup.
        var growth = Measurement("import-plain", store: store, against: "half", count: count)
        try growth.run(rounds: rounds, ours: { try self.plain(count * 2) }, theirs: { try self.plain(count) })
        report(growth)
    }

    private static func sources(_ count: Int) -> [ItemSource] {
        (0..<count).map { ItemSource(code: "item-\($0 &* 7919 % 1_000_003)-\($0)", title: "title \($0)", amount: Double($0)) }
    }

    private func withStack(_ body: (DataStack) throws -> Double) throws -> Double {
        let stack = try DataStack(Item.self)
        let opened = try StoreCatalog.standard.store(at: StoreURL(try place.url(store)), configuration: nil)
        try stack.addStorageAndWait(opened)
        defer { try? stack.removeStorage(opened) }
        return try body(stack)
    }

    private func plain(_ count: Int) throws -> Double {
        let sources = Self.sources(count)
        return try withStack { stack in
            try nanoseconds {
                try stack.perform(synchronous: { _ = try $0.importObjects(Into<Item>(), sourceArray: sources) })
            }
        }
    }

    /// Imports `count` sources into the same number of existing objects: half of the sources match one, half are new.
    private func unique(_ count: Int) throws -> Double {
        let sources = Self.sources(count), others = Self.sources(count * 2)
        return try withStack { stack in
            try stack.perform(synchronous: { _ = try $0.importObjects(Into<Item>(), sourceArray: others[(count / 2)..<(count * 3 / 2)]) })
            return try nanoseconds {
                try stack.perform(synchronous: { _ = try $0.importUniqueObjects(Into<Item>(), sourceArray: sources) })
            }
        }
    }
}

struct ItemSource {
    let code: String
    let title: String
    let amount: Double
}

extension Item: ImportableUniqueObject {
    static var uniqueIDKeyPath: String { "code" }
    var uniqueIDValue: String {
        get { code }
        set { code = newValue }
    }
    static func uniqueID(from source: ItemSource, in transaction: BaseTransaction) throws -> String? { source.code }
    func update(from source: ItemSource, in transaction: BaseTransaction) throws {
        title = source.title
        amount = source.amount
        seen += 1
    }
    func didInsert(from source: ItemSource, in transaction: BaseTransaction) throws {
        code = source.code
        try update(from: source, in: transaction)
    }
}
