internal import PolystoreStorage

/// A record of a file.
struct LoadRecord {
    /// The content of a column or a member.
    enum Field {
        case text(CSVReader.Field)
        case json(JSONValue)
    }

    /// The line on which the record begins.
    let line: Int
    /// The position of the record in its file.
    var ordinal = 0
    /// The error of a record with a wrong form; nil for any other.
    let problem: StorageError?
    /// The bytes of a record that is no JSON object.
    let raw: [UInt8]?
    private let positions: [ExactText: Int]
    private let fields: [Field]

    init(line: Int, _ positions: [ExactText: Int], _ fields: [Field], problem: StorageError? = nil, raw: [UInt8]? = nil) {
        self.line = line
        self.positions = positions
        self.fields = fields
        self.problem = problem
        self.raw = raw
    }

    /// The fields of a record of separated values.
    var texts: [CSVReader.Field] { fields.compactMap { if case .text(let field) = $0 { field } else { nil } } }

    /// The names and values of a JSON object, in their order.
    var members: [(name: String, field: Field)] {
        positions.sorted { $0.value < $1.value }.map { ($0.key.text, fields[$0.value]) }
    }

    /// The entity that a record of an object names; nil if it names none.
    var objectEntity: String? {
        if case .json(.string(let name))? = field(ExactText(ObjectRecord.entity)) { name } else { nil }
    }

    /// The names of the fields.
    var names: some Collection<ExactText> { positions.keys }

    /// Returns the field of a column, or nil if the record does not have it.
    func field(_ column: ExactText) -> Field? { positions[column].map { fields[$0] } }
}
