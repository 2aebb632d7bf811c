package import PolystoreStorage

extension StorageError {
    /// Returns the error for a row or a pair that a trigger of another program has left unchanged without an error.
    ///
    /// - Parameters:
    ///   - entity: The entity of the row, or of the owner of the pair.
    ///   - key: The key of the row; 0 where it is not known.
    package static func ignored(_ entity: EntityIndex, _ schema: Schema, key: Int64 = 0) -> StorageError {
        let name = schema.entities[entity].name
        let failure = ValidationFailure(
            entity: name, property: nil, key: key, "is rejected by a trigger of the database, which ignores the change")
        return StorageError(.validationFailed, "\(failure)", details: .init(entity: name, failures: [failure]))
    }
}
