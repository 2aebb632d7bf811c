import Foundation
import Polystore
import PolystoreCatalog

/// Commits notes one by one, each with an entry in the history: polystore-crash --record URL COUNT; it says the number of each when its
/// commit was acknowledged.
struct Recording {
    let url: String

    func run(_ count: Int) throws {
        let stack = try DataStack(schema: Schema(entities: [Entity("Note", attributes: [Attribute("number", .int64)])]))
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: nil))
        for number in 1...count {
            try stack.perform(synchronous: { transaction in
                try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.int(Int64(number)), for: "number")
            })
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
    }
}
