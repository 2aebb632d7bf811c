internal import PolystoreStorage

/// The form of a file of records.
enum RecordFormat: Equatable {
    /// Values separated by a character (RFC 4180), with the names of the columns in the first line.
    case separated(by: UInt8)
    /// One JSON object on each line.
    case jsonLines
    /// An array of JSON objects.
    case jsonArray

    private static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")]

    /// Determines the form of a file from the extension of its name, and from its first line where the name does not decide.
    ///
    /// The separator of a CSV file is the one of comma, semicolon, tab, and vertical bar that its first line contains most often outside of quotes.
    init(_ name: String, _ bytes: inout ByteReader) throws(StorageError) {
        let first = try bytes.firstCharacter(), start = try bytes.firstLine()
        switch Self.fileExtension(name) {
        case "csv": self = Self.separated(start)
        case "tsv", "tab": self = .separated(by: UInt8(ascii: "\t"))
        case "ndjson", "jsonl": self = .jsonLines
        default:
            switch first {
            case UInt8(ascii: "["): self = .jsonArray
            case UInt8(ascii: "{"): self = .jsonLines
            default: self = Self.separated(start)
            }
        }
    }

    /// Returns the extension of a name in lower case, without the one of a compressed file.
    private static func fileExtension(_ name: String) -> String {
        var parts = name.lowercased().split(separator: ".").map(String.init)
        if parts.last == "gz" { parts.removeLast() }
        return parts.count > 1 ? parts.last ?? "" : ""
    }

    private static func separated(_ line: ArraySlice<UInt8>) -> RecordFormat {
        var counts = [Int](repeating: 0, count: separators.count), isQuoted = false
        for byte in line {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, let index = separators.firstIndex(of: byte) { counts[index] += 1 }
        }
        let most = counts.max() ?? 0
        return .separated(by: separators[counts.firstIndex(of: most) ?? 0])
    }

    /// Returns the form in which records are written, with the columns of the file.
    func form(_ columns: [String]?) -> RecordForm {
        if case .separated(let separator) = self { return RecordForm(separator: separator, columns: columns ?? []) }
        return RecordForm(separator: nil, columns: [])
    }

    /// Returns a reader of the records.
    ///
    /// - Parameter name: The name of the file in errors.
    func records(_ bytes: ByteReader, _ name: String) throws(StorageError) -> any RecordReader {
        switch self {
        case .separated(let separator): try CSVRecords(bytes, name, separator: separator)
        case .jsonLines: NDJSONRecords(bytes)
        case .jsonArray: JSONArrayRecords(bytes)
        }
    }
}
