internal import PolystoreStorage

/// A reader that counts the read operations of the snapshot that it wraps.
final class CountedReader: OrderedReader {
    private let reader: any OrderedReader
    private(set) var lookUps = 0
    fileprivate(set) var seeks = 0
    fileprivate(set) var steps = 0

    init(_ reader: any OrderedReader) { self.reader = reader }

    func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        lookUps += 1
        return try reader.get(map, key)
    }

    func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor { CountedCursor(try reader.cursor(map), self) }

    func count(_ map: Int) throws(StorageError) -> Int { try reader.count(map) }

    /// Does nothing: the code that opened the snapshot ends it.
    func end() {}

    private final class CountedCursor: OrderedCursor {
        private let cursor: any OrderedCursor
        private let counts: CountedReader

        init(_ cursor: any OrderedCursor, _ counts: CountedReader) {
            self.cursor = cursor
            self.counts = counts
        }

        func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
            counts.seeks += 1
            return try cursor.seek(key)
        }

        func next() throws(StorageError) -> Bool {
            counts.steps += 1
            return try cursor.next()
        }

        func previous() throws(StorageError) -> Bool {
            counts.steps += 1
            return try cursor.previous()
        }

        func last() throws(StorageError) -> Bool {
            counts.seeks += 1
            return try cursor.last()
        }

        var key: UnsafeRawBufferPointer { cursor.key }
        var value: UnsafeRawBufferPointer { cursor.value }
    }
}
