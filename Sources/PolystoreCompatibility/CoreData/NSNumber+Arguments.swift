package import Foundation
internal import Polystore

extension NSNumber: PredicateArgumentObject {
    package func predicateValue() throws(StorageError) -> Value {
        if let number = self as? NSDecimalNumber { return .decimal(number.decimalValue) }
        // Booleans have a class of their own; their C type is also that of an Int8.
        if type(of: self) == type(of: NSNumber(value: true)) { return .bool(boolValue) }
        switch String(cString: objCType) {
        case "d", "f": return .double(doubleValue)
        case "Q", "L": return try PredicateArgument.integer(uint64Value)
        default: return .int(int64Value)
        }
    }
}

extension NSNull: PredicateArgumentObject {
    package func predicateValue() -> Value { .null }
}
