import Foundation
import PolystoreStorage
import PolystoreTransfer

/// A table with a trap for its readers, and what a copy of the database has of it.
struct AwkwardTable: Sendable {
    /// An attribute or a reference of the copy, with the SQL of its value over the table.
    struct Property: Sendable {
        let name: String
        /// The type; nil for a reference.
        let type: ValueType?
        let sql: String

        /// - Parameter text: `name type` or `name type = SQL`, with `key` as the type of a reference.
        init(_ text: String) {
            let parts = text.components(separatedBy: " = "), words = parts[0].components(separatedBy: " ")
            name = words[0]
            type = ValueType(rawValue: words[1])
            sql = parts.count > 1 ? parts.dropFirst().joined(separator: " = ") : "\"\(words[0])\""
        }
    }

    let name: String
    /// The declarations and rows.
    let script: String
    /// The name of the entity or link table; nil for a table that a copy lacks.
    let entity: String?
    /// The SQL of the primary key.
    let key: String
    let properties: [Property]
    /// The property that makes a row unreadable, by primary key.
    let refused: [Int64: String]
    /// Whether the refused rows can be read: they only break rules, which are examined where rows are left out.
    let isReadable: Bool
    /// The columns, or the table, that a copy lacks in part.
    let losses: [String]
    /// A condition that the rows of a copy satisfy.
    let condition: String

    init(
        _ name: String, _ script: String, as entity: String?, key: String = "id", _ properties: [String] = [],
        refused: [Int64: String] = [:],
        isReadable: Bool = false, losses: [String] = [], where condition: String = "1 = 1"
    ) {
        self.name = name
        self.script = script
        self.entity = entity
        self.key = key
        self.properties = properties.map { Property($0) }
        self.refused = refused
        self.losses = losses
        self.isReadable = isReadable
        self.condition = condition
    }

    /// A statement that prints the rows: the position of the table, the primary key, and the values.
    ///
    /// - Parameter value: Returns the SQL that prints an expression of a type.
    func select(_ position: Int, _ value: (_ sql: String, _ type: ValueType?) -> String) -> String {
        let values = properties.map { "CASE WHEN \($0.sql) IS NULL THEN 'nil' ELSE \(value($0.sql, $0.type)) END" }
        let list = ["\(position)", key] + values
        return "SELECT \(list.joined(separator: ", ")) FROM \"\(name)\" WHERE \(condition);"
    }

    /// Returns the text of a row from what the program printed.
    func line(_ fields: [Substring]) -> String {
        let values = zip(properties, fields.dropFirst(2)).map { "\($0.name)=\(AwkwardText.printed($1, $0.type))" }
        return ([String(fields.count > 1 ? fields[1] : "")] + values.sorted()).joined(separator: " ")
    }
}

/// Texts of values that differ where the values do: texts by their scalars, numbers by their bits.
enum AwkwardText {
    /// Returns the text of what a program printed for a value.
    static func printed(_ text: Substring, _ type: ValueType?) -> String {
        if text == "nil" { return "nil" }
        switch type {
        case .string?, .url?: return scalars(decoded(text))
        case .data?: return data(Data(bytes(text)))
        case .double?: return bits(Double(text) ?? .nan)
        case .float?: return bits(Double(Float(text) ?? .nan))
        case .decimal?: return "\(Decimal(string: String(text)) ?? .nan)"
        case .bool?, .int16?, .int32?, .int64?, .date?, .uuid?, nil: return text.uppercased()
        }
    }

    /// Returns the text of a value.
    static func text(_ value: Value?) -> String {
        switch value {
        case nil: "ill-formed"
        case .null?: "nil"
        case .bool(let value)?: value ? "1" : "0"
        case .int(let value)?, .date(let value)?: "\(value)"
        case .double(let value)?: bits(value)
        case .decimal(let value)?: "\(value)"
        case .string(let value)?: scalars(value)
        case .uuid(let value)?: value.uuidString.replacing("-", with: "")
        case .data(let value)?: data(value)
        }
    }

    private static func scalars(_ text: String) -> String {
        if text.utf8.count > 100 { return digest(Data(text.utf8)) }
        return "'" + text.unicodeScalars.map { $0.value > 32 && $0.isASCII ? "\($0)" : "{\(String($0.value, radix: 16))}" }.joined() + "'"
    }

    private static func bits(_ value: Double) -> String { "\(value)/\(String(value.bitPattern, radix: 16))" }

    private static func data(_ data: Data) -> String {
        data.count > 100 ? digest(data) : "x" + data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the size of data and a number that is the same for the same data in this process.
    private static func digest(_ data: Data) -> String {
        var hasher = Hasher()
        data.withUnsafeBytes { hasher.combine(bytes: $0) }
        return "\(data.count) bytes \(hasher.finalize())"
    }

    /// Returns the text of hexadecimal digits.
    static func decoded(_ hex: Substring) -> String { String(decoding: bytes(hex), as: UTF8.self) }

    private static func bytes(_ hex: Substring) -> [UInt8] {
        // The low bits of a letter are 1 to 6.
        let digits = hex.utf8.map { $0 & 15 + ($0 >> 6) * 9 }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension OpenDatabase {
    /// The rows by entity and the pairs by link table, as `AwkwardTable.line` prints them.
    func awkwardRows() throws -> [String: [String]] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let contents = Contents(reader)
        var result: [String: [String]] = [:]
        for root in schema.roots {
            _ = try contents.rows(root) { batch in
                for index in 0..<batch.count {
                    let row = batch.row(index), slots = schema[row.entity].slots
                    let values = slots.indices.map { "\(slots[$0].name)=\(AwkwardText.text(Value(row[$0], as: slots[$0].type)))" }
                    result[schema.entities[row.entity].name, default: []].append((["\(row.key)"] + values.sorted()).joined(separator: " "))
                }
            }
        }
        for link in schema.links.indices {
            _ = try contents.links(link) { pairs in
                result[schema.links[link].name, default: []] += pairs.map { "\($0.owner) member=\($0.member)" }
            }
        }
        return result.mapValues { $0.sorted() }
    }
}
