import Foundation
import Polystore
import PolystoreCatalog

/// Commits of many objects of a kilobyte each, for a test in which there is no room for all: polystore-crash --bulky URL COUNT…, one commit
/// for each count. It says what became of each, and goes on.
struct Bulky {
    let url: String

    func run(_ counts: [Int]) throws {
        let stack = try DataStack(
            schema: Schema(entities: [Entity("Item", attributes: [Attribute("part", .int64), Attribute("text", .string)])]))
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: nil))
        for (number, count) in counts.enumerated() {
            do {
                try commit(count, of: Int64(number), stack)
                print("\(number) done")
            } catch let error as StorageError {
                print("\(number) \(error.code)")
            }
        }
    }

    private func commit(_ count: Int, of number: Int64, _ stack: DataStack) throws {
        let text = String(repeating: "x", count: 1000)
        try stack.perform(synchronous: { transaction in
            for _ in 0..<count {
                let object = try transaction.create(Into<DynamicObject>(entity: "Item"))
                try object.setValue(.int(number), for: "part")
                try object.setValue(.string(text), for: "text")
            }
        })
    }
}
