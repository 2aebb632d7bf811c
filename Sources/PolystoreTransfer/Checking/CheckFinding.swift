public import PolystoreStorage

/// A violation that a check of a store found.
public struct CheckFinding: Sendable, Hashable, CustomStringConvertible {
    /// The entity, or the link table.
    public let table: String
    /// The primary key of the object, or nil if the violation concerns the whole table.
    public let key: Int64?
    /// The property, or nil if the violation concerns the whole object.
    public let property: String?
    /// A sentence that describes the violation. It contains no stored value except keys.
    public let sentence: String
    /// The kind of the violation: `uniqueConstraintViolated` for objects with the same values under a constraint, `validationFailed` for a
    /// required value that is nil and for too few or too many members of a relationship, `corrupted` for all others.
    public let code: StorageError.Code
    /// The change by which a repair mends the violation; nil if there is none.
    public var repair: CheckRepair? { step?.repair }
    let step: RepairStep?
    /// Whether the file of the store is damaged, so that nothing in it can be changed safely.
    let isOfFile: Bool

    init(
        _ table: String, _ key: Int64? = nil, _ property: String? = nil, _ sentence: String, _ step: RepairStep? = nil,
        isOfFile: Bool = false, code: StorageError.Code = .corrupted
    ) {
        self.table = table
        self.key = key
        self.property = property
        self.sentence = sentence
        self.step = step
        self.isOfFile = isOfFile
        self.code = code
    }

    /// The same finding without a change that mends it.
    var unmended: CheckFinding { CheckFinding(table, key, property, sentence, nil, isOfFile: isOfFile, code: code) }

    /// The table, property, and key, followed by the sentence.
    public var description: String {
        "\(table)\(property.map { ".\($0)" } ?? "")\(key.map { " of object \($0)" } ?? ""): \(sentence)"
    }
}
