internal import PolystoreStorage

/// The addresses of pages.
enum Address {
    static let overview = "/"
    static let schema = "/schema"
    static let history = "/history"

    static func table(_ entity: String, _ query: [(name: String, value: String?)] = []) -> String { with(query, "/e/\(encoded(entity))") }

    static func count(_ entity: String, _ query: [(name: String, value: String?)] = []) -> String {
        with(query, "/count/\(encoded(entity))")
    }

    static func object(_ entity: String, _ key: Int64) -> String { "/o/\(encoded(entity))/\(key)" }

    static func value(_ entity: String, _ key: Int64, _ property: String) -> String { "\(object(entity, key))/\(encoded(property))" }

    static func history(before position: Int64) -> String { with([("before", String(position))], history) }

    private static func with(_ query: [(name: String, value: String?)], _ path: String) -> String {
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.name)=\(encoded($0))" } }
        return pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
    }

    /// Returns a text with all bytes encoded that are not letters, digits, or one of `-._~`.
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
