internal import PolystoreStorage

extension StorageError.Code {
    /// Whether an error of this kind is found before the engine is asked for anything, so that a session is what it was.
    var precedesWork: Bool {
        [.notFound, .unsupported, .invalidPredicate, .invalidConfiguration, .unplannedLoad].contains(self)
    }

    /// Whether an error of this kind is one of what was asked for, not of the session: after a return to a savepoint the session goes on.
    var isUndoable: Bool {
        precedesWork
            || [
                .uniqueConstraintViolated, .alreadyExists, .validationFailed, .deleteDenied, .staleObject, .readOnly, .valueNotStorable,
                .valueOutOfRange, .valueTooLarge, .limitExceeded, .arithmeticOverflow, .divisionByZero, .corrupted,
            ].contains(self)
    }

    /// Whether an error of this kind is one of the transaction as a whole, so that no part of it can be reported as failed alone.
    var concernsWholeTransaction: Bool { [.serializationFailure, .connectionLost, .cancelled, .timeout].contains(self) }
}
