import Dispatch
import Foundation
import InMemoryTracing
import Metrics
import MetricsTestKit
import Polystore
import PolystoreInMemory
import PolystoreInstrumentation
import Testing
import Tracing

@Suite(.serialized) struct InstrumentationTests {
    private static let metrics: TestMetrics = {
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }()

    private static let tracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    private func stack() throws -> DataStack {
        let stack = try DataStack(schema: Schema(entities: [Entity("Thing", attributes: [Attribute("x", .int64, isOptional: true)])]))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func metricsCountTransactionsAndRequests() async throws {
        let stack = try stack(), metrics = Self.metrics
        stack.instrumentation = MetricsInstrumentation(prefix: "test")
        try await stack.perform { transaction in
            for _ in 0..<3 { _ = try transaction.create(Into<DynamicObject>(entity: "Thing")) }
        }
        try stack.perform(synchronous: { transaction in
            let things = try transaction.fetchAll(From<DynamicObject>(entity: "Thing"))
            try things[0].setValue(.int(1), for: "x")
            try transaction.delete(things[1])
        })
        _ = try? stack.perform(synchronous: { try $0.cancel() })
        try await stack.read { _ in }
        func total(_ label: String, _ dimensions: [(String, String)]) throws -> Int64 {
            try metrics.expectCounter(label, dimensions).totalValue
        }
        #expect(try total("test_transactions_total", [("kind", "write"), ("outcome", "committed")]) == 2)
        #expect(try total("test_transactions_total", [("kind", "write"), ("outcome", "cancelled")]) == 1)
        #expect(try total("test_transactions_total", [("kind", "read"), ("outcome", "committed")]) == 1)
        #expect(try total("test_objects_total", [("change", "inserted")]) == 3)
        #expect(try total("test_objects_total", [("change", "updated")]) == 1)
        #expect(try total("test_objects_total", [("change", "deleted")]) == 1)
        #expect(
            try metrics.expectTimer("test_transaction_seconds", [("kind", "write"), ("outcome", "committed")]).values.count == 2)
    }

    @Test func requestsAreTimedByKindAndEntity() async throws {
        let stack = try stack(), metrics = Self.metrics
        stack.instrumentation = CombinedInstrumentation(MetricsInstrumentation(prefix: "requests"))
        for _ in 0..<2 { _ = try stack.fetchAll(From<DynamicObject>(entity: "Thing")) }
        try await stack.read { _ = try $0.fetchCount(From<DynamicObject>(entity: "Thing")) }
        _ = try? stack.fetchAll(From<DynamicObject>(entity: "Nothing"))
        func timed(_ kind: String, _ entity: String, _ outcome: String) throws -> Int {
            try metrics.expectTimer("requests_request_seconds", [("kind", kind), ("entity", entity), ("outcome", outcome)]).values.count
        }
        #expect(try timed("fetch", "Thing", "answered") == 2)
        #expect(try timed("count", "Thing", "answered") == 1)
        #expect(try timed("fetch", "Nothing", "invalidPredicate") == 1)
    }

    /// Of three transactions one runs, because the store takes one writer at a time.
    @Test func gaugesShowWhatRunsAndWaits() async throws {
        let stack = try stack(), metrics = Self.metrics, instrumentation = MetricsInstrumentation(prefix: "queues")
        func gauge(_ label: String, _ queue: String) throws -> Double? {
            try metrics.expectGauge("queues_\(label)", [("queue", queue)]).lastValue
        }
        func record(until running: Double, _ waiting: Double) async throws {
            repeat {
                instrumentation.recordQueues(of: stack)
                await Task.yield()
            } while try gauge("running", "writes") != running || gauge("waiting", "writes") != waiting
        }
        let isFree = DispatchSemaphore(value: 0)
        let work = (0..<3).map { _ in Task { try await stack.perform { _ in isFree.wait() } } }
        try await record(until: 1, 2)
        #expect(try gauge("capacity", "writes") == 1)
        #expect(try gauge("running", "reads") == 0 && gauge("waiting", "reads") == 0)
        #expect(try gauge("capacity", "reads") == Double(max(6, ProcessInfo.processInfo.activeProcessorCount)))
        for _ in work { isFree.signal() }
        for task in work { try await task.value }
        try await record(until: 0, 0)
        #expect(stack.queueStatistics.map(\.description)[0] == "writes: 0 of 1 running, 0 waiting")
    }

    @Test func spansAreChildrenOfTheCallersSpan() async throws {
        let stack = try stack(), tracer = Self.tracer
        stack.instrumentation = CombinedInstrumentation(TracingInstrumentation(), MetricsInstrumentation(prefix: "other"))
        try await withSpan("request") { _ in
            try await stack.perform(author: "ann") { _ = try $0.create(Into<DynamicObject>(entity: "Thing")) }
        }
        let work = stack.beginUnsafe()
        _ = try work.create(Into<DynamicObject>(entity: "Thing"))
        try work.commit()
        let spans = tracer.finishedSpans
        let write = try #require(spans.first { $0.operationName == "polystore.write" })
        let request = try #require(spans.first { $0.operationName == "request" })
        #expect(write.parentSpanID == request.spanID)
        #expect(write.attributes["polystore.inserted"]?.toSpanAttribute() == .int64(1))
        #expect(write.attributes["polystore.author"]?.toSpanAttribute() == .string("ann"))
        #expect(spans.contains { $0.operationName == "polystore.commit" })
    }
}
