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

    func read(_ options: ReadOptions) throws(StorageError) -> any OrderedReader {
        MemoryReader(try Self.opened(state.withLock { $0.maps }))
    }

    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter {
        let (maps, generation) = state.withLock { state in
            state.generation += 1
            return (state.maps, state.generation)
        }
        return MemoryWriter(try Self.opened(maps), generation, self)
    }

    /// Returns the maps of an open store. The store may be closed while a session begins on another thread, and then has none.
    private static func opened(_ maps: [MemoryMap]) throws(StorageError) -> [MemoryMap] {
        if maps.isEmpty { throw StorageError(.storeClosed, "the store was closed while a session began; add it to a stack, or call open") }
        return maps
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
