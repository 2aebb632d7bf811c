internal import PolystoreFoundation
public import PolystoreStorage
internal import Synchronization

/// A store over an engine of ordered maps, with everything that such stores have in common.
///
/// A backend has one and forwards the methods of `StorageInterface` to it.
public final class KeyValueStore: Sendable {
    private let engine: any OrderedStore
    /// The shared state of the sessions while the store is open.
    private let core = Mutex<KeyValueCore?>(nil)
    /// A lock that is held while the store is opened or closed: the end of a close must not close what was opened meanwhile.
    private let turning = Mutex(())
    private let lane = WriteLane()
    private let recordsHistory: Bool
    /// The commits of this store.
    package var commits: OwnCommits { lane.commits }

    /// Creates a store over an engine that is not yet open.
    ///
    /// - Parameters:
    ///   - engine: An engine of ordered keys, which the store opens and closes.
    ///   - recordsHistory: Whether the store records its changes in the history.
    public init(_ engine: any OrderedStore, recordsHistory: Bool = true) {
        self.engine = engine
        self.recordsHistory = recordsHistory
    }

    /// Opens the engine and checks or creates the store in it.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        try turning.withLock { _ throws(StorageError) in try openInTurn(request) }
    }

    private func openInTurn(_ request: OpenRequest) throws(StorageError) -> StorageState {
        if core.withLock({ $0 != nil }) { throw StorageError(.alreadyExists, "the store is already open") }
        let canCreate = request.createIfMissing && request.schema != nil && !request.readOnly
        let maps = max(request.schema.map { KeyValueLayout(StoreMetadata(new: $0)).names.count } ?? 0, 200)
        _ = try engine.open(OrderedOpen(create: canCreate, readOnly: request.readOnly, mapCount: maps))
        do throws(StorageError) {
            var (metadata, wasCreated) = try metadata(request, canCreate)
            try metadata.adopt(request, recordsHistory: recordsHistory)
            // The number of maps is known only now if the store is opened without a model.
            let count = KeyValueLayout(metadata).names.count
            if count > maps { try engine.reopen(mapCount: count) }
            let core = try makeCore(metadata)
            self.core.withLock { $0 = core }
            return StorageState(
                storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: wasCreated,
                isReadOnly: request.readOnly)
        } catch {
            engine.close()
            throw error
        }
    }

    /// Opens the maps of a version of the model.
    private func makeCore(_ metadata: StoreMetadata) throws(StorageError) -> KeyValueCore {
        var metadata = metadata
        metadata.history.isOn = recordsHistory
        let numbers = try engine.prepare(maps: KeyValueLayout(metadata).names)
        return KeyValueCore(engine, metadata, lane, numbers: numbers)
    }

    /// Opens the maps of a version of the model for sessions that begin from now on, unless the store was closed since it had this core.
    func publish(_ metadata: StoreMetadata, after former: KeyValueCore) throws(StorageError) {
        try turning.withLock { _ throws(StorageError) in try publishInTurn(metadata, after: former) }
    }

    /// *Requires*: the lock under which the store is opened and closed.
    private func publishInTurn(_ metadata: StoreMetadata, after former: KeyValueCore) throws(StorageError) {
        guard isOpen(former) else { return }
        // Without the lock of the core, for which readers wait: to open maps may take a while, if another process writes.
        let next = try makeCore(metadata)
        core.withLock { $0 = next }
    }

    /// Whether the store was not closed since it had this core.
    func isOpen(_ former: KeyValueCore) -> Bool { core.withLock { $0 === former } }

    private func metadata(_ request: OpenRequest, _ canCreate: Bool) throws(StorageError) -> (StoreMetadata, Bool) {
        try engine.prepare(maps: KeyValueLayout.ownMaps)
        if let found = try stored() { return (found, false) }
        guard canCreate, let schema = request.schema else {
            throw StorageError(.notADatabase, "the database contains no Polystore data; check the path")
        }
        let metadata = StoreMetadata(new: schema)
        try engine.prepare(maps: KeyValueLayout(metadata).names)
        let writer = try engine.write(WriteOptions())
        defer { writer.end() }
        try Self.write(metadata, writer)
        for (name, bytes) in request.notes { try Self.setNote(name, bytes, writer) }
        do throws(StorageError) {
            try writer.commit()
        } catch  where error.code == .commitOutcomeUnknown {
            throw StorageError(.inputOutput, "the last step of creating the store failed; open it again", cause: error.cause)
        }
        return (metadata, true)
    }

    /// Replaces the stored metadata.
    static func write(_ metadata: StoreMetadata, _ writer: any OrderedWriter) throws(StorageError) {
        try writer.clear(KeyValueLayout.metadata)
        for (key, value) in metadata.entries {
            try withBytes(key) { key throws(StorageError) in
                try withBytes(value) { value throws(StorageError) in try writer.put(KeyValueLayout.metadata, key, value) }
            }
        }
    }

    /// Writes a note, or removes it if `bytes` is nil.
    static func setNote(_ name: String, _ bytes: Data?, _ writer: any OrderedWriter) throws(StorageError) {
        try withBytes(name) { key throws(StorageError) in
            _ = try writer.delete(KeyValueLayout.notes, key)
            guard let bytes else { return }
            let target = try writer.reserve(KeyValueLayout.notes, key, bytes.count)
            bytes.withUnsafeBytes { source in
                if let start = source.baseAddress { target.copyMemory(from: start, byteCount: source.count) }
            }
        }
    }

    private func stored() throws(StorageError) -> StoreMetadata? {
        let reader = try engine.read(ReadOptions())
        defer { reader.end() }
        return try Self.stored(reader)
    }

    static func stored(_ reader: any OrderedReader) throws(StorageError) -> StoreMetadata? {
        let cursor = try reader.cursor(KeyValueLayout.metadata)
        var entries: [String: String] = [:]
        while try cursor.next() {
            if let key = String(utf8: cursor.key), let value = String(utf8: cursor.value) { entries[key] = value }
        }
        return entries.isEmpty ? nil : try StoreMetadata(entries: entries)
    }

    static func withBytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R) throws(StorageError) -> R {
        var outcome: Result<R, StorageError>?
        Array(text.utf8).withUnsafeBytes { buffer in
            do throws(StorageError) { outcome = .success(try body(buffer)) } catch { outcome = .failure(error) }
        }
        guard let outcome else { throw StorageError(.corrupted, "a string could not be read as bytes") }
        return try outcome.get()
    }

    private func opened() throws(StorageError) -> KeyValueCore {
        guard let core = core.withLock({ $0 }) else {
            throw StorageError(.storeClosed, "the store is not open; add it to a stack, or call open")
        }
        return core
    }

    /// Begins a session that reads one snapshot.
    public func beginRead(_ options: ReadOptions = ReadOptions()) throws(StorageError) -> any StorageReader {
        let core = try opened()
        try options.limit?.check()
        return try core.beginning { () throws(StorageError) in
            let session = try engine.read(options)
            try core.check(session)
            return KeyValueReader(core, session, options.limit)
        }
    }

    /// Whether the store is closed. Unlike its core, it is not closed during a migration.
    private var isClosed: Bool {
        @inline(never) get { core.withLock { $0 == nil } }
    }

    /// Begins the write transaction after waiting for the previous one to end.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        let core = try opened(), options = try lane.enter(options) { isClosed }
        do throws(StorageError) {
            return try core.beginning { () throws(StorageError) in
                let session = try engine.write(options)
                try core.check(session)
                return KeyValueWriter(core, session, isFollowed: options.isFollowed, options.limit)
            }
        } catch {
            lane.leave()
            throw error
        }
    }

    /// Returns a description of the effect of a migration step on each map.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        var metadata = try opened().metadata
        for step in earlier { metadata = try KeyValueMigrationPlan(step, metadata).after }
        return try KeyValueMigrationPlan(step, metadata).lines
    }

    /// Begins a migration of the store to another version of the model.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        let core = try opened(), options = try lane.enter(options) { isClosed }
        do throws(StorageError) {
            let plan = try KeyValueMigrationPlan(step, core.metadata)
            do throws(StorageError) { try engine.reopen(mapCount: max(plan.allNames.count, 200)) } catch {
                // One that was closed and opened again may have sessions.
                throw isOpen(core) ? error : error.ofClosedStore
            }
            core.close()
            do throws(StorageError) {
                return try KeyValueMigration(step, plan, self, core, engine, lane, options)
            } catch {
                try turning.withLock { _ throws(StorageError) in
                    guard isOpen(core) else { throw error.ofClosedStore }
                    try publishInTurn(try stored() ?? core.metadata, after: core)
                }
                throw error
            }
        } catch {
            lane.leave()
            throw error
        }
    }

    /// Runs `body` while no other program can write, unless the store has an object, a pair, a history entry or a note.
    ///
    /// - Parameter notes: The number of notes that the store has written itself.
    package func ifUnused(notes: Int, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        guard let writer = try beginWrite(WriteOptions()) as? KeyValueWriter else { return }
        defer { writer.end() }
        let layout = writer.core.layout
        for map in layout.rows + layout.links.map(\.owner) + [KeyValueLayout.history] where try writer.maps.count(map) > 0 { return }
        if try writer.maps.count(KeyValueLayout.notes) <= notes { try body() }
    }

    /// Closes the store.
    public func close() {
        turning.withLock { _ in
            let core = core.withLock { core in
                defer { core = nil }
                return core
            }
            guard let core else { return }
            core.close()
            lane.dismiss()
            engine.close()
        }
    }
}

extension KeyValueStore {
    /// Returns the number of commits of a store, for observers in other processes.
    ///
    /// - Parameters:
    ///   - session: A snapshot of the engine.
    ///   - commits: The number of engine transactions that were committed up to the snapshot.
    package static func count(_ session: some OrderedReader, commits: Int64) throws(StorageError) -> CommitCount {
        func counter(_ name: String) throws(StorageError) -> Int64 {
            try withBytes(name) { key throws(StorageError) in try session.get(KeyValueLayout.counters, key).map(KeyBytes.key) ?? 1 }
        }
        let floor = try withBytes(HistoryFloor.noteName) { key throws(StorageError) in
            try HistoryFloor(note: session.get(KeyValueLayout.notes, key).map { Data($0) })
        }
        let cursor = try session.cursor(KeyValueLayout.history)
        let newest = try cursor.last() ? KeyBytes.key(cursor.key) : 0
        return CommitCount(commits: commits, listed: max(newest, floor.position), quiet: try counter(KeyValueLayout.quietCounter))
    }

    /// The minimum number of maps in an engine that contains a store.
    public static var ownMapCount: Int { KeyValueLayout.ownMaps.count }
}
