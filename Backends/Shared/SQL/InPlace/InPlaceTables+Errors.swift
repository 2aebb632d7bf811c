package import PolystoreStorage

// Violations of the rules of another program's tables, as errors of the contract.
extension InPlaceTables {
    /// Returns the error for a new object whose key is already in use.
    package func keyIsTaken(_ entity: String, _ cause: any Error) -> StorageError {
        StorageError(
            .alreadyExists, "an object of \(entity) with this key already exists", details: .init(entity: entity), cause: cause)
    }

    /// Returns the error for values that violate a unique constraint.
    ///
    /// - Parameters:
    ///   - properties: The properties of the constraint.
    ///   - index: The engine's name of the constraint, for one that the model does not have.
    package func isNotUnique(_ entity: String, _ properties: [String], index: String, _ cause: any Error) -> StorageError {
        let entityConstraints = schema.index(of: entity).map { index in
            schema[index].uniqueConstraints.first { Set($0.slots.map { schema[index].slots[$0].name }) == Set(properties) }
        }
        let constraint = (entityConstraints ?? nil)?.name ?? index
        return StorageError(
            .uniqueConstraintViolated, "another object of \(entity) has the same \(constraint)",
            details: .init(entity: entity, constraint: constraint), cause: cause)
    }

    /// Returns the error for a value that violates a rule of its column.
    package func isInvalid(_ entity: String, _ property: String?, _ message: String, _ cause: any Error) -> StorageError {
        let failure = ValidationFailure(entity: entity, property: property, key: 0, message)
        return StorageError(
            .validationFailed, "\(failure)", details: .init(entity: entity, property: property, failures: [failure]), cause: cause)
    }
}
