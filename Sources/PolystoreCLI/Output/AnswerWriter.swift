internal import Foundation
internal import PolystoreStorage

/// Prints the rows of an answer. Rows are buffered, so that each is not a system call of its own.
struct AnswerWriter {
    private let format: AnswerFormat
    private let names: [String]
    private let quotedNames: [[UInt8]]
    private var buffer: [UInt8] = []
    private var count = 0
    /// The cells of a table whose column widths are not determined yet.
    private var waiting: [[String]] = []
    private var widths: [Int] = []

    /// The number of rows that determine the widths of a table's columns.
    private static let measuredRows = 1000
    private static let bufferSize = 1 << 16

    /// Creates a writer of rows with the given columns.
    init(_ format: AnswerFormat, _ names: [String]) {
        self.format = format
        self.names = names
        quotedNames = names.map { Array("\(JSONWriter.quoted($0)):".utf8) }
        switch format {
        case .csv, .tsv: separated(names.map(Value.string))
        case .json: buffer += Array("[".utf8)
        case .table, .ndjson: break
        }
    }

    /// Prints a row.
    mutating func write(_ values: [Value]) throws(StorageError) {
        count += 1
        switch format {
        case .table: try addToTable(values.map(Self.text))
        case .csv, .tsv: separated(values)
        case .json:
            buffer += Array((count > 1 ? ",\n " : "\n ").utf8)
            object(values)
        case .ndjson:
            object(values)
            buffer.append(UInt8(ascii: "\n"))
        }
        if buffer.count > Self.bufferSize { try flush() }
    }

    /// Prints an object.
    mutating func write(_ row: borrowing RowView, _ columns: ObjectColumns) throws(StorageError) {
        guard format == .json else { return try write(columns.values(row)) }
        count += 1
        buffer += count > 1 ? Self.nextObject : Self.firstObject
        try columns.append(row, quotedNames, to: &buffer)
        buffer.append(UInt8(ascii: "}"))
        if buffer.count > Self.bufferSize { try flush() }
    }

    private static let firstObject = Array("\n {".utf8), nextObject = Array(",\n {".utf8)

    /// Prints what is left after the last row.
    mutating func finish() throws(StorageError) {
        switch format {
        case .table: beginTable()
        case .json: buffer += Array((count > 0 ? "\n]\n" : "]\n").utf8)
        case .csv, .tsv, .ndjson: break
        }
        try flush()
    }

    private mutating func flush() throws(StorageError) {
        if buffer.isEmpty { return }
        try Console.write(Data(buffer))
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func object(_ values: [Value]) {
        buffer.append(UInt8(ascii: "{"))
        for (index, value) in values.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer += quotedNames[index]
            buffer += JSONWriter.write(ValueText.json(value)).utf8
        }
        buffer.append(UInt8(ascii: "}"))
    }

    /// Appends a line of separated values. A nil is an empty field, and an empty string a pair of quotes.
    private mutating func separated(_ values: [Value]) {
        let separator = format == .tsv ? "\t" : ","
        let fields = values.map { value -> String in
            if value.isNull { return "" }
            let text = Self.text(value)
            let isPlain =
                !text.isEmpty && !text.unicodeScalars.contains { $0 == "\"" || $0 == "\n" || $0 == "\r" || String($0) == separator }
            if isPlain { return text }
            // By scalars: a quote before a combining mark is another character.
            var quoted = "\"".unicodeScalars
            for scalar in text.unicodeScalars { quoted += scalar == "\"" ? [scalar, scalar] : [scalar] }
            return String(quoted) + "\""
        }
        buffer += Array((fields.joined(separator: separator) + "\n").utf8)
    }

    /// Returns the text of a value without quotes. The text of nil is empty.
    private static func text(_ value: Value) -> String {
        switch ValueText.json(value) {
        case .null: ""
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .array, .object: ""
        }
    }

    private mutating func addToTable(_ cells: [String]) throws(StorageError) {
        let cells = cells.map { cell in String(String.UnicodeScalarView(cell.unicodeScalars.map { TerminalWidth.isShown($0) ? $0 : "·" })) }
        if !widths.isEmpty { return line(cells) }
        waiting.append(cells)
        if waiting.count == Self.measuredRows { beginTable() }
    }

    private mutating func beginTable() {
        guard widths.isEmpty else { return }
        widths = names.indices.map { column in (waiting.map { TerminalWidth.of($0[column]) } + [TerminalWidth.of(names[column])]).max() ?? 0
        }
        line(names, .bold)
        line(widths.map { String(repeating: "─", count: $0) })
        for cells in waiting { line(cells) }
        waiting.removeAll()
    }

    private mutating func line(_ cells: [String], _ color: TextColor? = nil) {
        var text = ""
        for (index, cell) in cells.enumerated() { text += index == cells.count - 1 ? cell : cell.padding(widths[index]) + "  " }
        buffer += Array(((color.map { $0(text) } ?? text) + "\n").utf8)
    }
}
