internal import PolystoreStorage

/// The form in which rejected records of a file are written: that of the file, with the reason.
struct RecordForm {
    private let separator: UInt8?
    private let columns: [String]

    /// - Parameters:
    ///   - separator: The separator of values; nil for JSON objects.
    ///   - columns: The names of the columns.
    init(separator: UInt8?, columns: [String]) {
        self.separator = separator
        self.columns = columns
    }

    /// The first line, with its end.
    var header: [UInt8] {
        guard let separator else { return [] }
        let names = columns.filter { $0 != LoadRejects.reasonName } + [LoadRejects.reasonName]
        return line(names.map { CSVReader.Field(text: $0, isQuoted: false) }, separator) + [UInt8(ascii: "\n")]
    }

    /// Returns the text of a record.
    func text(of record: LoadRecord, _ reason: String) -> [UInt8] {
        guard let separator else {
            if let raw = record.raw { return raw }
            let members = record.members.filter { $0.name != LoadRejects.reasonName }.map { name, field in
                let value = if case .json(let value) = field { JSONWriter.write(value) } else { "null" }
                return "\(JSONWriter.quoted(name)):\(value)"
            }
            let all = members + ["\(JSONWriter.quoted(LoadRejects.reasonName)):\(JSONWriter.quoted(reason))"]
            return Array("{\(all.joined(separator: ","))}".utf8)
        }
        var fields = record.texts
        if record.problem == nil {
            if let index = columns.firstIndex(of: LoadRejects.reasonName) { fields.remove(at: index) }
            fields.append(CSVReader.Field(text: reason, isQuoted: true))
        } else if fields.count == columns.count + 1, !columns.contains(LoadRejects.reasonName) {
            // With the column of the reason the number of fields must still be wrong.
            fields.append(CSVReader.Field(text: "", isQuoted: false))
        }
        return line(fields, separator)
    }

    private func line(_ fields: [CSVReader.Field], _ separator: UInt8) -> [UInt8] {
        var line: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { line.append(separator) }
            let bytes = Array(field.text.utf8)
            let special = [separator, UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")]
            if !field.isQuoted, !bytes.contains(where: special.contains) {
                line += bytes
                continue
            }
            line.append(UInt8(ascii: "\""))
            for byte in bytes { line += byte == UInt8(ascii: "\"") ? [byte, byte] : [byte] }
            line.append(UInt8(ascii: "\""))
        }
        return line
    }
}
