/// A suggestion of the nearest valid name for an invalid one.
package enum Suggestion {
    /// Returns `; did you mean "x"?` for the candidate at the smallest edit distance, or an empty string if none is near.
    ///
    /// Long names, and candidates beyond the first 5,000, are ignored, because users can provide any number of them.
    package static func nearest(_ name: String, in candidates: some Sequence<String>) -> String {
        if name.utf8.count > longest { return "" }
        let farthest = max(2, name.count / 3), name = name.lowercased()
        let near = candidates.prefix(most).filter { abs($0.utf8.count - name.utf8.count) <= 4 * farthest && $0.utf8.count <= longest }
            .map { ($0, distance(name, $0.lowercased())) }
            .filter { $0.1 <= farthest }
            .min { ($0.1, $0.0) < ($1.1, $1.0) }
        return near.map { "; did you mean \"\($0.0.excerpt())\"?" } ?? ""
    }

    /// Returns the suggestion of `nearest`, or all of the few candidates if none is near.
    package static func nearestOrAll(_ name: String, of candidates: [String]) -> String {
        let near = nearest(name, in: candidates)
        return near.isEmpty ? "; known are \(candidates.joined(separator: ", "))" : near
    }

    private static let longest = 200
    private static let most = 5_000

    /// Returns the number of insertions, deletions, and replacements between two words (Wagner and Fischer 1974).
    static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a), b = Array(b)
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let cost = min(row[j] + 1, row[j + 1] + 1, diagonal + (a[i] == b[j] ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = cost
            }
        }
        return row[b.count]
    }
}
