internal import Foundation
internal import PolystoreStorage

/// The transactions of a store in order, both existing ones and those that are committed later.
struct HistoryFeed {
    private static let longestPause = 1.0
    private static let step = 0.1

    private let opened: Stores.Opened
    private let consumer: String?
    private let limit: Int?
    private var scan: HistoryScan
    private var shown = 0

    init(_ opened: Stores.Opened, _ scan: HistoryScan, consumer: String?, limit: Int? = nil) throws(StorageError) {
        self.opened = opened
        self.scan = scan
        self.consumer = consumer
        self.limit = limit
        if !opened.store.capabilities.contains(.history) { throw .keepsNoHistory }
    }

    /// Determines the start: after a token, at the consumer's offset, or with the oldest transaction.
    mutating func begin(since token: HistoryToken?, restarts: Bool) throws(StorageError) {
        scan.after = token
        guard let consumer else { return }
        let offset = try write { writer throws(StorageError) in
            let known = try HistoryConsumers(writer).find(consumer)
            if let known, !restarts { return known }
            var start = token
            if start == nil { start = try HistoryScan.beginning(writer) }
            guard let start else { throw StorageError(.notFound, "the history has no first position") }
            return try HistoryConsumers.restart(consumer, at: start, writer)
        }
        scan.after = token ?? offset.token
    }

    /// Passes existing transactions to `write`, until it returns false.
    ///
    /// - Returns: Whether more transactions are requested.
    mutating func show(_ write: (HistoryEntry) throws(StorageError) -> Bool) throws(StorageError) -> Bool {
        while !Interruption.isAsked {
            let page = try page()
            for entry in page.entries {
                if try !write(entry) { return false }
                shown += 1
                scan.after = entry.token
                if shown == limit {
                    try acknowledge(entry.token)
                    return false
                }
            }
            if page.next != scan.after || !page.entries.isEmpty { try acknowledge(page.next) }
            scan.after = page.next
            if page.isLast { return true }
        }
        return false
    }

    private func page() throws(StorageError) -> HistoryScan.Page {
        let reader = try opened.store.beginRead()
        defer { reader.end() }
        return try scan.page(reader)
    }

    private func acknowledge(_ token: HistoryToken) throws(StorageError) {
        guard let consumer else { return }
        _ = try write { writer throws(StorageError) in try HistoryConsumers.acknowledge(consumer, through: token, writer) }
    }

    private func write<R>(_ body: (WriteSession) throws(StorageError) -> R) throws(StorageError) -> R {
        try HistoryConsumers.write({ options throws(StorageError) in try opened.store.beginWrite(options) }, body)
    }

    // MARK: Following

    /// Passes existing and later transactions to `write`, until an interruption or until the output is no longer read. If the store cannot
    /// be reached, keeps trying until then.
    mutating func follow(_ write: (HistoryEntry) throws(StorageError) -> Bool) throws(StorageError) {
        let arrived = DispatchSemaphore(value: 0)
        var watch: (any ChangeWatch)?, isNotified = true, isLost = false
        defer { watch?.cancel() }
        while !Interruption.isAsked {
            do throws(StorageError) {
                if watch == nil, isNotified {
                    do throws(StorageError) {
                        watch = try opened.store.watchChanges { _ in arrived.signal() }
                    } catch  where error.code == .unsupported {
                        // No change notifications are available, for example on a server that replicates another one: the store is polled
                        // instead.
                        isNotified = false
                    }
                }
                if !(try show(write)) { return }
                if isLost { Console.error("polystore: the store is available again") }
                isLost = false
            } catch  where Self.mayPass(error) {
                if !isLost { Console.error("polystore: \(error.message); trying again") }
                isLost = true
            }
            if !wait(arrived) { return }
        }
    }

    private static func mayPass(_ error: StorageError) -> Bool { error.isRetryable || error.code == .commitOutcomeUnknown }

    /// Waits for a change notification, but at most one second, because unsettled entries and lost changes cause no notification.
    ///
    /// - Returns: Whether to continue.
    private func wait(_ arrived: DispatchSemaphore) -> Bool {
        let end = Date() + Self.longestPause
        while Date() < end {
            if Interruption.isAsked || !HistoryOutput.isRead { return false }
            if arrived.wait(timeout: .now() + Self.step) == .success {
                while arrived.wait(timeout: .now()) == .success {}
                return true
            }
        }
        return true
    }
}
