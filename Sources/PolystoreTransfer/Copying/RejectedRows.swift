internal import PolystoreStorage

/// The rows of a source that a transfer leaves out because the target cannot take them, or because they need such a row.
final class RejectedRows {
    /// The codes of errors that concern a row and not the target.
    private static let codes: Set<StorageError.Code> = [
        .valueNotStorable, .valueOutOfRange, .valueTooLarge, .validationFailed, .uniqueConstraintViolated,
    ]

    /// The rows by the root of their hierarchy in the source, and by key.
    private var rows: [EntityIndex: [Int64: RejectedRow]] = [:]
    /// The keys of the rows that the target has refused, by the root of their hierarchy.
    private var refusedKeys: [EntityIndex: Set<Int64>] = [:]
    /// The keys of those among them that it has refused since the rows were last left out.
    private var newlyRefused: [EntityIndex: Set<Int64>] = [:]
    private let most: Int
    /// Whether the source is a database of another program.
    private let isOfForeign: Bool
    /// The number of rows.
    private(set) var count = 0
    /// Whether the target has refused rows that were not known before.
    private(set) var areRefused = false
    /// Whether the rows of the source were examined.
    private var isExamined = false

    /// Creates an empty list; nil if the first row that cannot be copied ends the transfer.
    init?(_ options: TransferOptions, _ source: OpenStore) {
        guard case .skip(let most) = options.onError else { return nil }
        self.most = most
        isOfForeign = source.ability((any ForeignStorage).self)?.foreignAccess != nil
    }

    /// Leaves rows out of a scope: those that the target cannot take as far as the models tell, those that it has refused, and those that need
    /// one of them.
    ///
    /// - Parameter target: The target, if its objects remain.
    func leaveOut(
        of scope: inout TransferScope, _ options: TransferOptions, _ source: ReadSession, _ target: ReadSession?, _ model: MappedModel?,
        _ limit: WorkLimit?
    ) throws(StorageError) {
        if !isExamined {
            let examination = try RowExamination(source.schema, model, accepting: options.acceptedLosses, isForeign: isOfForeign)
            try examination.run(scope, source, self, limit)
            isExamined = true
        }
        newlyRefused = [:]
        let present = options.existing == .replace ? nil : target
        try scope.leaveOut(self, source, present, model, accepted: options.acceptedLosses, limit)
    }

    /// Returns whether an error concerns a row, so that others can be copied.
    static func concernsRow(_ error: StorageError) -> Bool { codes.contains(error.code) }

    /// Adds a row.
    ///
    /// - Throws: `limitExceeded` if too many rows are left out.
    func add(_ row: RejectedRow) throws(StorageError) {
        if rows[row.root, default: [:]].updateValue(row, forKey: row.key) == nil { count += 1 }
        if count <= most { return }
        throw StorageError(
            .limitExceeded,
            "more than \(most) rows cannot be copied, so the transfer has ended; permit more with --max-errors; the last one: "
                + "\(row.entity) \(row.key): \(row.reason)", details: .init(entity: row.entity, property: row.property, keys: [row.key]))
    }

    /// Adds a row that the target has refused.
    func addRefused(_ row: RejectedRow) throws(StorageError) {
        areRefused = true
        newlyRefused[row.root, default: []].insert(row.key)
        try addKnown(row)
    }

    /// Adds a row that the target has refused in an earlier transfer.
    func addKnown(_ row: RejectedRow) throws(StorageError) {
        refusedKeys[row.root, default: []].insert(row.key)
        try add(row)
    }

    /// The rows that the target has refused, in the order of their hierarchies and keys.
    var refused: [RejectedRow] { sorted.filter { refusedKeys[$0.root]?.contains($0.key) == true } }

    /// Returns whether a row of a hierarchy of the source is left out.
    func contains(_ key: Int64, _ root: EntityIndex) -> Bool { rows[root]?[key] != nil }

    /// Returns whether the target has refused a row that was not left out yet.
    func isNewlyRefused(_ key: Int64, _ root: EntityIndex) -> Bool { newlyRefused[root]?.contains(key) == true }

    /// The hierarchies of the source with rows that are left out.
    var roots: [EntityIndex] { rows.keys.sorted() }

    /// Returns the keys of the rows of a hierarchy.
    func keys(_ root: EntityIndex) -> [Int64] { (rows[root] ?? [:]).keys.sorted() }

    /// The number of rows by entity of the target.
    var counts: [String: Int] { Dictionary(rows.values.flatMap(\.values).map { ($0.entity, 1) }, uniquingKeysWith: +) }

    /// All rows, in the order of their hierarchies and keys.
    var sorted: [RejectedRow] { rows.values.flatMap(\.values).sorted { ($0.root, $0.key) < ($1.root, $1.key) } }
}
