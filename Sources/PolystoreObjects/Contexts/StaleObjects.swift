internal import PolystoreStorage

/// Live objects whose values differ from their rows. For an observer that holds them, the effect of the commits is still new, even if lists
/// were fetched since.
package struct StaleObjects {
    private struct Place: Hashable {
        let store: Int
        let root: EntityIndex
    }

    private var keys: [Place: Set<Int64>] = [:]

    package init() {}

    mutating func add(_ objects: [ManagedObject], _ rows: RowBatch, _ root: EntityIndex, _ store: Int) {
        let versions = Self.versions(rows)
        let stale = objects.filter { versions[$0._key] != $0._version }
        if !stale.isEmpty { keys[Place(store: store, root: root)] = Set(stale.map(\._key)) }
    }

    /// Returns the versions of rows, by key.
    static func versions(_ rows: RowBatch) -> [Int64: Int64] {
        Dictionary((0..<rows.count).map { (rows.key($0), rows.row($0).version) }) { first, _ in first }
    }

    package var isEmpty: Bool { keys.isEmpty }

    /// Returns the keys that are in a range.
    package func keys(among others: ClosedRange<Int64>, _ root: EntityIndex, _ store: Int) -> [Int64] {
        guard let keys = keys[Place(store: store, root: root)] else { return [] }
        return others.count <= keys.count ? others.filter(keys.contains) : keys.filter(others.contains)
    }
}
