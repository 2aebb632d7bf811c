internal import PolystoreStorage

/// The errors of records.
extension LoadTarget {
    /// Returns the error of a record without the values of a required relationship.
    func refusal(_ record: LoadRecord, unnamed search: LoadSearch) -> StorageError {
        refusal(
            record, search.parts[0].column, search.name, "\(description.name).\(search.name) is required, but the column is nil",
            .validationFailed)
    }

    /// Returns the error of a record whose destination several objects could be.
    func refusal(_ record: LoadRecord, ambiguous search: LoadSearch, _ schema: Schema) -> StorageError {
        refusal(
            record, search.parts[0].column, search.name,
            "\(description.name).\(search.name) is ambiguous: several objects of \(schema[search.destination].name) have these values",
            .validationFailed)
    }

    /// Returns the error of a record whose required destination does not exist.
    func refusal(_ record: LoadRecord, unresolved search: LoadSearch, _ schema: Schema) -> StorageError {
        refusal(
            record, search.parts[0].column, search.name,
            "\(description.name).\(search.name) is required, but no object of \(schema[search.destination].name) has these values",
            .validationFailed)
    }

    /// Returns the error of a record whose destination another object refers to.
    func refusal(_ record: LoadRecord, taken reference: LoadReference) -> StorageError {
        refusal(
            record, reference.search.parts[0].column, reference.name,
            "\(description.name).\(reference.name) refers to an object that another object already refers to", .validationFailed)
    }

    /// Returns the error of a record that is to update an object, but could update several.
    func refusal(severalOf record: LoadRecord) -> StorageError {
        let on = on ?? [], names = on.map { description.slots[$0].name }.joined(separator: ", ")
        return refusal(
            record, on.first.flatMap(column) ?? ExactText(names), names,
            "several objects of \(description.name) have these values of \(names)", .validationFailed)
    }

    /// Returns the error of a record with the key of an object that exists.
    ///
    /// - Parameter isStored: Whether the object is one of the store, not of an earlier record.
    func refusal(_ record: LoadRecord, keyIsStored isStored: Bool) -> StorageError {
        let column = ExactText(ObjectRecord.key)
        return refusal(
            record, column, column.text,
            "\(isStored ? "the store has" : "an earlier record is") an object of \(description.name) with this key", .validationFailed)
    }

    /// Returns the error of a record to whose object none refers by a required relationship.
    func refusal(_ record: LoadRecord, unfilled relationship: String) -> StorageError {
        let message = "\(file.file.excerpt()), line \(record.line): \(description.name).\(relationship) is required but nil"
        return StorageError(.validationFailed, message, details: .init(entity: description.name, property: relationship))
    }

    /// Returns the error of the record on a line by which an object violates a rule.
    func refusal(line: Int, _ violation: StorageError) -> StorageError {
        let message = violation.message.replacing("; nothing was loaded", with: "")
        return StorageError(
            violation.code, "\(file.file.excerpt()), line \(line): \(message)", details: violation.details)
    }
}
