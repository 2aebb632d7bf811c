internal import PolystoreStorage

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
            do throws(JSONError) {
                let record = try Self.record(text, line)
                return record.uncorrected(bytes.refusal(LoadRecord.isUncorrected, line: line, column: 1)) ?? record
            } catch {
                let problem = bytes.refusal(error.message, line: line, column: error.column)
                return LoadRecord(line: line, problem: problem, raw: text)
            }
        }
        return nil
    }

    /// Returns the record of a JSON object that begins on the given line of its file.
    static func record(_ bytes: [UInt8], _ line: Int) throws(JSONError) -> LoadRecord {
        guard let text = bytes.withUnsafeBytes(String.init(utf8:)) else {
            throw JSONError(line: 1, column: 1, message: "the text is not valid UTF-8")
        }
        guard case .object(let members) = try JSONParser.parse(text).value else {
            throw JSONError(line: 1, column: 1, message: "expected a JSON object")
        }
        var positions: [ExactText: Int] = [:]
        for (index, member) in members.enumerated() { positions[ExactText(member.name)] = index }
        return LoadRecord(line: line, LoadLayout(positions), members.map(\.node.value))
    }
}
