internal import PolystoreStorage

/// Reads records of values that a character separates (RFC 4180), including quotes and line breaks inside quotes.
struct CSVReader {
    /// A field of a record.
    struct Field {
        let text: String
        let isQuoted: Bool
    }

    private static let quote = UInt8(ascii: "\""), lineFeed = UInt8(ascii: "\n"), carriageReturn = UInt8(ascii: "\r")

    private var bytes: ByteReader
    private let separator: UInt8
    /// The number of fields of the last record.
    private var count = 0

    init(_ bytes: ByteReader, separator: UInt8) {
        self.bytes = bytes
        self.separator = separator
    }

    /// A record, up to the first field that cannot be read.
    struct Record {
        /// The line on which the record begins.
        let line: Int
        var fields: [Field] = []
        /// The error of the field after `fields`; nil if all fields can be read.
        var problem: StorageError?
        /// The bytes of that field and of the rest of its record.
        var rest: [UInt8] = []
    }

    /// Returns the next record, or nil at the end.
    mutating func next() throws(StorageError) -> Record? {
        guard try bytes.peek() != nil else { return nil }
        var record = Record(line: bytes.line)
        record.fields.reserveCapacity(count)
        defer { count = record.fields.count }
        while true {
            if try bytes.peek() != Self.quote {
                record.fields.append(try plain())
            } else if let field = try quoted(&record) {
                record.fields.append(field)
            }
            switch try bytes.peek() {
            case nil: return record
            case separator: bytes.skip()
            default:
                try bytes.skipLineEnd()
                return record
            }
        }
    }

    /// Returns whether a byte ends a field.
    private func isEnd(_ byte: UInt8) -> Bool { byte == separator || byte == Self.lineFeed || byte == Self.carriageReturn }

    private mutating func plain() throws(StorageError) -> Field {
        let line = bytes.line, column = bytes.column
        let separator = separator
        let text = try bytes.text { $0 == separator || $0 == Self.lineFeed || $0 == Self.carriageReturn }
        return Field(text: try valid(text, line, column), isQuoted: false)
    }

    /// Returns a field in quotes, or nil after one that something follows, which ends the record with a problem.
    private mutating func quoted(_ record: inout Record) throws(StorageError) -> Field? {
        let line = bytes.line, column = bytes.column
        bytes.skip()
        var result: [UInt8] = []
        while true {
            try bytes.take(into: &result) { $0 == Self.quote || $0 == Self.lineFeed }
            guard let byte = try bytes.peek() else { throw bytes.refusal("a quote is not closed", line: line, column: column) }
            bytes.skip()
            if byte == Self.quote {
                guard let next = try bytes.peek(), !isEnd(next) else { break }
                guard next == Self.quote else {
                    record.problem = bytes.refusal(
                        "expected a separator or the end of the line after a closing quote", line: bytes.line, column: bytes.column)
                    record.rest = [Self.quote] + result.flatMap { $0 == Self.quote ? [$0, $0] : [$0] } + [Self.quote]
                    try takeRest(&record.rest)
                    return nil
                }
                bytes.skip()
            }
            result.append(byte)
        }
        return Field(text: try valid(result.withUnsafeBytes(String.init(utf8:)), line, column), isQuoted: true)
    }

    /// Takes the bytes up to the end of the record. The line breaks of a field in quotes, which begin behind a separator, belong to it.
    private mutating func takeRest(_ rest: inout [UInt8]) throws(StorageError) {
        let separator = separator
        while true {
            try bytes.take(into: &rest) { $0 == separator || $0 == Self.lineFeed || $0 == Self.carriageReturn }
            guard try bytes.peek() == separator else { return }
            bytes.skip()
            rest.append(separator)
            if try bytes.peek() == Self.quote { try takeQuoted(&rest) }
        }
    }

    /// Takes the bytes of a field in quotes.
    private mutating func takeQuoted(_ rest: inout [UInt8]) throws(StorageError) {
        let line = bytes.line, column = bytes.column
        bytes.skip()
        rest.append(Self.quote)
        while true {
            try bytes.take(into: &rest) { $0 == Self.quote || $0 == Self.lineFeed }
            guard let byte = try bytes.peek() else { throw bytes.refusal("a quote is not closed", line: line, column: column) }
            bytes.skip()
            rest.append(byte)
            if byte != Self.quote { continue }
            guard try bytes.peek() == Self.quote else { return }
            bytes.skip()
            rest.append(Self.quote)
        }
    }

    private func valid(_ text: String?, _ line: Int, _ column: Int) throws(StorageError) -> String {
        if let text { return text }
        throw bytes.refusal("the text is not valid UTF-8", line: line, column: column)
    }
}
