/// Collects the failures of transformers, whose accessors cannot throw: the first error, and the rules that objects violate.
final class MigrationProblems {
    private static let most = 20
    private var failures: [ValidationFailure] = []
    private var first: StorageError?

    func add(_ error: StorageError) { first = first ?? error }

    func add(_ key: Int64, _ entity: EntityDescription, _ property: String, _ message: String) {
        if failures.count < Self.most {
            failures.append(ValidationFailure(entity: entity.name, property: property, key: key, message))
        }
    }

    func throwFirst() throws(StorageError) {
        if let first { throw first }
        guard let failure = failures.first else { return }
        throw StorageError(
            .validationFailed, "the migration would create objects that violate the rules of the new version: \(failure)",
            details: .init(entity: failure.entity, property: failure.property, keys: failures.map(\.key), failures: failures))
    }
}
