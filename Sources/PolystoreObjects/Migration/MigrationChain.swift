public import PolystoreStorage

/// The order of a model's versions.
///
/// Most chains are lists, oldest version first. If several versions precede one version, the chain is a tree that maps each version to the
/// next:
/// ```swift
/// let list: MigrationChain = ["V1", "V2", "V3"]
/// let tree: MigrationChain = ["V1": "V3", "V2": "V4", "V3": "V4"]     // V1 to V3 to V4, V2 to V4
/// let none: MigrationChain = nil                                      // each version straight to the current one
/// ```
/// An empty chain, or one of a single version, has no steps between versions: each version is migrated directly to the current one. An
/// invalid chain keeps its `defect` until `check()`, because literals cannot throw.
public struct MigrationChain: Sendable {
    /// The versions in the order of their first occurrence.
    public private(set) var versions: [String] = []
    /// The reason why the chain is invalid, with the path that shows it; nil for a valid chain.
    public private(set) var defect: String?
    private var successors: [String: String] = [:]

    /// Creates an empty chain.
    public init() {}

    /// Creates a chain of one version, which is the current one.
    public init(_ version: String) { versions = [version] }

    /// Creates a chain from a list of versions, each followed by the next.
    public init(_ list: some Sequence<String>) {
        let list = Array(list)
        var positions: [String: Int] = [:]
        for (position, version) in list.enumerated() {
            if let first = positions.updateValue(position, forKey: version), defect == nil {
                defect = "version \"\(version)\" is listed twice: \(Self.text(list[first...position]))"
            }
        }
        versions = list.first.map { [$0] } ?? []
        for (version, next) in zip(list, list.dropFirst()) where successors[version] == nil { append(version, next) }
    }

    /// Creates a chain from a tree that maps each version to the next. Its versions are sorted by name.
    public init(_ tree: [String: String]) { self.init(steps: tree.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }

    init(steps: [(String, String)]) {
        for (version, next) in steps {
            guard let known = successors[version] else {
                append(version, next)
                continue
            }
            defect =
                defect
                ?? "version \"\(version)\" has two next versions: \(Self.text([version, known])) and \(Self.text([version, next]))"
        }
        defect = defect ?? loop().map { "the versions form a cycle: \(Self.text($0))" }
    }

    private mutating func append(_ version: String, _ next: String) {
        successors[version] = next
        for name in [version, next] where !versions.contains(name) { versions.append(name) }
    }

    // MARK: Queries

    /// Whether the chain contains no versions.
    public var isEmpty: Bool { versions.isEmpty }

    /// Whether versions follow each other. Otherwise each version is migrated directly to the current one.
    public var hasSteps: Bool { !successors.isEmpty }

    /// Returns whether the chain contains a version.
    public func contains(_ version: String) -> Bool { versions.contains(version) }

    /// Returns the version after another one; nil after the last one, and for a version that is not in the chain.
    public func nextVersion(from version: String) -> String? { successors[version] }

    /// The versions without a successor.
    public var leafVersions: [String] { versions.filter { successors[$0] == nil } }

    /// The versions without a predecessor.
    public var rootVersions: [String] {
        let followers = Set(successors.values)
        return versions.filter { !followers.contains($0) }
    }

    /// Returns the versions from one to another, including both; nil if there is no such path.
    public func path(from start: String, to end: String) -> [String]? {
        guard contains(start) else { return nil }
        let way = way(from: start)
        return way.firstIndex(of: end).map { Array(way[...$0]) }
    }

    /// Throws if the chain is invalid.
    ///
    /// - Throws: `invalidConfiguration` for a version that occurs twice in a list or twice as a key, and for a loop, with the path that
    ///   shows it.
    public func check() throws(StorageError) {
        if let defect { throw StorageError(.invalidConfiguration, "the migration chain is invalid: \(defect)") }
    }

    // MARK: Paths

    /// Returns the versions starting at a given one, without duplicates: a loop ends before its first repetition.
    func way(from start: String) -> [String] {
        var way = [start], seen: Set = [start]
        while let next = successors[way[way.count - 1]], seen.insert(next).inserted { way.append(next) }
        return way
    }

    /// Returns a loop, from one of its versions to itself. Each version is visited once.
    private func loop() -> [String]? {
        var walks: [String: Int] = [:]
        for (walk, start) in versions.enumerated() {
            var next: String? = start
            while let version = next, walks[version] == nil {
                walks[version] = walk
                next = successors[version]
            }
            if let version = next, walks[version] == walk { return way(from: version) + [version] }
        }
        return nil
    }

    /// Returns versions as `"V1" → "V2"`.
    static func text(_ versions: some Sequence<String>) -> String { versions.map { "\"\($0)\"" }.joined(separator: " → ") }
}

extension MigrationChain: Hashable {
    /// Returns whether both chains have the same versions and steps. A list equals the tree with its steps.
    public static func == (a: MigrationChain, b: MigrationChain) -> Bool {
        a.successors == b.successors && a.defect == b.defect && Set(a.versions) == Set(b.versions)
    }

    /// Hashes the steps and the defect.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(successors)
        hasher.combine(defect)
    }
}

extension MigrationChain: CustomStringConvertible {
    /// The path from each first version to its last, such as `"V1" → "V3" → "V4", "V2" → "V4"`; for an invalid chain the defect.
    public var description: String {
        if let defect { return defect }
        return isEmpty ? "directly to the current version" : rootVersions.map { Self.text(way(from: $0)) }.joined(separator: ", ")
    }
}

extension MigrationChain: ExpressibleByNilLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates an empty chain.
    public init(nilLiteral: ()) { self.init() }

    /// Creates a chain of one version.
    public init(stringLiteral version: String) { self.init(version) }

    /// Creates a chain from a list of versions.
    public init(arrayLiteral versions: String...) { self.init(versions) }

    /// Creates a chain from a tree, with its versions in the order of the literal.
    public init(dictionaryLiteral steps: (String, String)...) { self.init(steps: steps) }
}
