internal import PolystoreStorage

extension StorageError.Code {
    /// Whether an error of this kind is detected before the engine is called, so that the session is unchanged.
    var precedesWork: Bool {
        [.notFound, .unsupported, .invalidPredicate, .invalidConfiguration, .unplannedLoad].contains(self)
    }

    /// Whether an error of this kind concerns the request and not the session: after a rollback to a savepoint the session remains usable.
    var isUndoable: Bool {
        precedesWork
            || [
                .uniqueConstraintViolated, .alreadyExists, .validationFailed, .deleteDenied, .staleObject, .readOnly, .valueNotStorable,
                .valueOutOfRange, .valueTooLarge, .limitExceeded, .arithmeticOverflow, .divisionByZero, .corrupted,
            ].contains(self)
    }

    /// Whether an error of this kind concerns the transaction as a whole, so that no part of it can be reported as failed individually.
    var concernsWholeTransaction: Bool { [.serializationFailure, .connectionLost, .cancelled, .timeout].contains(self) }
}
