public import PolystoreFoundation
internal import PolystoreStorage

/// A number or an optional number, to which arithmetic applies. The result is nil if one of the numbers is nil.
public protocol NumericAttribute: AttributeValue {}

extension Int: NumericAttribute {}
extension Int16: NumericAttribute {}
extension Int32: NumericAttribute {}
extension Int64: NumericAttribute {}
extension Float: NumericAttribute {}
extension Double: NumericAttribute {}
extension Decimal: NumericAttribute {}
extension Optional: NumericAttribute where Wrapped: NumericAttribute {}
