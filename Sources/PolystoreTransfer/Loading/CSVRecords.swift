internal import PolystoreStorage

/// The records of a file of separated values whose first line contains the column names.
struct CSVRecords: RecordReader {
    let columns: [String]?
    private var reader: CSVReader
    private let file: String
    private let layout: LoadLayout

    init(_ bytes: ByteReader, _ file: String, separator: UInt8) throws(StorageError) {
        reader = CSVReader(bytes, separator: separator)
        self.file = file
        let first = try reader.next()
        if let problem = first?.problem { throw problem }
        let header = first?.fields.map(\.text) ?? []
        if header == [""] {
            throw StorageError(.valueNotStorable, "\(file.excerpt()), line 1: expected the names of the columns, but the line is empty")
        }
        columns = header
        var positions: [ExactText: Int] = [:]
        for (index, name) in header.enumerated() where positions.updateValue(index, forKey: ExactText(name)) != nil {
            throw StorageError(.valueNotStorable, "\(file.excerpt()), line 1: two columns have the name \"\(name.excerpt())\"")
        }
        layout = LoadLayout(positions)
    }

    mutating func next() throws(StorageError) -> LoadRecord? {
        guard let record = try reader.next() else { return nil }
        let line = record.line, fields = record.fields
        if let problem = record.problem { return LoadRecord(line: line, layout, fields, problem: problem, raw: record.rest) }
        var problem: StorageError?
        if fields.count != layout.positions.count {
            let expected = layout.positions.count
            problem = StorageError(
                .valueNotStorable,
                "\(file.excerpt()), line \(line): expected \(expected) field\(expected == 1 ? "" : "s"), but found \(fields.count)")
        }
        return LoadRecord(line: line, layout, fields, problem: problem)
    }
}
