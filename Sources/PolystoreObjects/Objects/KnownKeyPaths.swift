internal import PolystoreStorage
internal import Synchronization

/// A cache of resolved key paths. A lookup costs less than a microsecond, a resolution some hundred, because it tries many values.
enum KnownKeyPaths {
    /// Key paths are immutable. Captured subscript arguments are only compared, and such key paths are cached only if they resolve to a
    /// property.
    private struct Key: Hashable, @unchecked Sendable {
        let keyPath: AnyKeyPath
    }

    /// More than the literals in a program. The number of key paths created at run time is unbounded.
    private static let most = 10_000

    private static let known = Mutex<[Key: KeyPathProbe.Target]>([:])

    @inline(never)
    static func find(_ keyPath: AnyKeyPath) -> KeyPathProbe.Target? {
        let key = Key(keyPath: keyPath)
        return known.withLock { $0[key] }
    }

    @inline(never)
    static func keep(_ target: KeyPathProbe.Target, _ keyPath: AnyKeyPath) {
        let key = Key(keyPath: keyPath)
        known.withLock {
            if $0.count == most { $0.removeAll() }
            $0[key] = target
        }
    }
}
