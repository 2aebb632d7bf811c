internal import PolystoreKeyValue
internal import PolystoreStorage

/// A session that reads a snapshot.
class MemoryReader: OrderedReader {
    var maps: [MemoryMap]

    init(_ maps: [MemoryMap]) { self.maps = maps }

    final func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? { maps[map].get(key) }

    final func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor { MemoryCursor(maps[map]) }

    final func count(_ map: Int) throws(StorageError) -> Int { maps[map].count }

    func end() {}
}
