package import PolystoreFoundation

extension AttributeCoder {
    /// Returns the error with which a type refuses bytes; nil if it does not, or if the coder itself cannot read them.
    package static func mismatch<Value: Decodable>(_ type: Value.Type, _ data: Data) -> (any Error)? {
        do {
            _ = try decode(type, from: data)
            return nil
        } catch {
            return (try? decode(Anything.self, from: data)) == nil ? nil : error
        }
    }
}

/// A type that fits all bytes that a coder can read.
private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
}

extension DecodingError {
    /// The place at which a value does not fit its type, without the value.
    var mismatch: String {
        switch self {
        case .keyNotFound(let key, let context): "it has no \(Self.text(context.codingPath + [key]))"
        case .valueNotFound(_, let context): "\(Self.text(context.codingPath)) is nil"
        case .typeMismatch(let type, let context): "\(Self.text(context.codingPath)) is not of type \(type)"
        case .dataCorrupted(let context): "\(Self.text(context.codingPath)) is not a value of its type"
        @unknown default: "it cannot be decoded"
        }
    }

    private static func text(_ path: [any CodingKey]) -> String {
        let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return text.isEmpty ? "it" : String(text.trimmingPrefix("."))
    }
}
