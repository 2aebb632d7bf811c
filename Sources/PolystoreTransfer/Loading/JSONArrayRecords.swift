internal import PolystoreStorage

/// The records of a file that is an array of JSON objects. One object at a time is in memory.
struct JSONArrayRecords: RecordReader {
    private var bytes: ByteReader
    private var isInside = false

    init(_ bytes: ByteReader) { self.bytes = bytes }

    var columns: [String]? { nil }

    mutating func next() throws(StorageError) -> LoadRecord? {
        if !isInside {
            // The form of the file was found by this character.
            try skipSpace()
            bytes.skip()
            isInside = true
        }
        try skipSpace()
        switch try bytes.peek() {
        case UInt8(ascii: "]"): return try end()
        case nil: throw bytes.refusal("the array is not closed", line: bytes.line, column: bytes.column)
        default: break
        }
        let line = bytes.line, column = bytes.column, text = try element()
        try skipSpace()
        switch try bytes.peek() {
        case UInt8(ascii: ","): bytes.skip()
        // The end of the file is reported after the record.
        case UInt8(ascii: "]"), nil: break
        default: throw bytes.refusal("expected a comma or ] after a value of the array", line: bytes.line, column: bytes.column)
        }
        do throws(JSONError) {
            let record = try NDJSONRecords.record(text, line)
            return record.uncorrected(bytes.refusal(LoadRecord.isUncorrected, line: line, column: column)) ?? record
        } catch {
            let isFirst = error.line == 1
            let problem = bytes.refusal(
                error.message, line: line + error.line - 1, column: isFirst ? column + error.column - 1 : error.column)
            return LoadRecord(line: line, problem: problem, raw: text)
        }
    }

    private mutating func end() throws(StorageError) -> LoadRecord? {
        bytes.skip()
        try skipSpace()
        guard try bytes.peek() == nil else {
            throw bytes.refusal("expected nothing after the array", line: bytes.line, column: bytes.column)
        }
        return nil
    }

    private mutating func skipSpace() throws(StorageError) {
        while let byte = try bytes.peek(), byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { bytes.skip() }
    }

    /// Returns the bytes of an element, up to the comma or bracket that ends it.
    private mutating func element() throws(StorageError) -> [UInt8] {
        let line = bytes.line, column = bytes.column
        var text: [UInt8] = [], depth = 0, isString = false, isEscaped = false
        while let byte = try bytes.peek() {
            if isString {
                if !isEscaped, byte == UInt8(ascii: "\"") { isString = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                    if depth == 0 { return text }
                    if byte != UInt8(ascii: ",") { depth -= 1 }
                default: break
                }
            }
            text.append(byte)
            bytes.skip()
        }
        // What is whole is a record; the array that lacks its end is reported after it.
        if depth == 0, !isString, !text.isEmpty { return text }
        throw bytes.refusal("the array or one of its objects is not closed", line: line, column: column)
    }
}
