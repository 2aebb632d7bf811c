package import PolystoreStorage

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
        fileprivate let basis: Basis
    }

    /// On what the reason for a rejection rests. A new rejection makes the reasons void that rest on more.
    enum Basis: Int {
        /// The record itself, or the store.
        case own
        /// Another record, by a conflict that was found when both were written.
        case writtenRecord
        /// Another record, by a conflict that was found when the record was read.
        case readRecord

        init(dependsOnOthers: Bool) { self = dependsOnOthers ? .readRecord : .own }
    }

    /// The reason for which a record is left out when it is read again.
    struct Refusal {
        let error: StorageError
        let basis: Basis
    }

    /// The name of the column or member with the reason, which a load ignores.
    static let reasonName = "polystore_reason"

    /// The records of each file, by index and position.
    private var rejected: [Int: [Int: Rejected]] = [:]
    /// The records whose reason is another record, until a further one is rejected for a reason that rests on less.
    private var provisional: [Int: [Int: Rejected]] = [:]
    /// The records of the present pass whose reason is another record.
    private var dependent: [Int: [Int: Rejected]] = [:]
    /// The least on which a reason of the present pass rests. Reasons that rest on more may be void.
    private var least = Basis.readRecord
    /// The errors of records that were found when they were no longer at hand, by file and position.
    private var refused: [Int: [Int: Refusal]] = [:]
    private var forms: [Int: RecordForm] = [:]
    private let most: Int
    /// Whether a record was rejected since the load began.
    private(set) var isChanged = false
    /// Whether a record was rejected when it was read, since the load began.
    private(set) var isVoid = false
    /// Whether all records were examined by themselves.
    var isValidated = false

    /// Creates an empty list.
    ///
    /// - Parameter most: The number of records that may be left out.
    package init(most: Int = .max) { self.most = most }

    /// The number of records that were left out.
    package var count: Int { [rejected, provisional, dependent].joined().reduce(0) { $0 + $1.value.count } }

    /// Returns the records of a file that were left out, in the order of the file.
    package func records(ofFile index: Int) -> [Rejected] {
        [rejected, provisional, dependent].flatMap { ($0[index] ?? [:]).values }.sorted { $0.ordinal < $1.ordinal }
    }

    /// Returns a file with the records that were left out, which can be loaded again in place of the whole one; nil without such records.
    ///
    /// - Parameter name: The name of that file.
    /// - Throws: `invalidConfiguration` if a file of that name would be read in another form.
    package func text(ofFile index: Int, named name: String) throws(StorageError) -> [UInt8]? {
        let records = records(ofFile: index)
        guard !records.isEmpty, let form = forms[index] else { return nil }
        let text = form.header + records.flatMap { $0.text + [UInt8(ascii: "\n")] }
        try form.check(text, name)
        return text
    }

    /// Begins the load, or begins it again. A record that was rejected because of another one is tried again if any was rejected for a
    /// reason that rests on less.
    func begin() {
        for (file, records) in dependent { provisional[file, default: [:]].merge(records) { first, _ in first } }
        for file in provisional.keys { provisional[file] = provisional[file]?.filter { $0.value.basis.rawValue <= least.rawValue } }
        dependent.removeAll()
        least = .readRecord
        isChanged = false
        isVoid = false
    }

    /// Goes on with the present pass, to which the records that were rejected until now make no difference.
    func acceptChanges() {
        isChanged = false
        isVoid = false
    }

    /// Whether records are left out because of others, until a further one is rejected for a reason that rests on less.
    var isProvisional: Bool { provisional.contains { !$0.value.isEmpty } }

    func setForm(_ form: RecordForm, ofFile index: Int) { forms[index] = form }

    func contains(_ record: LoadRecord, ofFile index: Int) -> Bool {
        contains(record.ordinal, ofFile: index)
    }

    /// Returns whether an error concerns a record, so that others can be loaded.
    static func concernsRecord(_ error: StorageError) -> Bool {
        [.valueNotStorable, .valueOutOfRange, .valueTooLarge, .validationFailed, .uniqueConstraintViolated].contains(error.code)
    }

    /// Leaves a record out when it is read again.
    ///
    /// - Parameter dependsOnOthers: Whether the reason is another record, which may be left out itself.
    func refuse(_ record: LoadRecord.Place, _ error: StorageError, dependsOnOthers: Bool) {
        let basis = dependsOnOthers ? Basis.writtenRecord : .own, earlier = refused[record.file]?[record.ordinal]?.basis
        if earlier == nil || earlier == .writtenRecord {
            refused[record.file, default: [:]][record.ordinal] = Refusal(error: error, basis: basis)
        }
        isChanged = true
        note(basis)
    }

    private func note(_ basis: Basis) { if basis.rawValue < least.rawValue { least = basis } }

    /// Returns whether a record was rejected or refused.
    func isLeftOut(_ record: LoadRecord.Place) -> Bool {
        refused[record.file]?[record.ordinal] != nil || contains(record.ordinal, ofFile: record.file)
    }

    /// Returns the reason for which a record is left out, if it was refused in the pass before.
    func refusal(of record: LoadRecord, ofFile index: Int) -> Refusal? { refused[index]?.removeValue(forKey: record.ordinal) }

    private func contains(_ ordinal: Int, ofFile index: Int) -> Bool {
        [rejected, provisional, dependent].contains { $0[index]?[ordinal] != nil }
    }

    /// Leaves a record out.
    ///
    /// - Parameter basis: On what the reason rests.
    /// - Throws: The error itself if it does not concern the record alone; `limitExceeded` if too many records are left out.
    func add(
        _ record: LoadRecord, ofFile index: Int, _ error: StorageError, on basis: Basis = .own
    ) throws(StorageError) {
        guard Self.concernsRecord(error), let form = forms[index] else { throw error }
        let text = form.text(of: record, error.message)
        let found = Rejected(line: record.line, reason: error.message, text: text, ordinal: record.ordinal, basis: basis)
        if basis == .own {
            rejected[index, default: [:]][record.ordinal] = found
        } else {
            dependent[index, default: [:]][record.ordinal] = found
        }
        if isValidated { note(basis) }
        isChanged = true
        isVoid = true
        if count > most {
            throw StorageError(
                .limitExceeded, "more than \(most) records were rejected, so nothing was loaded; the last one: \(error.message)",
                details: error.details, cause: error)
        }
    }
}
