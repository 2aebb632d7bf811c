internal import PolystoreStorage

/// A record of a file.
struct LoadRecord {
    /// The place of a record.
    struct Place: Hashable, Comparable {
        /// The index of the file.
        let file: Int
        /// The line on which the record begins.
        let line: Int
        /// The position of the record in its file.
        let ordinal: Int

        static func < (first: Place, second: Place) -> Bool { (first.file, first.ordinal) < (second.file, second.ordinal) }
    }

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
    /// The bytes of a record that is no JSON object; those of a record of separated values from the first field that cannot be read.
    let raw: [UInt8]?
    /// The names of the fields.
    let layout: LoadLayout
    /// The fields of a record of separated values; none for a JSON object.
    let texts: [CSVReader.Field]
    /// The values of a JSON object.
    private let values: [JSONValue]

    /// Creates a record of separated values.
    init(line: Int, _ layout: LoadLayout, _ texts: [CSVReader.Field], problem: StorageError? = nil, raw: [UInt8]? = nil) {
        self.line = line
        self.layout = layout
        self.texts = texts
        self.problem = problem
        self.raw = raw
        values = []
    }

    /// Creates the record of a JSON object.
    init(line: Int, _ layout: LoadLayout, _ values: [JSONValue]) {
        self.line = line
        self.layout = layout
        self.values = values
        texts = []
        problem = nil
        raw = nil
    }

    /// Creates a record with a wrong form from its bytes.
    init(line: Int, problem: StorageError, raw: [UInt8]) {
        self.line = line
        self.problem = problem
        self.raw = raw
        layout = LoadLayout([:])
        texts = []
        values = []
    }

    /// The names and values of a JSON object, in their order.
    var members: [(name: String, field: Field)] {
        layout.positions.sorted { $0.value < $1.value }.compactMap { name, position in field(at: position).map { (name.text, $0) } }
    }

    /// The entity that a record of an object names; nil if it names none.
    var objectEntity: String? {
        if case .json(.string(let name))? = field(ExactText(ObjectRecord.entity)) { name } else { nil }
    }

    /// The name of the member with the text of a record that is no JSON object, in a file of rejected records.
    static let textName = "polystore_record"
    /// The message about a record of a file of rejected records that has such a member.
    static let isUncorrected =
        "the text in \"polystore_record\" was rejected because it is no record; replace the line with the corrected text"

    /// Returns the record of the text that a file of rejected records contains, if this is one that was not corrected; nil for any other.
    func uncorrected(_ problem: @autoclosure () -> StorageError) -> LoadRecord? {
        guard case .json(.string(let text))? = field(ExactText(Self.textName)) else { return nil }
        return LoadRecord(line: line, problem: problem(), raw: Array(text.utf8))
    }

    /// The names of the fields.
    var names: some Collection<ExactText> { layout.positions.keys }

    /// Returns the field of a column, or nil if the record does not have it.
    func field(_ column: ExactText) -> Field? { layout.positions[column].flatMap(field(at:)) }

    /// Returns the field at a position of the layout, or nil if the record has too few.
    func field(at position: Int) -> Field? {
        if texts.isEmpty { return position < values.count ? .json(values[position]) : nil }
        return position < texts.count ? .text(texts[position]) : nil
    }
}
