package import PolystoreStorage

/// The records that a load leaves out because they do not fit the model or the other objects.
///
/// Each pass of the load is without the records that earlier ones have rejected. Once a pass rejects none, those that were rejected because of
/// other objects take part again where this seems possible (`LoadTrials`), because what they met may have been rejected later.
package final class LoadRejects {
    /// A record that was left out.
    package struct Rejected {
        /// The file, line, and column, and what is wrong.
        package fileprivate(set) var reason: String
        let record: LoadRecord
        let place: LoadRecord.Place

        /// The line of the file on which the record begins.
        package var line: Int { record.line }
    }

    /// The name of the column or member with the reason, which a load ignores.
    static let reasonName = "polystore_reason"

    /// The records that are wrong by themselves, by file and position.
    private var wrong: [Int: [Int: Rejected]] = [:]
    /// The records that are left out because of other objects, by file and position.
    private var left: [Int: [Int: Rejected]] = [:]
    /// The errors of records that were found when they were no longer at hand, by file and position.
    private var refused: [Int: [Int: StorageError]] = [:]
    /// The records that the present pass has rejected.
    private var present: Set<LoadRecord.Place> = []
    private var trials = LoadTrials()
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
    package var count: Int { [wrong, left].joined().reduce(0) { $0 + $1.value.count } }

    /// Returns the records of a file that were left out, in the order of the file.
    package func records(ofFile index: Int) -> [Rejected] {
        [wrong, left].flatMap { ($0[index] ?? [:]).values }.sorted { $0.place.ordinal < $1.place.ordinal }
    }

    /// Returns a file with the records that were left out, which can be loaded again in place of the whole one; nil without such records.
    ///
    /// - Parameter name: The name of that file.
    /// - Throws: `invalidConfiguration` if a file of that name would be read in another form.
    package func text(ofFile index: Int, named name: String) throws(StorageError) -> [UInt8]? {
        let records = records(ofFile: index)
        guard !records.isEmpty, let form = forms[index] else { return nil }
        let text = form.header + records.flatMap { form.text(of: $0.record, $0.reason) + [UInt8(ascii: "\n")] }
        try form.check(text, name)
        return text
    }

    func setForm(_ form: RecordForm, ofFile index: Int) { forms[index] = form }

    func contains(_ record: LoadRecord, ofFile index: Int) -> Bool { contains(record.ordinal, ofFile: index) }

    private func contains(_ ordinal: Int, ofFile index: Int) -> Bool { [wrong, left].contains { $0[index]?[ordinal] != nil } }

    // MARK: Rejecting

    /// Returns whether an error concerns a record, so that others can be loaded.
    static func concernsRecord(_ error: StorageError) -> Bool {
        [.valueNotStorable, .valueOutOfRange, .valueTooLarge, .validationFailed, .uniqueConstraintViolated].contains(error.code)
    }

    /// Leaves a record out.
    ///
    /// - Throws: The error itself if it does not concern the record alone; `limitExceeded` if too many records are wrong by themselves.
    func add(_ record: LoadRecord, ofFile index: Int, _ error: StorageError) throws(StorageError) {
        if !Self.concernsRecord(error) { throw error }
        isChanged = true
        isVoid = true
        let place = LoadRecord.Place(file: index, line: record.line, ordinal: record.ordinal)
        let rejected = Rejected(reason: error.message, record: record, place: place)
        if isValidated {
            present.insert(place)
            left[index, default: [:]][place.ordinal] = rejected
        } else {
            wrong[index, default: [:]][place.ordinal] = rejected
            if (wrong.values.reduce(0) { $0 + $1.count }) > most { throw tooMany(error) }
        }
    }

    /// Leaves a record out when it is read again.
    func refuse(_ place: LoadRecord.Place, _ error: StorageError) {
        isChanged = true
        present.insert(place)
        refused[place.file, default: [:]][place.ordinal] = error
    }

    /// Leaves a record out that was refused when it was no longer at hand. Returns whether it was.
    func isRefused(_ record: LoadRecord, ofFile index: Int) -> Bool {
        guard let error = refused[index]?.removeValue(forKey: record.ordinal) else { return false }
        let place = LoadRecord.Place(file: index, line: record.line, ordinal: record.ordinal)
        left[index, default: [:]][record.ordinal] = Rejected(reason: error.message, record: record, place: place)
        return true
    }

    /// Returns whether a record was rejected or refused.
    func isLeftOut(_ record: LoadRecord.Place) -> Bool {
        refused[record.file]?[record.ordinal] != nil || contains(record.ordinal, ofFile: record.file)
    }

    // MARK: Passes

    /// Begins the load, or begins it again.
    func begin() {
        acceptChanges()
        present.removeAll()
    }

    /// Goes on with the present pass, to which the records that were rejected until now make no difference.
    func acceptChanges() {
        isChanged = false
        isVoid = false
    }

    /// Whether records take part again that were left out before.
    var isTrying: Bool { trials.current != nil }

    /// Ends a pass that has rejected records, or failed if `isFailed` is true, and prepares the next one.
    func endPass(isFailed: Bool = false) {
        guard let current = trials.current else { return trials.restart() }
        if !isFailed, trials.goesOn(without: present) { return }
        refused.removeAll()
        // What was loaded before stays.
        for place in present { left[place.file]?[place.ordinal] = nil }
        for rejected in current { left[rejected.place.file, default: [:]][rejected.place.ordinal] = rejected }
        trials.fail()
        beginTrial()
    }

    /// Ends a pass that has loaded all records that are not left out. Returns whether another one is necessary.
    ///
    /// - Parameter find: Finds those of some rejected records that perhaps can be loaded with those that were.
    /// - Throws: `limitExceeded` if too many records are left out in the end.
    func mustTry(_ find: ([Rejected]) throws(StorageError) -> RejectedSearch.Result) throws(StorageError) -> Bool {
        if isTrying, !trials.goesOn(without: present) {
            endPass()
            return true
        }
        if !trials.isOver {
            let all = left.sorted { $0.key < $1.key }.flatMap { $0.value.values.sorted { $0.place.ordinal < $1.place.ordinal } }
            let found = all.isEmpty ? RejectedSearch.Result() : try find(all)
            for (rejected, error) in zip(all, found.errors) {
                if let error { left[rejected.place.file]?[rejected.place.ordinal]?.reason = error.message }
            }
            trials.begin(with: all, found)
            beginTrial()
            if isTrying { return true }
        }
        if count > most { throw tooMany(nil) }
        return false
    }

    private func beginTrial() { for rejected in trials.current ?? [] { left[rejected.place.file]?[rejected.place.ordinal] = nil } }

    private func tooMany(_ last: StorageError?) -> StorageError {
        StorageError(
            .limitExceeded,
            "more than \(most) records were rejected, so nothing was loaded" + (last.map { "; the last one: \($0.message)" } ?? ""),
            details: last?.details ?? .init(), cause: last)
    }
}
