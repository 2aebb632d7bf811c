internal import PolystoreSchema

/// Computes a function for values of its arguments.
struct FunctionEvaluator: Sendable {
    private let descriptor: FunctionDescriptor
    private let type: ValueType

    /// A function whose result has a type.
    init(_ function: Function, _ type: ValueType) {
        descriptor = function.descriptor
        self.type = type
    }

    /// The value; nil where an argument is nil, except for functions that look for what is not.
    func value(_ arguments: [Value]) throws(QueryError) -> Value {
        if !descriptor.takesNil, arguments.contains(where: \.isNull) { return .null }
        return try descriptor.value(arguments, type)
    }
}
