internal import PolystoreFoundation
internal import PolystoreStorage

/// An encoder and decoder of page cursors.
struct PageCoder {
    let secret: [UInt8]
    /// The request. Its cursors are not valid for other requests.
    let request: String
    let types: [ValueType]

    func cursor(_ values: [Value]) -> PageCursor {
        let payload = Array(JSONWriter.write(.array(values.map { JSONNode(ValueText.json($0)) })).utf8)
        return PageCursor(Self.text(Data(signature(payload) + payload)))
    }

    /// Decodes the values of a cursor; nil if the cursor was not created by this coder.
    func values(_ cursor: PageCursor) -> [Value]? {
        guard let bytes = Self.bytes(cursor.description), bytes.count > 16 else { return nil }
        let payload = Array(bytes.dropFirst(16))
        guard KeyedDigest.areEqual(bytes.prefix(16), signature(payload)) else { return nil }
        guard let json = try? JSONParser.parse(String(decoding: payload, as: UTF8.self)), case .array(let nodes) = json.value,
            nodes.count == types.count
        else { return nil }
        var values: [Value] = []
        for (node, type) in zip(nodes, types) {
            guard let value = node.value == .null ? .null : ValueText.value(node.value, as: type) else { return nil }
            values.append(value)
        }
        return values
    }

    private func signature(_ payload: [UInt8]) -> [UInt8] {
        Array(KeyedDigest.digest(Array(request.utf8) + [0] + payload, secret: secret).prefix(16))
    }

    /// Encodes data as URL-safe base64 (RFC 4648, section 5), without padding.
    private static func text(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)).map(Array.init)
    }
}
