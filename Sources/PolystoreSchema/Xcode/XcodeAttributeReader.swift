internal import PolystoreFoundation

/// Reads one attribute of an Xcode data model.
struct XcodeAttributeReader {
    private static let types: [String: ValueType] = [
        "Integer 16": .int16, "Integer 32": .int32, "Integer 64": .int64, "Decimal": .decimal, "Double": .double, "Float": .float,
        "String": .string, "Boolean": .bool, "Date": .date, "Binary": .data, "UUID": .uuid, "URI": .url, "Transformable": .data,
    ]

    private let tag: XMLTag
    private let path: String

    init(_ tag: XMLTag, _ path: String) {
        self.tag = tag
        self.path = path
    }

    /// Reads the attribute as an attribute with the given name.
    func attribute(_ name: String) throws(SchemaError) -> Attribute {
        try tag.checkChildren(["userInfo"], path)
        if try tag.bool("derived", path) || tag.attributes["derivationExpression"] != nil {
            throw error("derived attributes are not supported; declare a plain attribute that the program sets, or remove it")
        }
        let typeName = try tag.required("attributeType", path)
        var attribute = Attribute(name, try type(typeName), isOptional: try tag.bool("optional", path))
        attribute.originalName = try tag.originalName(path)
        if typeName == "Transformable" {
            // An attribute that names no transformer uses the framework's default.
            attribute.coder = try tag.string("valueTransformerName", path) ?? "NSKeyedUnarchiveFromData"
        }
        attribute.defaultValue = try value("default", attribute.type)
        attribute.rules = try rules(attribute.type)
        if try tag.bool("preservesValueInHistoryOnDeletion", path) { attribute.history = .preserved }
        return attribute
    }

    private func error(_ message: String) -> SchemaError { SchemaError(path, message, line: tag.line) }

    private func type(_ name: String) throws(SchemaError) -> ValueType {
        if let type = Self.types[name] { return type }
        if name == "Composite" { throw error("composite attributes are not supported; declare their elements as attributes of the entity") }
        throw error("\"\(name.excerpt())\" is not a supported attribute type\(Suggestion.nearest(name, in: Self.types.keys.sorted()))")
    }

    /// Reads the rules of the attribute. Limits of a string are limits of its length.
    private func rules(_ type: ValueType) throws(SchemaError) -> AttributeRules {
        var rules = AttributeRules()
        if type == .string {
            rules.minLength = try tag.count("minValueString", path)
            rules.maxLength = try tag.count("maxValueString", path)
            rules.pattern = tag.attributes["regularExpressionString"]
        } else if type.isNumeric || type == .date {
            rules.minimum = try value("min", type)
            rules.maximum = try value("max", type)
        } else {
            for key in ["minValueString", "maxValueString"] where tag.attributes[key] != nil {
                throw error("\"\(key)\" does not apply to an attribute of type \(type.rawValue)")
            }
        }
        return rules
    }

    /// Reads the default or a limit. Dates are seconds since 2001, all other values are their text.
    private func value(_ what: String, _ type: ValueType) throws(SchemaError) -> Value? {
        let key = what + (type == .date ? "DateTimeInterval" : "ValueString")
        guard let text = tag.attributes[key] else { return nil }
        switch type {
        case .date:
            guard let seconds = Double(text), let date = Microseconds.from(Date(timeIntervalSinceReferenceDate: seconds)) else {
                throw error("\"\(key)\" must be a date in the years 1 to 9999, in seconds since 2001")
            }
            return .date(date)
        case .data: throw error("\"\(key)\" is not supported for binary data")
        case .int16, .int32, .int64: return try parsed(Self.whole(text), key, type)
        case .bool, .float, .double, .decimal, .string, .uuid, .url: return try parsed(text, key, type)
        }
    }

    private func parsed(_ text: String, _ key: String, _ type: ValueType) throws(SchemaError) -> Value {
        guard let value = ValueText.value(text, as: type) else { throw error("\"\(key)\" must be a value of type \(type.rawValue)") }
        return value
    }

    /// Returns an integer without a fraction of zeros. Xcode keeps `.0` in a number when its attribute changes to an integer type.
    private static func whole(_ text: String) -> String {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[1].isEmpty && parts[1].allSatisfy { $0 == "0" } ? String(parts[0]) : text
    }
}
