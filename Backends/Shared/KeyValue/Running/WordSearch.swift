internal import PolystoreStorage

/// A search for row keys by the words of a text.
///
/// The result contains every row that can match, and possibly others: the reader of the rows checks the order of words in a phrase,
/// excluded words, and words that were cut.
struct WordSearch {
    /// The cost of looking up an entry, in entries that are read sequentially.
    private static let entriesPerLookUp = 8

    private let engine: any OrderedReader
    private let map: Int
    private let work: WorkMeter

    /// Returns the keys of all rows that can match a plan's searches, ascending and without duplicates, and the indexes that were read.
    /// Returns nil when no index contains the words of every row.
    static func keys(_ plan: FetchPlan, _ reader: KeyValueReader) throws(StorageError) -> (
        keys: [Int64], indexes: [KeyValueLayout.IndexMap]
    )? {
        let parts = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
        let uses = parts.compactMap { use($0, plan, reader.core.layout) }
        if uses.isEmpty { return nil }
        var found: [Int64]?
        for use in uses {
            let search = WordSearch(engine: reader.engine, map: use.index.map, work: reader.work)
            for terms in use.query.groups.sorted(by: { rarity($0) > rarity($1) }) {
                if found?.isEmpty ?? false { break }
                found = try search.either(terms, within: found)
            }
        }
        return (found ?? [], uses.map(\.index))
    }

    private static func use(
        _ part: CheckedPredicate, _ plan: FetchPlan, _ layout: KeyValueLayout
    ) -> (index: KeyValueLayout.IndexMap, query: SearchQuery)? {
        guard case .text(.path(let path), .search, let needle) = part, path.steps.isEmpty, case .slot(let slot) = path.leaf,
            let query = try? SearchQuery(needle.text),
            let index = layout.wordIndexes[plan.entity].first(where: { index in
                index.slots == [slot] && plan.entities.allSatisfy(layout.schema[index.entity].family.contains)
            })
        else { return nil }
        return (index, query)
    }

    /// Returns an estimate of the rarity of terms: longer words are rarer, and prefixes and alternatives match more than words.
    private static func rarity(_ terms: [SearchQuery.Term]) -> Int {
        terms.map { term in (term.words.map(\.utf8.count).max() ?? 0) - (term.isPrefix && term.words.count == 1 ? 8 : 0) }.min() ?? 0
    }

    /// Returns the keys with at least one of the terms, restricted to `keys`.
    private func either(_ terms: [SearchQuery.Term], within keys: [Int64]?) throws(StorageError) -> [Int64] {
        var result: [Int64] = []
        for term in terms { result += try self.keys(term, within: keys) }
        return terms.count == 1 ? result : Self.ascending(result)
    }

    /// Returns the keys with all words of a term, restricted to `keys`.
    private func keys(_ term: SearchQuery.Term, within keys: [Int64]?) throws(StorageError) -> [Int64] {
        var found = keys
        let last = term.words.count - 1
        for index in term.words.indices.sorted(by: { term.words[$0].utf8.count > term.words[$1].utf8.count }) {
            if found?.isEmpty ?? false { break }
            let isWhole = !(term.isPrefix && index == last)
            found = try self.keys(WordIndex.start(Array(term.words[index].utf8), isWhole: isWhole), isWhole: isWhole, within: found)
        }
        return found ?? []
    }

    /// Returns the keys of the entries that begin with `start`, restricted to `keys`. Where there are many more entries than keys, each key
    /// is looked up instead.
    private func keys(_ start: [UInt8], isWhole: Bool, within keys: [Int64]?) throws(StorageError) -> [Int64] {
        let most = isWhole ? keys.map { $0.count * Self.entriesPerLookUp } ?? .max : .max
        if let read = try read(start, most: most) {
            guard let keys else { return read }
            let there = Set(read)
            return keys.filter(there.contains)
        }
        var result: [Int64] = []
        for key in keys ?? [] {
            try work.step()
            if try isThere(start, key) { result.append(key) }
        }
        return result
    }

    /// Returns the keys of all entries that begin with `start`, ascending, or nil when there are more than `most`.
    private func read(_ start: [UInt8], most: Int) throws(StorageError) -> [Int64]? {
        let cursor = try engine.cursor(map)
        var found: [Int64] = []
        var isThere = try cursor.seek(start)
        while isThere, cursor.key.starts(with: start) {
            if found.count >= most { return nil }
            try work.step()
            found.append(KeyBytes.lastKey(cursor.key))
            isThere = try cursor.next()
        }
        return Self.ascending(found)
    }

    private func isThere(_ start: [UInt8], _ key: Int64) throws(StorageError) -> Bool {
        var entry = KeyBytes()
        entry.append(raw: start)
        entry.append(key)
        return try entry.withBytes { bytes throws(StorageError) in try engine.get(map, bytes) != nil }
    }

    private static func ascending(_ keys: [Int64]) -> [Int64] {
        if zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) { return keys }
        return Set(keys).sorted()
    }
}
