internal import Polystore

/// Key paths for grouping, combined with `|`.
public struct GroupKeys: Sendable {
    let paths: [String]
}
