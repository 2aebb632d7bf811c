internal import Foundation
public import PolystoreStorage

/// A list of values is an attribute like a coded one: all of it is read and written together, and compared by its bytes.
///
/// The bytes are a JSON array of the stored forms of its elements, as `ValueText.json` writes them.
extension Array: AttributeValue where Element: AttributeValue {
    /// Data.
    public static var valueType: ValueType { .data }
    /// `list`.
    public static var coderName: String? { "list" }
    /// No elements.
    public static var placeholder: [Element] { [] }
    /// The JSON of the elements.
    public var attributeValue: Value { .data(Data(json.utf8)) }

    /// A list from its JSON; nil if it is another text, or an element of another type.
    public init?(attributeValue: Value) {
        guard case .data(let bytes) = attributeValue, let list = Self.parsed(String(data: bytes, encoding: .utf8)) else { return nil }
        self = list
    }

    /// The list of a cell; nil if its bytes are none of one.
    public static func _decode(_ cell: Cell) -> [Element]? {
        if cell.isNull { return [] }
        return String._decode(cell).flatMap(parsed)
    }

    /// The cell of the bytes.
    public func _encode(_ batch: RowBatch) -> Cell {
        var json = json
        return json.withUTF8 { Cell.blob(batch.copy(UnsafeRawBufferPointer($0)), $0.count) }
    }

    /// Brings each element into the form that every store can hold.
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
