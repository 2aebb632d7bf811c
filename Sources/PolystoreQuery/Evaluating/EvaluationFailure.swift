internal import PolystoreSchema

/// The first error of an evaluation, such as a division by zero.
final class EvaluationFailure {
    var error: QueryError?

    /// Throws the error and clears it, because the next row may have none.
    func rethrow() throws(QueryError) {
        guard let error else { return }
        self.error = nil
        throw error
    }
}
