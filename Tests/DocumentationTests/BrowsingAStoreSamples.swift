#if Macros
import Polystore
import PolystoreBrowsing
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of "Browsing a Store".
@Suite(.scratch) struct BrowsingAStoreSamples {
    @Model final class Order: ManagedObject {
        var total: Int = 0
    }

    @Test func aPageOfAStoreIsMade() throws {
        let stack = try DataStack(Order.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("shop.db")))
        try stack.perform(synchronous: { transaction in
            for total in [400, 612] { try transaction.create(Order.self).total = total }
        })
        let storage = SQLiteStore(path: scratch("shop.db"))
        let store = try OpenStore(opening: storage, OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
        let answer = StoreBrowser(store, name: "shop").answer("/e/Order?where=total%20%3E%20500")
        #expect(answer.status == 200 && answer.body.contains("612") && !answer.body.contains("400"))
    }
}
#endif
