internal import Foundation
internal import PolystoreStorage

extension PredicateExpressions.ExpressionEvaluate: LowerableExpression {
    /// The captured expression, about what is given to it.
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        guard let other = try lowering.lower(expression).captured as? Transformation.Output else {
            throw Lowering.refusal("an expression that was not captured is evaluated")
        }
        var inner = lowering
        repeat inner = inner.binding((each other.variable).key, to: try lowering.lower(each input))
        return try inner.lower(other.expression)
    }
}
