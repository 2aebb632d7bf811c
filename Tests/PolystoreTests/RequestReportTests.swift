import Foundation
import Polystore
import PolystoreInMemory
import Synchronization
import TestStores
import Testing

/// Remembers what a stack reports.
private final class Reports: StoreInstrumentation {
    private let all = Mutex<[RequestReport]>([])

    func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? { nil }
    func didEnd(_ report: TransactionReport, _ token: (any Sendable)?) {}
    func didAnswer(_ report: RequestReport) { all.withLock { $0.append(report) } }

    /// Returns the reports so far, and forgets them.
    func take() -> [RequestReport] {
        all.withLock { all in
            defer { all = [] }
            return all
        }
    }
}

/// Remembers the messages of its thread.
private final class Messages: StoreLogger {
    private let all = Mutex<[(thread: ObjectIdentifier, text: String)]>([])

    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        all.withLock { $0.append((ObjectIdentifier(Thread.current), "\(level) \(message)")) }
    }
    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {}
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {}

    var own: [String] { all.withLock { $0.filter { $0.thread == ObjectIdentifier(Thread.current) }.map(\.text) } }
}

/// The reports and the log of requests.
@Suite(.serialized) struct RequestReportTests {
    private func stack(_ store: TestStore = .memory) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for name in ["Ann", "Bob", "Cid"] {
                let person = try transaction.create(Person.self)
                (person.name, person.age) = (name, 30)
                try transaction.create(Dog.self).owner = person
            }
        })
        return stack
    }

    @Test func eachRequestOfAStackIsReportedOnce() async throws {
        let stack = try stack(), reports = Reports()
        stack.instrumentation = reports
        let all = From<Person>().where(\.age > 18).orderBy(.ascending(\.name))
        _ = try stack.fetchAll(all.limit(2))
        _ = try stack.fetchOne(From<Person>())
        _ = try stack.fetchCount(all)
        let ids = try stack.fetchIDs(all)
        _ = try stack.fetchPage(all.limit(1))
        _ = try stack.fetchExisting(ids)
        _ = try stack.queryAttributes(From<Person>().where(\.age > 18).select(.attribute(\.name)))
        for try await _ in stack.fetchStream(all) {}
        let shape = "Person where age > ? order by name"
        let found = reports.take()
        #expect(found.map(\.kind) == [.fetch, .fetch, .count, .ids, .page, .lookup, .values, .cursor])
        #expect(found.map(\.rows) == [2, 1, 1, 3, 1, 3, 3, 3])
        #expect(
            found.map(\.shape) == [
                "\(shape) limit 2", "Person limit 1", shape, shape, "\(shape) limit 1", "Person", "Person where age > ? select name", shape,
            ])
        #expect(found.allSatisfy { $0.entity == "Person" && $0.failure == nil && $0.duration >= .zero })
    }

    @Test func requestsOfTransactionsAndReadsAreReported() async throws {
        let stack = try stack(), reports = Reports()
        stack.instrumentation = reports
        try await stack.perform { _ = try $0.fetchAll(From<Person>()) }
        try await stack.read { _ = try $0.fetchCount(From<Person>()) }
        #expect(reports.take().map(\.kind) == [.fetch, .count])
    }

    @Test func relationshipsThatWereNotPrefetchedAreReportedForEachObject() throws {
        let stack = try stack(), reports = Reports()
        stack.instrumentation = reports
        for dog in try stack.fetchAll(From<Dog>()) { _ = dog.owner?.name }
        let lazy = reports.take()
        #expect(lazy.map(\.shape) == ["Dog", "Dog.owner", "Dog.owner", "Dog.owner"])
        #expect(lazy.dropFirst().allSatisfy { $0.kind == .relationship && $0.rows == 1 })
        for dog in try stack.fetchAll(From<Dog>().prefetch(\.owner)) { _ = dog.owner?.name }
        #expect(reports.take().map(\.shape) == ["Dog prefetch owner"])
    }

    @Test func failuresAreReportedWithTheirCode() throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self), reports = Reports()
        stack.instrumentation = reports
        #expect(throws: StorageError.self) { try stack.fetchAll(From<Person>()) }
        #expect(reports.take().map(\.failure) == [.notFound])
    }

    @Test func shapesContainNoValues() throws {
        let stack = try stack(.sqlite), reports = Reports(), secret = "s3cret"
        stack.instrumentation = reports
        let isNamed = \Person.name == secret || (\Person.name).isIn([secret, "x"]) || (\Person.name).beginsWith(secret)
        _ = try stack.fetchAll(From<Person>().where(isNamed))
        _ = try stack.queryRows("SELECT 'it''s \("x")' AS a, \(column: \Person.name) FROM \(table: Person.self) WHERE 'a' = \(secret)")
        _ = try stack.perform(synchronous: { try $0.execute("UPDATE \(table: Person.self) SET \(column: \Person.name) = \(secret)") })
        let found = reports.take()
        #expect(
            found.map(\.shape) == [
                "Person where (name == ?) OR (name IN {?}) OR (name BEGINSWITH ?)", "SELECT ? AS a, Person.name FROM Person WHERE ? = ?",
                "UPDATE Person SET Person.name = ?",
            ])
        #expect(found.map(\.kind) == [.fetch, .sql, .execute])
        #expect(found.map(\.rows) == [0, 0, 3])
        #expect(!found.contains { "\($0)".contains(secret) })
    }

    @Test func slowRequestsAreWarnings() throws {
        let messages = Messages()
        try ProcessLogger.replaced(by: messages) {
            let stack = try stack()
            _ = try stack.fetchAll(From<Person>())
            stack.slowRequest = .seconds(60)
            _ = try stack.fetchAll(From<Person>())
            #expect(messages.own.isEmpty)
            stack.slowRequest = .zero
            _ = try stack.fetchAll(From<Person>().where(\.age > 18))
            #expect(messages.own.count == 1)
            #expect(messages.own[0].hasPrefix("warning slow request: fetch Person where age > ?: 3 rows in "))
        }
    }

    @Test func allRequestsAreLoggedWhereTheProgramWants() throws {
        let messages = Messages()
        try ProcessLogger.replaced(by: messages) {
            let stack = try stack()
            stack.logsRequests = true
            _ = try stack.fetchCount(From<Person>())
            stack.logsRequests = false
            _ = try stack.fetchCount(From<Person>())
            #expect(messages.own.count == 1)
            #expect(messages.own[0].hasPrefix("trace count Person: 1 row in ") && messages.own[0].hasSuffix(" ms"))
        }
    }

    @Test func anOutageIsReportedOnceAndItsEndToo() throws {
        let messages = Messages()
        try ProcessLogger.replaced(by: messages) {
            let store = HookedStore(InMemoryStore()), stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(store)
            store.setHook { event throws(StorageError) in
                if event == .beginRead || event == .beginWrite { throw StorageError(.connectionLost, "a failure") }
            }
            for _ in 0..<3 { _ = try? stack.fetchCount(From<Person>()) }
            _ = try? stack.perform(synchronous: { _ = try $0.create(Person.self) })
            #expect(messages.own == ["warning the hooked store cannot be reached: a failure"])
            store.setHook(nil)
            for _ in 0..<3 { _ = try stack.fetchCount(From<Person>()) }
            #expect(messages.own.dropFirst() == ["notice the hooked store can be reached again"])
        }
    }
}
