public import PolystoreStorage

/// The entities of a released version of a model, each pinned by its hash, so that a change of it by mistake is found.
///
/// ```swift
/// let v1 = try Schema(
///     version: "V1", entities: [animal, dog],
///     versionLock: [
///         "Animal": [0x1b59d511019695cf, 0xdeb97e86c5eff179, 0x01cfd80745646cb3, 0x4ff99416175b5b9a],
///         "Dog": [0xe3f0afeb109b283a, 0x29998d292938eb61, 0x6aab788333cfc2a3, 0x492ff1d295910ea7],
///     ])
/// ```
/// Print `schema.versionLock` and paste it. The hash of an entity is of what decides how its own properties are stored
/// (`SchemaHash.init(of:)`): defaults and rules of values can change under a lock. Locks are checked in every build.
public struct VersionLock: Sendable, Hashable {
    /// The four words of each entity's hash, by its name.
    public let hashes: [String: [UInt64]]
    private let repeated: [String]

    /// A lock of the given words.
    public init(_ hashes: [String: [UInt64]]) {
        self.hashes = hashes
        repeated = []
    }

    /// The lock that holds for a schema.
    public init(of schema: Schema) {
        self.init(Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, SchemaHash(of: $0).words) }))
    }

    /// Refuses a schema with other entities than the pinned ones.
    ///
    /// - Throws: `invalidConfiguration` naming the entities that changed, are new or are gone, with the lock that would hold; before that
    ///   for an entity that is pinned twice.
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
            "version \"\(schema.version)\" of the model is locked, but is not what it was (\(texts.joined(separator: "; "))); the lock would be now:\n\(present)"
        )
    }
}

extension VersionLock: ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// A lock as it is printed; an entity that is pinned twice is refused when the lock is checked.
    public init(dictionaryLiteral pins: (String, [UInt64])...) {
        hashes = Dictionary(pins, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        repeated = pins.map(\.0).filter { !seen.insert($0).inserted }
    }

    /// The literal to paste, entities by name.
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
    /// The lock that holds for this schema.
    public var versionLock: VersionLock { VersionLock(of: self) }

    /// A checked schema whose entities are those of a lock.
    ///
    /// - Throws: `invalidConfiguration` naming the first place that breaks a rule, or what the lock finds.
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
