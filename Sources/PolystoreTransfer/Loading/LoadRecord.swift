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
    private let positions: [ExactText: Int]
    private let fields: [Field]

    init(line: Int, _ positions: [ExactText: Int], _ fields: [Field]) {
        self.line = line
        self.positions = positions
        self.fields = fields
    }

    /// The names of the fields.
    var names: some Collection<ExactText> { positions.keys }

    /// Returns the field of a column, or nil if the record does not have it.
    func field(_ column: ExactText) -> Field? { positions[column].map { fields[$0] } }
}
