package import PolystoreStorage

// What the rules of another program's tables say against a change, as errors of the contract.
extension InPlaceTables {
    /// A new object has the key of another.
    package func keyIsTaken(_ entity: String, _ cause: any Error) -> StorageError {
        StorageError(
            .alreadyExists, "an object of \(entity) with this key is already there", details: .init(entity: entity), cause: cause)
    }

    /// Values must be unique and are not.
    ///
    /// - Parameters:
    ///   - properties: What is unique together.
    ///   - index: What the engine calls the rule, for one that the model does not have.
    package func isNotUnique(_ entity: String, _ properties: [String], index: String, _ cause: any Error) -> StorageError {
        let entityConstraints = schema.index(of: entity).map { index in
            schema[index].uniqueConstraints.first { Set($0.slots.map { schema[index].slots[$0].name }) == Set(properties) }
        }
        let constraint = (entityConstraints ?? nil)?.name ?? index
        return StorageError(
            .uniqueConstraintViolated, "another object of \(entity) has the same \(constraint)",
            details: .init(entity: entity, constraint: constraint), cause: cause)
    }

    /// A value breaks a rule of its own.
    package func isInvalid(_ entity: String, _ property: String?, _ message: String, _ cause: any Error) -> StorageError {
        let failure = ValidationFailure(entity: entity, property: property, key: 0, message)
        return StorageError(
            .validationFailed, "\(failure)", details: .init(entity: entity, property: property, failures: [failure]), cause: cause)
    }
}
