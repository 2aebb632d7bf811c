internal import Foundation
internal import PolystoreStorage

/// Reads records of comma separated values (RFC 4180), quotes and line breaks within them included.
struct CSVReader {
    private static let separators = [UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r")]

    private let bytes: [UInt8]
    private var offset = 0
    private(set) var line = 1

    init(_ data: Data) {
        bytes = Array(data)
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { offset = 3 }
    }

    /// The next record and the line on which it begins; nil at the end.
    mutating func next() throws(CSVError) -> (fields: [String], line: Int)? {
        guard offset < bytes.count else { return nil }
        let start = line
        var fields: [String] = []
        while true {
            fields.append(try field(start))
            guard offset < bytes.count else { return (fields, start) }
            let separator = bytes[offset]
            offset += 1
            if separator == UInt8(ascii: ",") {
                if offset == bytes.count {
                    fields.append("")
                    return (fields, start)
                }
                continue
            }
            if separator == UInt8(ascii: "\r"), offset < bytes.count, bytes[offset] == UInt8(ascii: "\n") { offset += 1 }
            line += 1
            return (fields, start)
        }
    }

    private mutating func field(_ start: Int) throws(CSVError) -> String {
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") { return try quoted(start) }
        let begin = offset
        while offset < bytes.count, !Self.separators.contains(bytes[offset]) { offset += 1 }
        return try text(Array(bytes[begin..<offset]), start)
    }

    private mutating func quoted(_ start: Int) throws(CSVError) -> String {
        offset += 1
        var result: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\"") {
                guard offset < bytes.count, bytes[offset] == byte else {
                    guard offset == bytes.count || Self.separators.contains(bytes[offset]) else {
                        throw CSVError(line: line, message: "a comma or the end of the line is expected behind a closing quote")
                    }
                    return try text(result, start)
                }
                offset += 1
            } else if byte == UInt8(ascii: "\n") {
                line += 1
            }
            result.append(byte)
        }
        throw CSVError(line: start, message: "a quote is not closed")
    }

    private func text(_ bytes: [UInt8], _ start: Int) throws(CSVError) -> String {
        guard let text = bytes.withUnsafeBytes(String.init(utf8:)) else { throw CSVError(line: start, message: "the line is no UTF-8") }
        return text
    }
}

/// What is wrong with a CSV file, and where.
struct CSVError: Error {
    let line: Int
    let message: String
}
