public import PolystoreStorage

/// The hashes of the entities of a released version of a model, which detect accidental changes of these entities.
///
/// ```swift
/// let v1 = try Schema(
///     version: "V1", entities: [animal, dog],
///     versionLock: [
///         "Animal": [0x1b59d511019695cf, 0xdeb97e86c5eff179, 0x01cfd80745646cb3, 0x4ff99416175b5b9a],
///         "Dog": [0xe3f0afeb109b283a, 0x29998d292938eb61, 0x6aab788333cfc2a3, 0x492ff1d295910ea7],
///     ])
/// ```
/// Print `schema.versionLock` and paste it. The hash of an entity covers the facts that determine the storage of its own properties
/// (`SchemaHash.init(of:)`). Defaults and validation rules can change under a lock. Locks are checked in every build.
public struct VersionLock: Sendable, Hashable {
    /// The four words of each entity's hash, by its name.
    public let hashes: [String: [UInt64]]
    private let repeated: [String]

    /// Creates a lock from words.
    public init(_ hashes: [String: [UInt64]]) {
        self.hashes = hashes
        repeated = []
    }

    /// Creates the lock that matches a schema.
    public init(of schema: Schema) {
        self.init(Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, SchemaHash(of: $0).words) }))
    }

    /// Throws if the entities of a schema differ from the locked ones.
    ///
    /// - Throws: `invalidConfiguration`, which names the changed, new and removed entities, with the lock that matches; before that for an
    ///   entity that is locked twice.
    public func check(_ schema: Schema) throws(StorageError) {
        if let name = repeated.first {
            throw StorageError(.invalidConfiguration, "the version lock of \"\(schema.version)\" pins \(name) twice")
        }
        let present = VersionLock(of: schema)
        let differences = [
            ("changed", hashes.keys.filter { present.hashes[$0] != nil && present.hashes[$0] != hashes[$0] }),
            ("new", present.hashes.keys.filter { hashes[$0] == nil }),
            ("gone", hashes.keys.filter { present.hashes[$0] == nil }),
        ]
        let texts = differences.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.sorted().joined(separator: ", "))" }
        if texts.isEmpty { return }
        throw StorageError(
            .invalidConfiguration,
            "version \"\(schema.version)\" of the model is locked, but was changed (\(texts.joined(separator: "; "))); its lock would now be:\n\(present)"
        )
    }
}

extension VersionLock: ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// Creates a lock from its printed form. An entity that is locked twice is reported when the lock is checked.
    public init(dictionaryLiteral pins: (String, [UInt64])...) {
        hashes = Dictionary(pins, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        repeated = pins.map(\.0).filter { !seen.insert($0).inserted }
    }

    /// The literal to paste, sorted by entity name.
    public var description: String {
        let lines = hashes.sorted { $0.key < $1.key }.map { name, words in
            "    \"\(name)\": [\(words.map(Self.hexadecimal).joined(separator: ", "))]"
        }
        return lines.isEmpty ? "[:]" : "[\n\(lines.joined(separator: ",\n")),\n]"
    }

    private static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return "0x" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Schema {
    /// The lock that matches this schema.
    public var versionLock: VersionLock { VersionLock(of: self) }

    /// Creates a validated schema whose entities match a lock.
    ///
    /// - Throws: `invalidConfiguration`, which names the first violation of a rule, or the differences from the lock.
    public init(
        version: String = "1", entities: [Entity], configurations: [String: [String]] = [:], versionLock: VersionLock
    ) throws(StorageError) {
        do throws(SchemaError) {
            try self.init(version: version, entities: entities, configurations: configurations)
        } catch {
            throw StorageError(error)
        }
        try versionLock.check(self)
    }
}
