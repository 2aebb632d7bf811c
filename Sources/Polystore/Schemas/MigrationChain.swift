public import PolystoreStorage

/// Which version of a model follows which.
///
/// Most are lists, oldest version first; where versions have more than one past, the chain is a tree that leads each one to the next:
/// ```swift
/// let list: MigrationChain = ["V1", "V2", "V3"]
/// let tree: MigrationChain = ["V1": "V3", "V2": "V4", "V3": "V4"]     // V1 to V3 to V4, V2 to V4
/// let none: MigrationChain = nil                                      // each version straight to the current one
/// ```
/// An empty chain, or one of a single version, has no steps between versions: each leads straight to the current one. A chain that cannot
/// be followed keeps what is wrong with it (`defect`) until `check()`, because literals cannot throw.
public struct MigrationChain: Sendable {
    /// The versions in the order in which they are first named.
    public private(set) var versions: [String] = []
    /// Why the chain cannot be followed, with the way that shows it; nil when it can.
    public private(set) var defect: String?
    private var successors: [String: String] = [:]

    /// The empty chain.
    public init() {}

    /// The chain of one version, which is the current one.
    public init(_ version: String) { versions = [version] }

    /// A list of versions, each followed by the next.
    public init(_ list: some Sequence<String>) {
        let list = Array(list)
        var positions: [String: Int] = [:]
        for (position, version) in list.enumerated() {
            if let first = positions.updateValue(position, forKey: version), defect == nil {
                defect = "version \"\(version)\" stands twice in the list: \(Self.text(list[first...position]))"
            }
        }
        versions = list.first.map { [$0] } ?? []
        for (version, next) in zip(list, list.dropFirst()) where successors[version] == nil { append(version, next) }
    }

    /// A tree that leads each version to the next; its versions are named in the order of their names.
    public init(_ tree: [String: String]) { self.init(steps: tree.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }

    init(steps: [(String, String)]) {
        for (version, next) in steps {
            guard let known = successors[version] else {
                append(version, next)
                continue
            }
            defect =
                defect
                ?? "version \"\(version)\" stands twice as a key: \(Self.text([version, known])) and \(Self.text([version, next]))"
        }
        defect = defect ?? loop().map { "the versions lead in a loop: \(Self.text($0))" }
    }

    private mutating func append(_ version: String, _ next: String) {
        successors[version] = next
        for name in [version, next] where !versions.contains(name) { versions.append(name) }
    }

    // MARK: Questions

    /// Whether the chain names no version.
    public var isEmpty: Bool { versions.isEmpty }

    /// Whether versions follow each other; otherwise each leads straight to the current one.
    public var hasSteps: Bool { !successors.isEmpty }

    /// Whether the chain names a version.
    public func contains(_ version: String) -> Bool { versions.contains(version) }

    /// The version that follows one; nil after the last, and for a version that the chain does not name.
    public func nextVersion(from version: String) -> String? { successors[version] }

    /// The versions that nothing follows.
    public var leafVersions: [String] { versions.filter { successors[$0] == nil } }

    /// The versions that follow nothing.
    public var rootVersions: [String] {
        let followers = Set(successors.values)
        return versions.filter { !followers.contains($0) }
    }

    /// The versions from one to another, both included; nil when the chain does not lead there.
    public func path(from start: String, to end: String) -> [String]? {
        guard contains(start) else { return nil }
        let way = way(from: start)
        return way.firstIndex(of: end).map { Array(way[...$0]) }
    }

    /// Refuses a chain that cannot be followed.
    ///
    /// - Throws: `invalidConfiguration` for a version that stands twice in a list or twice as a key, and for a loop, with the way that
    ///   shows it.
    public func check() throws(StorageError) {
        if let defect { throw StorageError(.invalidConfiguration, "the migration chain cannot be followed: \(defect)") }
    }

    // MARK: Ways

    /// The versions from one on, each once: a loop ends before it begins anew.
    func way(from start: String) -> [String] {
        var way = [start], seen: Set = [start]
        while let next = successors[way[way.count - 1]], seen.insert(next).inserted { way.append(next) }
        return way
    }

    /// A loop, from one of its versions to the same; every version is looked at once.
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

    /// Versions as `"V1" → "V2"`.
    static func text(_ versions: some Sequence<String>) -> String { versions.map { "\"\($0)\"" }.joined(separator: " → ") }
}

extension MigrationChain: Hashable {
    /// Whether both lead the same versions to the same ones; a list equals the tree with its steps.
    public static func == (a: MigrationChain, b: MigrationChain) -> Bool {
        a.successors == b.successors && a.defect == b.defect && Set(a.versions) == Set(b.versions)
    }

    /// Feeds the steps and the defect.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(successors)
        hasher.combine(defect)
    }
}

extension MigrationChain: CustomStringConvertible {
    /// The way from each first version to its last, such as `"V1" → "V3" → "V4", "V2" → "V4"`; of a defective chain the defect.
    public var description: String {
        if let defect { return defect }
        return isEmpty ? "straight to the current version" : rootVersions.map { Self.text(way(from: $0)) }.joined(separator: ", ")
    }
}

extension MigrationChain: ExpressibleByNilLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// The empty chain.
    public init(nilLiteral: ()) { self.init() }

    /// The chain of one version.
    public init(stringLiteral version: String) { self.init(version) }

    /// A list of versions.
    public init(arrayLiteral versions: String...) { self.init(versions) }

    /// A tree, its versions named as they are written.
    public init(dictionaryLiteral steps: (String, String)...) { self.init(steps: steps) }
}
