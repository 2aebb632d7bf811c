internal import PolystoreSchema

extension CheckedExpression {
    /// The numbers that an expression of whole numbers can result in; all for others.
    package var range: ClosedRange<Int64> {
        switch self {
        case .path(let path), .outer(_, let path): return path.type.range
        case .value(.int(let number), _): return number...number
        case .value: return .all
        case .related(.count, _, _, _), .related(.countDistinct, _, _, _): return 0...(.max)
        case .function(let function, let arguments, .int64): return function.descriptor.range(arguments.map(\.range)) ?? .all
        case .function, .related: return .all
        case .conditional(_, let a, let b, _):
            let (x, y) = (a.range, b.range)
            return min(x.lowerBound, y.lowerBound)...max(x.upperBound, y.upperBound)
        }
    }
}
