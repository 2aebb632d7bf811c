internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// Ordered maps in memory. A lock protects the published maps; snapshots share their pages.
final class MemoryEngine: OrderedStore {
    private struct State: Sendable {
        var maps: [MemoryMap] = []
        var names: [String] = []
        var generation = 0
        var isOpen = false
        /// The number of times that the store was opened: a transaction of an earlier time cannot be committed.
        var opening = 0

        func check() throws(StorageError) {
            if !isOpen { throw StorageError(.storeClosed, "the store is not open; add it to a stack, or call open") }
        }
    }

    private let state = Mutex(State())

    let maximumKeyBytes = 511
    let maximumValueBytes = 1 << 30
    let checksRecords = false

    func open(_ request: OrderedOpen) throws(StorageError) -> Bool {
        state.withLock { state in
            state.isOpen = true
            state.opening += 1
        }
        return false
    }

    func prepare(maps: [String]) throws(StorageError) -> [String: Int] {
        try state.withLock { state throws(StorageError) in
            try state.check()
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
        MemoryReader(
            try state.withLock { state throws(StorageError) in
                try state.check()
                return state.maps
            })
    }

    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter {
        let (maps, generation, opening) = try state.withLock { state throws(StorageError) in
            try state.check()
            state.generation += 1
            return (state.maps, state.generation, state.opening)
        }
        return MemoryWriter(maps, generation, opening, self)
    }

    func nextGeneration() -> Int {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    /// Makes the maps of a transaction those that later sessions read.
    ///
    /// - Throws: `storeClosed` if the store was closed since the transaction began, even if it was opened again.
    func publish(_ maps: [MemoryMap], _ opening: Int) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            try state.check()
            if state.opening != opening { throw StorageError(.storeClosed, "the store was closed during the transaction") }
            state.maps = maps
        }
    }

    /// Releases all contents: a memory store starts empty when it is opened again.
    func close() { state.withLock { $0 = State(generation: $0.generation, opening: $0.opening) } }
}
