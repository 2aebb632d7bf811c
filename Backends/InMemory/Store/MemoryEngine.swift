internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// Ordered maps in memory. A lock protects the published maps; snapshots share their pages.
final class MemoryEngine: OrderedStore {
    private struct State: Sendable {
        var maps: [MemoryMap] = []
        var names: [String] = []
        var generation = 0
    }

    private let state = Mutex(State())

    let maximumKeyBytes = 511
    let maximumValueBytes = 1 << 30
    let checksRecords = false

    func open(_ request: OrderedOpen) throws(StorageError) -> Bool { false }

    func prepare(maps: [String]) throws(StorageError) -> [String: Int] {
        state.withLock { state in
            for name in maps where !state.names.contains(name) {
                state.names.append(name)
                state.maps.append(MemoryMap())
            }
            return Dictionary(state.names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Does nothing, because the number of maps is not limited.
    func reopen(mapCount: Int) throws(StorageError) {}

    /// Frees the names. An empty map keeps its number, because snapshots identify maps by their numbers.
    func remove(maps: [String]) throws(StorageError) {
        state.withLock { state in
            for index in state.names.indices where maps.contains(state.names[index]) { state.names[index] = "" }
        }
    }

    func read(_ options: ReadOptions) throws(StorageError) -> any OrderedReader { MemoryReader(state.withLock { $0.maps }) }

    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter {
        let (maps, generation) = state.withLock { state in
            state.generation += 1
            return (state.maps, state.generation)
        }
        return MemoryWriter(maps, generation, self)
    }

    func nextGeneration() -> Int {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    func publish(_ maps: [MemoryMap]) { state.withLock { $0.maps = maps } }

    /// Releases all contents: a memory store starts empty when it is opened again.
    func close() { state.withLock { $0 = State(maps: [], names: [], generation: $0.generation) } }
}

/// A session that reads a snapshot.
class MemoryReader: OrderedReader {
    var maps: [MemoryMap]

    init(_ maps: [MemoryMap]) { self.maps = maps }

    final func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? { maps[map].get(key) }

    final func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor { MemoryCursor(maps[map]) }

    final func count(_ map: Int) throws(StorageError) -> Int { maps[map].count }

    func end() {}
}

/// The maps of the write transaction.
final class MemoryWriter: MemoryReader, OrderedWriter {
    private var generation: Int
    private let engine: MemoryEngine
    private var savepoints: [[MemoryMap]] = []

    init(_ maps: [MemoryMap], _ generation: Int, _ engine: MemoryEngine) {
        self.generation = generation
        self.engine = engine
        super.init(maps)
    }

    func put(_ map: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) {
        let target = maps[map].put(key, value.count, generation)
        if let source = value.baseAddress { target.copyMemory(from: source, byteCount: value.count) }
    }

    func append(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        maps[map].append(key, count, generation)
    }

    func reserve(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        maps[map].put(key, count, generation)
    }

    func lastKey(_ map: Int) throws(StorageError) -> Int64? { maps[map].lastKey.map(RowKeyBytes.key) }

    func delete(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool { maps[map].delete(key, generation) }

    func clear(_ map: Int) throws(StorageError) { maps[map] = MemoryMap() }

    /// Keeps the current maps. From here on pages are copied before they change.
    func savepoint() throws(StorageError) {
        savepoints.append(maps)
        generation = engine.nextGeneration()
    }

    func undoSavepoint() throws(StorageError) {
        if let before = savepoints.popLast() { maps = before }
        generation = engine.nextGeneration()
    }

    func keepSavepoint() throws(StorageError) { _ = savepoints.popLast() }

    var commitNumber: Int64? { nil }

    func commit() throws(StorageError) { engine.publish(maps) }
}

/// A position in a map.
final class MemoryCursor: OrderedCursor {
    private let map: MemoryMap
    @exclusivity(unchecked) private var position = MemoryMap.Position(index: -1)
    /// The page of the position, kept because looking it up in the map would count references at every step.
    @exclusivity(unchecked) private var page: MemoryPage?

    init(_ map: MemoryMap) {
        self.map = map
        page = map.page(position)
    }

    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        position = map.seek(key)
        page = map.page(position)
        return page != nil
    }

    func next() throws(StorageError) -> Bool {
        guard let page else { return false }
        if position.index + 1 < page.entries.count {
            position.index += 1
            return true
        }
        position = map.next(position)
        self.page = map.page(position)
        return self.page != nil
    }

    func previous() throws(StorageError) -> Bool {
        if position.index > 0 {
            position.index -= 1
        } else if let before = map.previous(position) {
            position = before
            page = map.page(before)
        } else {
            page = nil
        }
        return page != nil
    }

    func last() throws(StorageError) -> Bool {
        page =
            map.last.map { place in
                position = place
                return map.page(place)
            } ?? nil
        return page != nil
    }

    var key: UnsafeRawBufferPointer { page.map { $0.key(position.index) } ?? UnsafeRawBufferPointer(start: nil, count: 0) }
    var value: UnsafeRawBufferPointer { page.map { $0.value(position.index) } ?? UnsafeRawBufferPointer(start: nil, count: 0) }
}
