internal import PolystoreSchema

/// Evaluates a function for values of its arguments.
struct FunctionEvaluator: Sendable {
    private let descriptor: FunctionDescriptor
    private let type: ValueType

    /// Creates an evaluator of a function whose result has a type.
    init(_ function: Function, _ type: ValueType) {
        descriptor = function.descriptor
        self.type = type
    }

    /// Returns the value; nil if an argument is nil, except for functions that accept nil.
    func value(_ arguments: [Value]) throws(QueryError) -> Value {
        if !descriptor.takesNil, arguments.contains(where: \.isNull) { return .null }
        return try descriptor.value(arguments, type)
    }
}
