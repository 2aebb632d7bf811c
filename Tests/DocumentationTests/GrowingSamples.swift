#if Macros
import Foundation
import Polystore
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of "Growing".
@Suite(.scratch) struct GrowingSamples {
    @Model(indexes: [Index(["kind", "time"])]) final class Event: ManagedObject {
        var kind: String = ""
        var time: Date = .now
    }

    @Test func aProgramGrows() async throws {
        let stack = try DataStack(Event.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("events.db")))
        try await stack.perform { transaction in
            for number in 0..<100 { try transaction.create(Event.self).kind = number % 4 == 0 ? "login" : "view" }
        }
        let request = From<Event>().where(\.kind == "login").orderBy(.descending(\.time)).limit(50)
        let explanation = try stack.explain(request, analyze: true)
        print(explanation)
        #expect(explanation.isExact && explanation.answer?.count == 25)
        var seen = 0
        for try await event in stack.fetchStream(From<Event>().batchSize(500)) { seen += event.kind == "login" ? 1 : 0 }
        let kinds = try stack.queryAttributes(From<Event>().select(.attribute(\.kind), .count(as: "n")).groupBy(\.kind))
        #expect(seen == 25 && kinds.count == 2)
        let outcome = try stack.purgeHistory(.olderThan(.seconds(30 * 86_400)))
        print(outcome.removed)
        #expect(printed.last == "0")
    }
}
#endif
