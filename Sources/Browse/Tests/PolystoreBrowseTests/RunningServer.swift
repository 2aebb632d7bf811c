import Foundation
import Logging
import PolystoreBrowse
import PolystoreBrowsing
import PolystoreInMemory
import PolystoreStorage
import ServiceLifecycle
import Testing

/// A server over a store in memory, while a test runs.
struct RunningServer: Sendable {
    let store: OpenStore
    let client: Client
    let token: String

    /// Runs a server until `body` returns.
    static func with(_ body: @Sendable (RunningServer) async throws -> Void) async throws {
        let schema = try Schema(entities: [Entity("Note", attributes: [Attribute("text", .string)])])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let (addresses, reported) = AsyncStream<String>.makeStream()
        let server = BrowseServer(StoreBrowser(store, name: "notes")) { reported.yield($0) }
        var configuration = ServiceGroupConfiguration(services: [.init(service: server)], logger: Logger(label: "tests"))
        configuration.maximumGracefulShutdownDuration = .seconds(10)
        let group = ServiceGroup(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = addresses.makeAsyncIterator()
            let address = try #require(await iterator.next())
            let url = try #require(URLComponents(string: address))
            let running = RunningServer(
                store: store, client: Client(port: try #require(url.port)), token: try #require(url.queryItems?.first?.value))
            do { try await body(running) } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Exchanges the token for the cookie.
    func enter() async throws -> String {
        try #require(try await client.get("/?token=\(token)").cookie)
    }

    /// Inserts a note.
    @discardableResult
    func insert(_ text: String, author: String = "tests") throws -> Int64 {
        let writer = try store.beginWrite()
        defer { writer.end() }
        let key = try writer.reserveKeys(0, count: 1).lowerBound
        let source = RowSource(count: 1) { _, batch in
            batch.appendRow(key: key, version: 1, entity: 0, slots: 1).initialize(to: batch.cell(for: .string(text)))
        }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: source)]))
        _ = try writer.commit(CommitRecord(author: author))
        return key
    }
}
