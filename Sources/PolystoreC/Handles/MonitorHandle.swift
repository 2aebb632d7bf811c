internal import CPolystore
internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer
internal import Synchronization

/// The observation of a request.
final class MonitorHandle: Handle {
    static var noun: String { "a monitor" }

    private let list: MonitoredList
    private let calls: MonitorCalls
    private let task: Task<Void, Never>

    /// Begins to observe a request.
    ///
    /// - Throws: `invalidPredicate` for a request that does not fit the model, or one for values.
    init(_ handle: StackHandle, _ request: String, _ body: CallBack<polystore_monitor_body>) throws(StorageError) {
        let description = try RequestDescription(json: request)
        if try description.valueRequest() != nil {
            throw StorageError(.invalidPredicate, "a monitor observes objects, not values; leave out \"select\" and aggregates")
        }
        try description.checkPrefetched(in: handle.stack.schema)
        let from = From<DynamicObject>(try description.objectRequest(), prefetching: description.prefetched)
        try handle.enter()
        let publisher: ListPublisher<DynamicObject>
        do throws(StorageError) { publisher = try handle.stack.publishList(from) } catch {
            handle.leave()
            throw error
        }
        let list = MonitoredList(handle, publisher, prefetched: description.prefetched)
        let calls = MonitorCalls(body)
        self.list = list
        self.calls = calls
        task = Task.detached {
            var last: ListSnapshot<DynamicObject>?
            for await update in publisher.updates {
                let before = last
                await calls.run { list.json(update, since: before) }
                last = update.snapshot
            }
        }
    }

    /// Returns the current list of objects.
    func objects() throws(StorageError) -> String { try list.objects() }

    func end() {
        task.cancel()
        calls.end()
        list.handle.leave()
    }
}
