internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The signals of a watch, in the order of arrival.
final class Signals: Sendable {
    private let all = Mutex<[ChangeSignal]>([])

    func add(_ signal: ChangeSignal) { all.withLock { $0.append(signal) } }

    var found: [ChangeSignal] { all.withLock { $0 } }

    /// Returns whether a matching new signal arrives within some seconds. Earlier signals are discarded.
    func comes(_ signal: ChangeSignal, within seconds: TimeInterval = 10) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while true {
            let isThere = all.withLock { all in
                guard let index = all.firstIndex(of: signal) else { return false }
                all.removeFirst(index + 1)
                return true
            }
            if isThere { return true }
            if Date() > end { return false }
            Thread.sleep(forTimeInterval: 0.002)
        }
    }

    /// Returns the signals that arrive within some seconds.
    func collected(for seconds: TimeInterval) -> [ChangeSignal] {
        Thread.sleep(forTimeInterval: seconds)
        return found
    }
}

/// A store, and another instance at the same location.
struct WatchingScene {
    let scratch: Scratch
    let other: any WatchingPeer
    let signals = Signals()

    static let schema = Result {
        try Schema(
            version: "V1",
            entities: [
                Entity("Item", attributes: [Attribute("number", .int64)], relationships: [Relationship("tags", to: "Tag", .toMany)]),
                Entity("Tag", attributes: [Attribute("name", .string)]),
            ])
    }

    static func run(_ harness: StoreHarness, _ body: (WatchingScene) throws -> Void) throws {
        let place = try harness.place()
        defer { place.remove() }
        let scratch = try Scratch(place, schema.get())
        defer { scratch.end() }
        let other = try peer(of: scratch, place, harness)
        defer { other.end() }
        try body(WatchingScene(scratch: scratch, other: other))
    }

    /// Returns another instance in this process, or in another one if a process can open the store only once.
    private static func peer(of scratch: Scratch, _ place: StorePlace, _ harness: StoreHarness) throws -> any WatchingPeer {
        do {
            return try Scratch(beside: scratch, scratch.schema)
        } catch let error as StorageError where error.code == .alreadyExists {
            guard let program = harness.program, let url = place.url else {
                throw NothingToCheck("a process can open the store only once, and only the conformance program can start another process")
            }
            return try PeerProcess(program, url)
        }
    }

    /// Watches the first store.
    func watch(_ check: Check, _ signals: Signals? = nil) throws -> (any ChangeWatch)? {
        let signals = signals ?? self.signals
        let watch = try scratch.store.watchChanges { signals.add($0) }
        check.isTrue(watch != nil, "a watch")
        return watch
    }

    /// Performs writes that are of no interest to observers.
    static func writeQuietly(_ scratch: Scratch) throws {
        let item = try scratch.entity("Item")
        try scratch.write { try $0.setNote("note", Data([1])) }
        try scratch.write { _ = try $0.reserveKeys(item, count: 3) }
        try scratch.write { writer in
            let mark = try writer.savepoint()
            _ = try writer.reserveKeys(item, count: 3)
            try writer.rollback(to: mark)
        }
        try scratch.write { _ in }
        try scratch.write { try $0.setNote("note", nil) }
    }

    /// Performs writes that the history does not record.
    static func load(_ scratch: Scratch, _ count: Int = 1) throws {
        let item = try scratch.entity("Item")
        try scratch.write { writer in
            let batch = RowBatch(capacity: count)
            for key in try writer.reserveKeys(item, count: count) {
                batch.appendRow(key: key, version: 1, entity: item, slots: 1)[0] = .int(key)
            }
            try writer.load(item, batch)
        }
    }

    /// Migrates a store to a version in which items have another attribute.
    static func migrate(_ scratch: Scratch) throws {
        let next = try Schema(
            version: "V2",
            entities: [
                Entity(
                    "Item", attributes: [Attribute("number", .int64), Attribute("more", .int64, isOptional: true)],
                    relationships: [Relationship("tags", to: "Tag", .toMany)]),
                Entity("Tag", attributes: [Attribute("name", .string)]),
            ])
        let mapping = SchemaMapping(from: scratch.schema, to: next)
        let migration = try scratch.store.beginMigration(MigrationStep(mapping), WriteOptions(timeout: 10))
        defer { migration.end() }
        let keys = try MigrationKeys(mapping) { root throws(StorageError) in
            try migration.source.reserveKeys(root, count: 1).lowerBound
        }
        let work = try migration.prepare()
        let rows = MigrationRows(MigrationMapping(mapping), keys, from: migration.source, to: migration.destination)
        for root in work.roots { try rows.write(root: root) { _ in } }
        try migration.finish(keys, limits: rows.limits)
        _ = try migration.commit(CommitRecord())
    }
}
