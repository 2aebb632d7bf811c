internal import PolystoreStorage

/// The records that a load leaves out because they do not fit the model or the other objects.
///
/// A record that is found only while others are written was perhaps referred to by them, so the load begins again without it.
package final class LoadRejects {
    /// A record that was left out.
    package struct Rejected: Sendable {
        /// The line of the file on which the record begins.
        package let line: Int
        /// The file, line, and column, and what is wrong.
        package let reason: String
        /// The record in the form of its file, with the reason.
        let text: [UInt8]
        fileprivate let ordinal: Int
    }

    /// The name of the column or member with the reason, which a load ignores.
    static let reasonName = "polystore_reason"

    /// The records of each file, by index and position.
    private var rejected: [Int: [Int: Rejected]] = [:]
    private var forms: [Int: RecordForm] = [:]
    private let most: Int
    /// Whether a record was rejected since the load began.
    private(set) var isChanged = false
    /// Whether all records were examined by themselves.
    var isValidated = false

    /// Creates an empty list.
    ///
    /// - Parameter most: The number of records that may be left out.
    package init(most: Int = .max) { self.most = most }

    /// The number of records that were left out.
    package var count: Int { rejected.values.reduce(0) { $0 + $1.count } }

    /// Returns the records of a file that were left out, in the order of the file.
    package func records(ofFile index: Int) -> [Rejected] { (rejected[index] ?? [:]).values.sorted { $0.ordinal < $1.ordinal } }

    /// Returns a file with the records that were left out, which can be loaded again in place of the whole one; nil without such records.
    package func text(ofFile index: Int) -> [UInt8]? {
        let records = records(ofFile: index)
        guard !records.isEmpty, let form = forms[index] else { return nil }
        return form.header + records.flatMap { $0.text + [UInt8(ascii: "\n")] }
    }

    /// Begins the load, or begins it again.
    func begin() { isChanged = false }

    func setForm(_ form: RecordForm, ofFile index: Int) { forms[index] = form }

    func contains(_ record: LoadRecord, ofFile index: Int) -> Bool { rejected[index]?[record.ordinal] != nil }

    /// Leaves a record out.
    ///
    /// - Throws: The error itself if it does not concern the record alone; `limitExceeded` if too many records are left out.
    func add(_ record: LoadRecord, ofFile index: Int, _ error: StorageError) throws(StorageError) {
        let codes: [StorageError.Code] = [
            .valueNotStorable, .valueOutOfRange, .valueTooLarge, .validationFailed, .uniqueConstraintViolated,
        ]
        guard codes.contains(error.code), let form = forms[index] else { throw error }
        let text = form.text(of: record, error.message)
        rejected[index, default: [:]][record.ordinal] = Rejected(
            line: record.line, reason: error.message, text: text, ordinal: record.ordinal)
        isChanged = true
        if count > most {
            throw StorageError(
                .limitExceeded, "more than \(most) records were rejected, so nothing was loaded; the last one: \(error.message)",
                details: error.details, cause: error)
        }
    }
}
