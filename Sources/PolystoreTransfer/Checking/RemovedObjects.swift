internal import PolystoreStorage

/// The objects that a repair will remove, which a check regards as missing.
struct RemovedObjects: Sendable, Hashable {
    private(set) var keys: [EntityIndex: Set<Int64>] = [:]
    /// The number of objects.
    var count: Int { keys.values.reduce(0) { $0 + $1.count } }

    /// Adds an object. Returns whether it was missing.
    @discardableResult
    mutating func insert(_ key: Int64, root: EntityIndex) -> Bool { keys[root, default: []].insert(key).inserted }

    func contains(_ key: Int64, root: EntityIndex) -> Bool { keys[root]?.contains(key) ?? false }
}
