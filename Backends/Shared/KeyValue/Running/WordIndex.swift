internal import PolystoreStorage

/// A full-text index as the entries of a map: the bytes of a word, a zero, which no word contains, and the row key.
struct WordIndex {
    /// The maximum length of a word in bytes. Longer words are cut, and a reader that finds one checks the text itself.
    static let longestWord = 400

    /// Returns the common prefix of all entries of a word, or of all words that begin with it, unless `isWhole`.
    static func start(_ word: some Collection<UInt8>, isWhole: Bool) -> [UInt8] {
        Array(word.prefix(longestWord)) + (isWhole || word.count > longestWord ? [0] : [])
    }

    /// Returns the entries of a row without duplicates, or none when the text is nil.
    static func entries(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) -> Set<[UInt8]> {
        guard let slot = index.slots.first, !row[slot].isNull else { return [] }
        let words = SearchWords(utf8: row[slot].bytes)
        var end = KeyBytes(), entries = Set<[UInt8]>(minimumCapacity: words.count)
        end.append(row.key)
        for word in 0..<words.count { entries.insert(start(words[word], isWhole: true) + end.bytes) }
        return entries
    }

    static func add(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap, _ maps: any OrderedWriter) throws(StorageError) {
        for entry in entries(row, index) { try put(entry, index.map, maps) }
    }

    static func remove(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap, _ maps: any OrderedWriter) throws(StorageError) {
        for entry in entries(row, index) {
            var key = KeyBytes()
            key.append(raw: entry)
            _ = try key.withBytes { bytes throws(StorageError) in try maps.delete(index.map, bytes) }
        }
    }

    private static func put(_ entry: [UInt8], _ map: Int, _ maps: any OrderedWriter) throws(StorageError) {
        var key = KeyBytes()
        key.append(raw: entry)
        try key.withBytes { bytes throws(StorageError) in try maps.put(map, bytes, UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    /// Entries of many rows, sorted when there are enough of them, because adjacent entries are on the same page.
    struct Collected {
        private static let most = 200_000
        private var entries: [Int: [[UInt8]]] = [:]

        mutating func add(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap, _ maps: any OrderedWriter) throws(StorageError) {
            entries[index.map, default: []] += WordIndex.entries(row, index)
            if entries[index.map]?.count ?? 0 > Self.most { try write(index.map, maps) }
        }

        mutating func finish(_ maps: any OrderedWriter) throws(StorageError) { for map in entries.keys.sorted() { try write(map, maps) } }

        private mutating func write(_ map: Int, _ maps: any OrderedWriter) throws(StorageError) {
            guard var list = entries.removeValue(forKey: map) else { return }
            list.sort { a, b in a.withUnsafeBytes { x in b.withUnsafeBytes { compareBytes(x, $0) < 0 } } }
            for entry in list { try WordIndex.put(entry, map, maps) }
        }
    }
}
