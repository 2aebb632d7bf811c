import Foundation
import PolystoreStorage
import PolystoreTransfer
import Synchronization
import TestStores
import Testing

/// The rate, the memory and the pauses of a transfer.
@Suite struct TransferPaceTests {
    private let schema: Schema
    private let source: OpenStore

    /// Two thousand notes of a thousand bytes.
    init() throws {
        schema = try Schema(entities: [Entity("Note", attributes: [Attribute("text", .string)])])
        source = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: schema))
        let writer = try source.beginWrite(), batch = RowBatch(capacity: 2000)
        defer { writer.end() }
        let text = String(repeating: "t", count: 1000)
        for key in 1...2000 {
            let cells = batch.appendRow(key: Int64(key), version: 1, entity: 0, slots: 1)
            cells.initialize(to: batch.cell(for: .string(text)))
        }
        try writer.load(0, batch)
        _ = try writer.commit(CommitRecord())
    }

    private func transfer(
        _ kind: TestStore, limit: WorkLimit? = nil, _ change: (inout TransferOptions) -> Void,
        report: @escaping TransferEngine.Report = { _ in }
    ) throws -> TransferReport {
        var options = TransferOptions()
        change(&options)
        let target = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
        return try TransferEngine(limit: limit).transfer(from: source, to: target, options, report: report)
    }

    private func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    @Test(arguments: TestStore.all, [true, false]) func aRateIsKept(_ kind: TestStore, _ isInSteps: Bool) throws {
        // Two thousand rows, or two megabytes, in half a second; the first tenth is free.
        for isOfBytes in [true, false] {
            let start = ContinuousClock.now
            let report = try transfer(kind) {
                if isOfBytes { $0.pace.bytesPerSecond = 4_000_000 } else { $0.pace.rowsPerSecond = 4000 }
                $0.source = isInSteps ? "memory:notes" : nil
            }
            #expect(report.isVerified && report.items.map(\.digest.count) == [2000])
            let elapsed = seconds(start.duration(to: .now))
            #expect(elapsed > 0.35, "\(elapsed)")
        }
    }

    @Test func arateThatIsNotReachedDelaysNothing() throws {
        let report = try transfer(.memory) { $0.pace.rowsPerSecond = 1e12 }
        #expect(report.waited == .zero && report.items.map(\.digest.count) == [2000])
    }

    @Test(arguments: TestStore.all) func aPausedCopyWaitsWithoutATransactionAndCanBeCancelled(_ kind: TestStore) throws {
        let limit = WorkLimit(), isPaused = Mutex(true), pauses = Mutex(0)
        let target = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
        var options = TransferOptions()
        options.source = "memory:notes"
        options.pace.rowsPerSecond = 100_000
        options.pace.memoryBytes = 1 << 20
        options.pace.isPaused = { isPaused.withLock { $0 } }
        // While it waits another transaction can write, and what was copied is committed.
        let error = #expect(throws: StorageError.self) {
            try TransferEngine(limit: limit).transfer(from: source, to: target, options) { progress in
                if !progress.isPaused { return }
                pauses.withLock { $0 += 1 }
                let writer = try? target.beginWrite(WriteOptions(timeout: 1))
                #expect(writer != nil)
                writer?.end()
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.2)
                    limit.cancel()
                }
            }
        }
        #expect(error?.code == .cancelled && pauses.withLock { $0 } == 1)
        let reader = try target.beginRead()
        #expect(try Contents(reader).count(0) > 0)
        reader.end()
        isPaused.withLock { $0 = false }
        let report = try TransferEngine().transfer(from: source, to: target, options)
        #expect(report.continued > 0 && report.isVerified && report.items.map(\.digest.count) == [2000])
    }

    @Test func aPaceThatCopiesNothingIsRefused() throws {
        let changes: [(inout TransferPace) -> Void] = [
            { $0.rowsPerSecond = 0 }, { $0.bytesPerSecond = -1 }, { $0.rowsPerSecond = .nan }, { $0.bytesPerSecond = .infinity },
            { $0.memoryBytes = 1000 },
        ]
        for change in changes {
            let error = #expect(throws: StorageError.self) { try transfer(.memory) { change(&$0.pace) } }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
