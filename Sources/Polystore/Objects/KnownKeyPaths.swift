internal import PolystoreStorage
internal import Synchronization

/// The key paths that were resolved before: to find one again costs a tenth of resolving it.
enum KnownKeyPaths {
    /// Key paths are immutable. What those with subscripts capture is only compared, and they are kept only where they lead to a property.
    private struct Key: Hashable, @unchecked Sendable {
        let keyPath: AnyKeyPath
    }

    /// More than a program writes; those that are made at run time have no end.
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
