internal import PolystoreKeyValue
internal import PolystoreStorage

/// The maps of the write transaction.
final class MemoryWriter: MemoryReader, OrderedWriter {
    private var generation: Int
    private let opening: Int
    private let engine: MemoryEngine
    private var savepoints: [[MemoryMap]] = []

    init(_ maps: [MemoryMap], _ generation: Int, _ opening: Int, _ engine: MemoryEngine) {
        self.generation = generation
        self.opening = opening
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

    func commit() throws(StorageError) { try engine.publish(maps, opening) }
}
