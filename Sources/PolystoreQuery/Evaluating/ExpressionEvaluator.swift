package import PolystoreSchema

/// Evaluates an expression for rows.
package final class ExpressionEvaluator {
    indirect enum Node {
        case path(PathReader, ValueType)
        case outer(OuterValues, Int)
        case value(Value)
        case function(FunctionEvaluator, [Node])
        case conditional(PredicateEvaluator, Node, Node)
        case related(AggregateFunction, MembersReader, PathReader?, ValueType)
    }

    private let root: Node
    private let failure: EvaluationFailure
    /// The expression, if it is only a property.
    let plainPath: CheckedExpression

    /// Creates an evaluator of a checked expression.
    package convenience init(_ expression: CheckedExpression, schema: Schema) { self.init(expression, schema, EvaluationFailure()) }

    /// - Parameter outer: The values that are read of the objects outside the enclosing conditions, outermost first.
    init(_ expression: CheckedExpression, _ schema: Schema, _ failure: EvaluationFailure, outer: [OuterValues] = []) {
        self.failure = failure
        plainPath = expression
        root = Self.node(expression, schema, failure, outer)
    }

    private static func node(
        _ expression: CheckedExpression, _ schema: Schema, _ failure: EvaluationFailure, _ outer: [OuterValues]
    ) -> Node {
        func node(_ expression: CheckedExpression) -> Node { Self.node(expression, schema, failure, outer) }
        switch expression {
        case .path(let path): return .path(PathReader(path, schema: schema), path.type)
        case .outer(let level, let path):
            // The checker rejects every other level.
            guard outer.indices.contains(outer.count - level) else { return .value(.null) }
            let values = outer[outer.count - level]
            return .outer(values, values.position(path, schema))
        case .value(let value, _): return .value(value)
        case .function(let function, let arguments, let type):
            return .function(FunctionEvaluator(function, type), arguments.map(node))
        case .conditional(let condition, let a, let b, let type):
            let sides = [a, b].map { side in side.type == type ? node(side) : .function(FunctionEvaluator(.coalesce, type), [node(side)]) }
            return .conditional(PredicateEvaluator(condition, schema, failure, outer: outer), sides[0], sides[1])
        case .related(let function, let members, let path, let type):
            return .related(
                function, MembersReader(members, schema, failure, outer), path.map { PathReader($0, schema: schema) }, path?.type ?? type)
        }
    }

    /// Returns the value for a row; nil after an error, which `throwFailure` throws.
    package func value(_ row: borrowing RowView, _ related: some RelatedRows) -> Value { value(root, row, related) }

    /// Throws the first error of a computation.
    package func throwFailure() throws(QueryError) { try failure.rethrow() }

    private func value(_ node: Node, _ row: borrowing RowView, _ related: some RelatedRows) -> Value {
        switch node {
        case .path(let path, let type):
            let cell = path.cell(row, related)
            if let value = Value(cell, as: type) { return value }
            return fail(.illFormed)
        case .outer(let values, let position): return values[position]
        case .value(let value): return value
        case .function(let function, let arguments):
            var values: [Value] = []
            values.reserveCapacity(arguments.count)
            for argument in arguments { values.append(value(argument, row, related)) }
            do throws(QueryError) { return try function.value(values) } catch { return fail(error) }
        case .conditional(let condition, let a, let b): return value(condition.matches(row, related) ? a : b, row, related)
        case .related(let function, let members, let path, let type):
            var accumulator = Accumulator(function, type: path == nil ? nil : type), failed: QueryError?
            members.forEach(row, related) { member in
                guard let path else {
                    accumulator.addObject()
                    return true
                }
                do throws(QueryError) { try accumulator.add(path.cell(member, related)) } catch { failed = error }
                return failed == nil
            }
            if let failed { return fail(failed) }
            do throws(QueryError) { return try accumulator.result() } catch { return fail(error) }
        }
    }

    private func fail(_ error: QueryError) -> Value {
        failure.error = failure.error ?? error
        return .null
    }
}
