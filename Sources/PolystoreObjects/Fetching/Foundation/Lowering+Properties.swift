internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.Variable: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart { try lowering.part(of: key) }
}

extension PredicateExpressions.Value: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart { .constant(unwrapping(value)) }
}

extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart { .constant(nil) }
}

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(root)
        if isStandardFolded { return part.standardFolded }
        switch part {
        case .object(let place):
            guard let type = Root.Output.self as? any ManagedObjectIdentity.Type else { break }
            return try property(of: type, place, lowering)
        case .objects(let place, let condition):
            if let found = try count(place, condition, lowering) { return found }
        case .value(let value):
            if let found = measure(value) { return found }
            if isRawValue { return part }
            if let type = Root.Output.self as? any AttributeValue.Type, type.isWhole { throw Lowering.refusalOfPart(Root.Output.self) }
        case .constant(let constant):
            if let root = constant as? Root.Output { return .constant(unwrapping(root[keyPath: keyPath])) }
        case .condition, .optionalCondition, .range: break
        }
        throw Lowering.refusal(
            "it reads a property of type \(Output.self) of \(part.noun) of type \(Root.Output.self), which is not stored")
    }

    /// Returns a property of an object, according to its declaration.
    ///
    /// The class is passed as a protocol existential, because only that opens to the class itself and not to the base class.
    private func property<Object: ManagedObjectIdentity>(of type: Object.Type, _ place: LoweredPlace, _ lowering: Lowering)
        throws(StorageError) -> LoweredPart
    {
        guard let keyPath = keyPath as? Swift.KeyPath<Object, Output> else {
            throw Lowering.refusal("a key path of \(Root.Output.self) is not a key path of \(Object.self)")
        }
        let found: [String]
        switch try KeyPathProbe.target(keyPath) {
        case .stored(let path): found = path.names
        case .computed(let expression, let names):
            return .value(try LoweredValue(try expression.behind(place.names + names)).inside(lowering.level - place.level))
        }
        if found.last == PropertyPath.object.names.last { return .object(place.appending(found.dropLast())) }
        let type: Any.Type = (Output.self as? any AnyOptional.Type)?.wrappedType ?? Output.self
        if type is ManagedObject.Type { return .object(place.appending(found)) }
        if type is any RelatedObjects.Type { return .objects(place.appending(found), nil) }
        if type is any AttributeValue.Type { return .value(LoweredValue(place.appending(found), at: lowering.level)) }
        throw Lowering.refusal("it reads a property of \(Object.self) of type \(Output.self), which is not an attribute type")
    }

    /// Returns the number of related objects, or whether there are none.
    private func count(
        _ place: LoweredPlace, _ condition: QueryPredicate?, _ lowering: Lowering
    ) throws(StorageError) -> LoweredPart? {
        guard let type = Root.Output.self as? any CountedObjects.Type else { return nil }
        if keyPath == type.countPath {
            return .value(LoweredValue(.related(RelatedAggregate(.count, try lowering.relationship(place), nil, where: condition))))
        }
        if keyPath == type.emptyPath {
            return .condition(try lowering.related(.none, place, condition ?? .constant(true)))
        }
        return nil
    }

    /// Whether the key path gives the stored form of an attribute's type, as `rawValue` of an enum does. The samples are all cases of an enum.
    private var isRawValue: Bool {
        guard Root.Output.self is any RawRepresentable.Type, let type = Root.Output.self as? any AttributeValue.Type else { return false }
        return isStoredForm(of: type)
    }

    private func isStoredForm<V: AttributeValue>(of type: V.Type) -> Bool {
        guard let keyPath = keyPath as? Swift.KeyPath<V, Output> else { return false }
        let samples = Attribute("", V.valueType, allowedValues: V.allowedValues, coder: V.coderName).samples.compactMap { sample in
            V(attributeValue: sample).map { ($0.attributeValue, ($0[keyPath: keyPath] as? any AttributeValue)?.attributeValue) }
        }
        return !samples.isEmpty && samples.allSatisfy { $0 == $1 }
    }

    /// Returns the length of a text, or whether it is empty.
    private func measure(_ value: LoweredValue) -> LoweredPart? {
        if keyPath == \String.count { return .value(LoweredValue(.length, [value])) }
        if keyPath == \String.isEmpty {
            return .condition(LoweredCondition(.compare(value.expression, .equal, .value(.string(""))), nilPlaces: value.nilPlaces))
        }
        return nil
    }
}

extension AttributeValue {
    /// Whether the stored form is one value that stores do not look into: that of a coded type or a list.
    static var isWhole: Bool { coderName != nil }
}

extension Lowering {
    /// Returns the error for the use of a part of a value of a coded type.
    static func refusalOfPart(_ type: Any.Type) -> StorageError {
        refusal("a value of type \(type) is stored and compared as a whole; make its parts attributes, or an entity")
    }
}

/// A collection with a count. Any element type is accepted, because the compiler crashes on key paths in constrained extensions.
private protocol CountedObjects {
    static var countPath: AnyKeyPath { get }
    static var emptyPath: AnyKeyPath { get }
}

extension Set: CountedObjects {
    fileprivate static var countPath: AnyKeyPath { \Set<Element>.count }
    fileprivate static var emptyPath: AnyKeyPath { \Set<Element>.isEmpty }
}

extension Array: CountedObjects {
    fileprivate static var countPath: AnyKeyPath { \[Element].count }
    fileprivate static var emptyPath: AnyKeyPath { \[Element].isEmpty }
}
