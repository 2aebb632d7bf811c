public import PolystoreStorage

/// The kind of step between two versions of a model.
public enum MigrationType: Sendable, Hashable {
    /// No step: both versions have the same stored form.
    case none(version: String)
    /// A step that can be inferred from the schemas, although it may lose data (`Schema.changes`).
    case lightweight(sourceVersion: String, destinationVersion: String)
    /// A step that requires decisions which cannot be inferred from the two schemas.
    case heavyweight(sourceVersion: String, destinationVersion: String)

    /// Determines the kind of step between two schemas.
    public init(from source: Schema, to destination: Schema) {
        if source.hash == destination.hash {
            self = .none(version: destination.version)
        } else if destination.changes(since: source).allSatisfy(\.isInferable) {
            self = .lightweight(sourceVersion: source.version, destinationVersion: destination.version)
        } else {
            self = .heavyweight(sourceVersion: source.version, destinationVersion: destination.version)
        }
    }

    /// The version before the step; the destination if there is no step.
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

    /// Whether the step can be inferred from the two schemas.
    public var isLightweightMigration: Bool { if case .lightweight = self { true } else { false } }

    /// Whether the step requires decisions.
    public var isHeavyweightMigration: Bool { if case .heavyweight = self { true } else { false } }

    /// Whether a migration is required.
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
