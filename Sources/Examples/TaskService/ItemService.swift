import Foundation
import Hummingbird
import Polystore
import ServiceLifecycle

/// The routes of a list of tasks:
///
///     GET    /items          all items as JSON, in order
///     POST   /items          {"title": "…"} adds an item at the end
///     PATCH  /items/ID      {"isDone": true} changes an item
///     DELETE /items/ID      removes it
///     GET    /items/events   the list, now and after each commit, as server-sent events
///     GET    /health         200 if each store can be read, otherwise 503; a line for each store
struct ItemService: Sendable {
    /// An item in an answer.
    struct Representation: ResponseEncodable, Equatable, Sendable {
        let id: UUID
        let title: String
        let isDone: Bool

        init(_ item: Item) {
            id = item.id
            title = item.title
            isDone = item.isDone
        }
    }

    private struct NewItem: Decodable, Sendable { let title: String }
    private struct Change: Decodable, Sendable { let title: String?, isDone: Bool? }

    private static let list = From<Item>().orderBy(.ascending(\.rank), .ascending(\.title))
    private let stack: DataStack

    init(_ stack: DataStack) { self.stack = stack }

    /// Returns a router with all routes.
    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("items") { _, _ in try stack.read { try $0.fetchAll(Self.list).map(Representation.init) } }
        router.post("items") { request, context in
            let new = try await request.decode(as: NewItem.self, context: context)
            return try await answering { transaction in
                let item = try transaction.create(Item.self)
                item.title = new.title
                item.rank = try (transaction.queryValue(From<Item>().select(Int.self, .maximum(\.rank))) ?? 0) + 1
                return Representation(item)
            }
        }
        router.patch("items/:id") { request, context in
            let change = try await request.decode(as: Change.self, context: context),
                id = try context.parameters.require("id", as: UUID.self)
            return try await answering { transaction in
                let item = try Self.item(id, transaction)
                if let title = change.title { item.title = title }
                if let isDone = change.isDone { item.isDone = isDone }
                return Representation(item)
            }
        }
        router.delete("items/:id") { _, context in
            let id = try context.parameters.require("id", as: UUID.self)
            try await answering { try $0.delete(Self.item(id, $0)) }
            return HTTPResponse.Status.noContent
        }
        router.get("items/events") { _, _ in try events() }
        router.get("health") { _, _ in
            let stores = await stack.checkHealth(timeout: .seconds(2))
            let isHealthy = !stores.isEmpty && stores.allSatisfy { $0.error == nil }
            return Response(
                status: isHealthy ? .ok : .serviceUnavailable,
                body: ResponseBody(byteBuffer: ByteBuffer(string: stores.map { "\($0)\n" }.joined())))
        }
        return router
    }

    private static func item(_ id: UUID, _ transaction: WriteTransaction) throws -> Item {
        guard let item = try transaction.fetchOne(From<Item>().where(\.id == id)) else { throw HTTPError(.notFound) }
        return item
    }

    /// Commits a change. What the model or the store does not take is an error of the client.
    private func answering<Result: Sendable>(_ change: @escaping @Sendable (WriteTransaction) throws -> Result) async throws -> Result {
        do { return try await stack.perform(change) } catch let error as StorageError
            where [.validationFailed, .valueNotStorable, .valueTooLarge].contains(error.code)
        {
            throw HTTPError(.unprocessableContent, message: error.message)
        }
    }

    /// Returns the list as server-sent events: the present one, and the newest one whenever it has changed. A client that reads slowly
    /// gets fewer events, and never an old list after a new one.
    private func events() throws -> Response {
        let publisher = try stack.publishValue(of: Item.self) { try $0.fetchAll(Self.list).map { Representation($0) } }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
            body: ResponseBody { writer in
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                // Otherwise a service that is asked to end would wait for its readers.
                for await items in publisher.values.cancelOnGracefulShutdown() {
                    let data = try encoder.encode(items)
                    try await writer.write(ByteBuffer(string: "data: \(String(decoding: data, as: UTF8.self))\n\n"))
                }
                try await writer.finish(nil)
            })
    }
}
