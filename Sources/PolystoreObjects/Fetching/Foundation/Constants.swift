internal import PolystoreStorage

extension Range: AnyRange { var bounds: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, upperBound, false) } }
extension ClosedRange: AnyRange { var bounds: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, upperBound, true) } }
extension PartialRangeFrom: AnyRange { var bounds: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, nil, false) } }
extension PartialRangeUpTo: AnyRange { var bounds: (lower: Any?, upper: Any?, includesUpper: Bool) { (nil, upperBound, false) } }
extension PartialRangeThrough: AnyRange { var bounds: (lower: Any?, upper: Any?, includesUpper: Bool) { (nil, upperBound, true) } }

/// The values that a Foundation predicate captured.
enum Constants {
    /// Returns the stored form of a value.
    static func value(_ constant: Any?) throws(StorageError) -> Value {
        guard let constant else { return .null }
        guard let value = constant as? any AttributeValue else { throw unstorable(constant) }
        return value.attributeValue
    }

    /// Returns the identity constant of an object, which is given by its id or itself.
    static func identity(_ constant: Any?) throws(StorageError) -> Value {
        guard let constant else { return .null }
        if let id = constant as? any UntypedIdentity { return id.key.constant }
        if let object = constant as? ManagedObject { return try object.comparedIdentity() }
        throw Lowering.refusal("it compares an object with a captured value of type \(type(of: constant)); capture an objectID")
    }

    /// Returns the values of a list in the form in which they are compared with values or, by identity, with objects.
    static func values(_ list: some Sequence, areObjects: Bool) throws(StorageError) -> [Value] {
        var values: [Value] = []
        for element in list {
            if values.count == Lowering.longest { throw Lowering.refusal("a captured list has more than \(Lowering.longest) values") }
            let constant = unwrapping(element)
            values.append(areObjects ? try identity(constant) : try value(constant))
        }
        return values
    }

    private static func unstorable(_ constant: Any) -> StorageError {
        Lowering.refusal("it captures a value of type \(type(of: constant)), which is not an attribute type")
    }
}
