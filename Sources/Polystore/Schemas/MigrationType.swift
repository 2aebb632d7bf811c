public import PolystoreStorage

/// What the step from one version of a model to another takes.
public enum MigrationType: Sendable, Hashable {
    /// Nothing: both versions store the same.
    case none(version: String)
    /// The new form of everything follows from the old one, though some may be lost (`Schema.changes`).
    case lightweight(sourceVersion: String, destinationVersion: String)
    /// Something has to be decided that does not follow from the two schemas.
    case heavyweight(sourceVersion: String, destinationVersion: String)

    /// What the step between two schemas takes.
    public init(from source: Schema, to destination: Schema) {
        if source.hash == destination.hash {
            self = .none(version: destination.version)
        } else if destination.changes(since: source).allSatisfy(\.isInferable) {
            self = .lightweight(sourceVersion: source.version, destinationVersion: destination.version)
        } else {
            self = .heavyweight(sourceVersion: source.version, destinationVersion: destination.version)
        }
    }

    /// The version before the step; the destination where nothing is to do.
    public var sourceVersion: String {
        switch self {
        case .none(let version): version
        case .lightweight(let version, _), .heavyweight(let version, _): version
        }
    }

    /// The version after the step.
    public var destinationVersion: String {
        switch self {
        case .none(let version): version
        case .lightweight(_, let version), .heavyweight(_, let version): version
        }
    }

    /// Whether everything follows from the two schemas.
    public var isLightweightMigration: Bool { if case .lightweight = self { true } else { false } }

    /// Whether something has to be decided.
    public var isHeavyweightMigration: Bool { if case .heavyweight = self { true } else { false } }

    /// Whether there is something to do.
    public var hasMigration: Bool { if case .none = self { false } else { true } }
}

extension MigrationType: CustomStringConvertible {
    /// The versions and the kind, such as `"V1" → "V2" (lightweight)`.
    public var description: String {
        switch self {
        case .none(let version): "\"\(version)\" (nothing to do)"
        case .lightweight(let source, let destination): "\(MigrationChain.text([source, destination])) (lightweight)"
        case .heavyweight(let source, let destination): "\(MigrationChain.text([source, destination])) (heavyweight)"
        }
    }
}
