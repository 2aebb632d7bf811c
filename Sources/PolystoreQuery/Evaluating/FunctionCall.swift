package import PolystoreSchema

/// A function with the types of its arguments and of its result, as a text that an engine gives back when it calls for the value.
package struct FunctionCall: CustomStringConvertible, Sendable {
    private let function: Function
    private let type: ValueType
    private let evaluator: FunctionEvaluator
    /// The types of the arguments.
    package let arguments: [ValueType]
    /// Computes the value for two whole numbers; nil for a function of others.
    package let whole: (@Sendable (_ a: Int64, _ b: Int64) throws(QueryError) -> Int64)?

    /// Creates a call.
    package init(_ function: Function, _ arguments: [ValueType], _ type: ValueType) {
        self.function = function
        self.arguments = arguments
        self.type = type
        evaluator = FunctionEvaluator(function, type)
        whole = type == .int64 && arguments.allSatisfy(\.isInteger) ? function.descriptor.whole : nil
    }

    /// Reads a call from its text; nil for any other text.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard let name = words.first, let function = Function(code: name) else { return nil }
        let types = words.dropFirst().compactMap { ValueType(rawValue: String($0)) }
        guard let type = types.last, types.count == words.count - 1 else { return nil }
        self.init(function, types.dropLast(), type)
    }

    /// The name of the function and the types, the last of which is that of the result.
    package var description: String { ([function.code] + (arguments + [type]).map(\.rawValue)).joined(separator: " ") }

    /// Returns the value for values of the arguments.
    package func value(_ values: [Value]) throws(QueryError) -> Value { try evaluator.value(values) }
}

extension Function {
    /// The name, and after a colon what the name alone does not say.
    fileprivate var code: String {
        let descriptor = descriptor
        return descriptor.names[0] + (descriptor.parameter.map { ":" + $0 } ?? "")
    }

    fileprivate init?(code: Substring) {
        let parts = code.split(separator: ":", maxSplits: 1).map(String.init)
        if let named = parts.count == 1 ? Self.named.first(where: { $0.name == parts[0] }) : nil {
            self = named
        } else if parts.count == 2, parts[0] == "folded", let options = Int(parts[1]) {
            self = .folded(TextOptions(rawValue: options))
        } else if parts.count == 2, let part = DatePart(rawValue: parts[0]) {
            self = .datePart(part, timeZone: parts[1])
        } else {
            return nil
        }
    }
}
