internal import PolystoreStorage

/// The type of a column as far as its values so far determine it.
struct InferredColumn {
    /// The column in the file.
    let name: ExactText
    /// The number of values that are not nil.
    private(set) var count = 0
    /// The types that all values so far have, the narrowest first.
    private var types = Self.candidates

    private static let candidates: [ValueType] = [.bool, .int64, .double, .decimal, .date, .uuid]

    init(_ name: ExactText) { self.name = name }

    /// The inferred type, which is a string if the values have no other type in common.
    var type: ValueType { count > 0 ? types.first ?? .string : .string }

    /// Takes the value of a record into account. A nil only makes the attribute optional.
    mutating func add(_ field: LoadRecord.Field, nils: NilTexts) {
        switch field {
        case .text(let field):
            // Quotes make no difference to a load, but for an empty text that is to be a string.
            if nils.contains(field.text) { return }
            count += 1
            types.removeAll { !Self.canBe(field.text, $0) }
        case .json(let json):
            if case .null = json { return }
            count += 1
            types.removeAll { !Self.canBe(json, $0) }
        }
    }

    /// Whether a text has the form of a type. Digits with leading zeros, such as those of a postal code, would lose them as a number, and
    /// what has an exponent but neither a point nor a sign of the exponent, such as 2E3, may be a name.
    private static func canBe(_ text: String, _ type: ValueType, mayBeName: Bool = true) -> Bool {
        switch type {
        case .bool: return ["true", "false"].contains(text.lowercased())
        case .int64: return Int64(text).map { String($0) == text } ?? false
        case .double, .decimal:
            let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
            let hasLeadingZero = digits.first == UInt8(ascii: "0") && digits.count > 1 && digits.dropFirst().first != UInt8(ascii: ".")
            let isNumber = digits.first.map { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ?? false
            let isName = mayBeName && text.wholeMatch(of: /-?[0-9]+[eE][0-9]+/) != nil
            guard isNumber, !hasLeadingZero, !isName, let value = ValueText.value(text, as: type) else { return false }
            // Most fractions have no double; the one whose shortest text is this number is meant.
            if case .double(let double) = value { return DecimalNumber("\(double)") == DecimalNumber(text) }
            return true
        case .date: return ValueText.value(text, as: type) != nil && !ValueConversion.isFiner(text)
        default: return ValueText.value(text, as: type) != nil
        }
    }

    private static func canBe(_ json: JSONValue, _ type: ValueType) -> Bool {
        switch json {
        case .bool: type == .bool
        case .number(let text): [.int64, .double, .decimal].contains(type) && canBe(text, type, mayBeName: false)
        case .string(let text): (type == .date || type == .uuid) && canBe(text, type)
        case .null, .array, .object: false
        }
    }
}
