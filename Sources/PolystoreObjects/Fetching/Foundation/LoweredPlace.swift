internal import PolystoreStorage

/// A path from one of the objects of a predicate: the object of level 0, or one of the related objects of the previous level.
struct LoweredPlace: Hashable {
    let level: Int
    let names: [String]

    /// Returns the path with further names appended.
    func appending(_ more: [String]) -> LoweredPlace { LoweredPlace(level: level, names: names + more) }

    /// Returns whether another path is a prefix of this one, or equal to it.
    func begins(with other: LoweredPlace) -> Bool { level == other.level && names.starts(with: other.names) }

    /// The path and all its prefixes.
    var prefixes: Set<LoweredPlace> { Set(names.indices.map { LoweredPlace(level: level, names: Array(names[...$0])) }) }

    /// The property path from the object.
    var path: PropertyPath { names.isEmpty ? .object : PropertyPath(names) }
}
