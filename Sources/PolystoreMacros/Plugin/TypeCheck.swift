#if Macros
/// A function inside of a setter that is never called. It does not compile if the type of the property cannot be an attribute, with a
/// message that contains the name of the type.
///
/// A macro sees only the text of a type, so the compiler selects the message: `placeholder` is a value of the type, or a marker of the reason
/// why it cannot be an attribute, and the overload for this marker is unavailable. Each overload takes the compiler 2 ms.
struct TypeCheck {
    private let type: String
    private let isList: Bool
    private let isOptional: Bool

    /// Creates the check of a type, or nil for types of the library.
    init?(_ written: String) {
        if ModelType.isValue(written) || written.hasPrefix("ObjectID<") { return nil }
        var type = written[...], isList = false
        while true {
            if type.hasSuffix("?") {
                type = type.dropLast()
            } else if type.hasPrefix("["), type.hasSuffix("]"), !type.contains(":") {
                type = type.dropFirst().dropLast()
                isList = true
            } else {
                break
            }
        }
        self.type = String(type)
        self.isList = isList
        isOptional = written.hasSuffix("?")
    }

    /// The function up to the statement that does not compile for such a type.
    var start: String {
        let form = "enum \(type.split(separator: ".").last ?? ""): String, AttributeValue, CaseIterable"
        let list = "refers to objects needs @Relationship\(isOptional ? " and cannot be optional: without objects it is empty" : "")"
        let object = isList ? list : "refers to an object needs @Relationship and must be optional"
        return """
            func _check() {
                func _accept<V: _AttributeValue>(_ value: V) {}
                \(Self.refusal("_Object", "a property that \(object)"))
                \(Self.refusal("_WithoutPlaceholder", """
                    \(type) needs a placeholder: an enum must also conform to CaseIterable, such as \(form), and another type must declare \
                    static var placeholder: \(type)
                    """))
                \(Self.refusal("_Unstorable", """
                    \(type) is not an attribute type: an enum needs a raw value, AttributeValue and CaseIterable, such as \(form), and another \
                    type CodedAttributeValue, with static var placeholder: \(type); mark a property that is not stored with @Transient
                    """))
                let sample = Self._type(_Type<\(type)>.self).placeholder
            """
    }

    /// The rest of the function. Its first line is at the place of the property.
    let end = "_accept(sample) }"

    private static func refusal(_ marker: String, _ message: String) -> String {
        "@available(*, unavailable, message: \(message.debugDescription)) func _accept(_ value: \(marker)) {}"
    }
}
#endif
