internal import Foundation
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
        // The separator is found by the first line.
        let other = names.map { name in CSVReader.Field(text: name, isQuoted: name.contains { ",;\t|".contains($0) }) }
        return line(other, separator) + [UInt8(ascii: "\n")]
    }

    /// Refuses a name by which a text would be read in another form.
    func check(_ text: [UInt8], _ name: String) throws(StorageError) {
        var bytes = try ByteReader(FileBlocks(Data(text)), name)
        let found = try RecordFormat(name, &bytes), wanted = separator.map(RecordFormat.separated) ?? .jsonLines
        if found == wanted { return }
        let example = separator == UInt8(ascii: "\t") ? ".tsv" : separator == nil ? ".ndjson" : ".csv"
        throw StorageError(
            .invalidConfiguration,
            "the rejected records could not be read again from a file of the name \(name.excerpt()), so nothing was loaded; end the name with \(example)"
        )
    }

    /// Returns the text of a record.
    func text(of record: LoadRecord, _ reason: String) -> [UInt8] {
        guard let separator else {
            if let raw = record.raw {
                // As it is, it could be taken for several records, or for another form of file.
                let text = JSONWriter.quoted(String(decoding: raw, as: UTF8.self))
                return Array(
                    #"{"\#(LoadRecord.textName)":\#(text),\#(JSONWriter.quoted(LoadRejects.reasonName)):\#(JSONWriter.quoted(reason))}"#
                        .utf8)
            }
            let members = record.members.filter { $0.name != LoadRejects.reasonName && $0.name != ObjectRecord.property }.map {
                name, field in
                let value = if case .json(let value) = field { JSONWriter.write(value) } else { "null" }
                return "\(JSONWriter.quoted(name)):\(value)"
            }
            let all = members + ["\(JSONWriter.quoted(LoadRejects.reasonName)):\(JSONWriter.quoted(reason))"]
            return Array("{\(all.joined(separator: ","))}".utf8)
        }
        let cause = CSVReader.Field(text: reason, isQuoted: true), old = columns.firstIndex(of: LoadRejects.reasonName)
        var fields = record.texts
        if record.problem == nil {
            if let old { fields.remove(at: old) }
            return line(fields + [cause], separator)
        }
        // With one more column and one more field, a record with a wrong number of fields is still one; so is any other, which is read up to
        // its fault. A record that was rejected before has its reason already.
        let end = old == nil ? [separator] + line([cause], separator).map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 } : []
        guard let raw = record.raw else { return line(fields, separator) + end }
        return line(fields, separator) + (fields.isEmpty ? [] : [separator]) + raw + end
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
