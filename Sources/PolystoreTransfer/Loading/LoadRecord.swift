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

/// Reads the records of a file.
protocol RecordReader {
    /// The names of the columns, or nil if the file does not begin with them.
    var columns: [String]? { get }
    mutating func next() throws(StorageError) -> LoadRecord?
}

/// The records of a CSV file whose first line contains the column names.
struct CSVRecords: RecordReader {
    let columns: [String]?
    private var reader: CSVReader
    private let file: String
    private var positions: [ExactText: Int] = [:]

    init(_ bytes: ByteReader, _ file: String) throws(StorageError) {
        reader = CSVReader(bytes)
        self.file = file
        let header = try reader.next()?.fields.map(\.text) ?? []
        columns = header
        for (index, name) in header.enumerated() where positions.updateValue(index, forKey: ExactText(name)) != nil {
            throw StorageError(.valueNotStorable, "\(file.excerpt()), line 1: two columns have the name \"\(name.excerpt())\"")
        }
    }

    mutating func next() throws(StorageError) -> LoadRecord? {
        guard let (fields, line) = try reader.next() else { return nil }
        guard fields.count == positions.count else {
            throw StorageError(
                .valueNotStorable, "\(file.excerpt()), line \(line): expected \(positions.count) fields, but found \(fields.count)")
        }
        return LoadRecord(line: line, positions, fields.map(LoadRecord.Field.text))
    }
}

/// The records of a file with one JSON object on each line.
struct NDJSONRecords: RecordReader {
    private var bytes: ByteReader

    init(_ bytes: ByteReader) { self.bytes = bytes }

    var columns: [String]? { nil }

    mutating func next() throws(StorageError) -> LoadRecord? {
        while try bytes.peek() != nil {
            let line = bytes.line
            var text: [UInt8] = []
            try bytes.take(into: &text) { $0 == UInt8(ascii: "\n") }
            if try bytes.peek() != nil { bytes.skip() }
            if text.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { continue }
            do throws(JSONError) { return try Self.record(text, line) } catch {
                throw bytes.refusal(error.message, line: line, column: error.column)
            }
        }
        return nil
    }

    private static func record(_ bytes: [UInt8], _ line: Int) throws(JSONError) -> LoadRecord {
        guard let text = bytes.withUnsafeBytes(String.init(utf8:)) else {
            throw JSONError(line: 1, column: 1, message: "the line is not valid UTF-8")
        }
        guard case .object(let members) = try JSONParser.parse(text).value else {
            throw JSONError(line: 1, column: 1, message: "expected a JSON object")
        }
        var positions: [ExactText: Int] = [:]
        for (index, member) in members.enumerated() { positions[ExactText(member.name)] = index }
        return LoadRecord(line: line, positions, members.map { .json($0.node.value) })
    }
}
