internal import PolystoreFoundation
public import PolystoreStorage

/// A list of values is stored like a coded attribute: it is read and written as a whole, and compared by its bytes.
///
/// The bytes are a JSON array of the stored forms of its elements, as `ValueText.json` writes them.
extension Array: AttributeValue where Element: AttributeValue {
    /// `.data`.
    public static var valueType: ValueType { .data }
    /// `list`.
    public static var coderName: String? { "list" }
    /// The empty list.
    public static var placeholder: [Element] { [] }
    /// The JSON of the elements as data.
    public var attributeValue: Value { .data(Data(json.utf8)) }

    /// Decodes a list from its JSON; nil if the text is not a list or an element has another type.
    public init?(attributeValue: Value) {
        guard case .data(let bytes) = attributeValue, let list = Self.parsed(String(data: bytes, encoding: .utf8)) else { return nil }
        self = list
    }

    /// Decodes the list of a cell; nil if the bytes are not a list.
    public static func _decode(_ cell: Cell) -> [Element]? {
        if cell.isNull { return [] }
        return String._decode(cell).flatMap(parsed)
    }

    /// Encodes the JSON of the elements as a cell.
    public func _encode(_ batch: RowBatch) -> Cell {
        var json = json
        return json.withUTF8 { Cell.blob(batch.copy(UnsafeRawBufferPointer($0)), $0.count) }
    }

    /// Normalizes each element to the form that every store can hold.
    public static func _normalise(_ value: inout [Element]) -> ValueError? {
        for index in value.indices { if let error = Element._normalise(&value[index]) { return error } }
        return nil
    }

    private var json: String { JSONWriter.write(.array(map { JSONNode(ValueText.json($0.attributeValue)) })) }

    private static func parsed(_ text: String?) -> [Element]? {
        guard let text, case .array(let nodes)? = try? JSONParser.parse(text).value else { return nil }
        var list: [Element] = []
        list.reserveCapacity(nodes.count)
        for node in nodes {
            guard let value = ValueText.value(node.value, as: Element.valueType), let element = Element(attributeValue: value) else {
                return nil
            }
            list.append(element)
        }
        return list
    }
}
