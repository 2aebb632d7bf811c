internal import PolystoreStorage

extension Set: RelatedObjects where Element: ManagedObject {
    /// The class of the objects.
    public typealias Member = Element
}

extension Array: RelatedObjects where Element: ManagedObject {
    /// The class of the objects.
    public typealias Member = Element
}

extension KeyPath where Root: ManagedObject, Value: RelatedObjects {
    private func related(_ quantifier: Quantifier, _ condition: Where<Value.Member>) -> Where<Root> {
        do throws(StorageError) {
            let path = try KeyPathProbe.resolve(self)
            return Where(.related(quantifier, path, condition.predicate), problem: condition.problem)
        } catch {
            return Where(.constant(false), problem: error)
        }
    }

    /// Returns a condition for whether at least one related object satisfies a condition.
    public func any(_ condition: Where<Value.Member>) -> Where<Root> { related(.any, condition) }

    /// Returns a condition for whether every related object satisfies a condition. It is true if there are none.
    public func all(_ condition: Where<Value.Member>) -> Where<Root> { related(.all, condition) }

    /// Returns a condition for whether no related object satisfies a condition.
    public func none(_ condition: Where<Value.Member>) -> Where<Root> { related(.none, condition) }

    /// Returns a condition for whether an object is among the related ones. A deleted object is `invalidPredicate`.
    public func contains(_ object: Value.Member) -> Where<Root> {
        do throws(StorageError) {
            return related(.any, Where(.compare(.path(.object), .equal, .value(try object.comparedIdentity()))))
        } catch {
            return Where(.constant(false), problem: error)
        }
    }

    /// Returns a condition for whether the object that an id, a snapshot, a publisher or a monitor represents is among the related ones.
    public func contains(_ representation: some ObjectRepresentation<Value.Member>) -> Where<Root> {
        related(.any, Where(.compare(.path(.object), .equal, .value(representation.objectID.key.constant))))
    }

    private func aggregate<Result>(
        _ function: AggregateFunction, _ property: (() throws(StorageError) -> PropertyPath)?, _ condition: Where<Value.Member>?
    ) -> ValueExpression<Root, Result> {
        do throws(StorageError) {
            if let problem = condition?.problem { throw problem }
            let aggregate = RelatedAggregate(
                function, try KeyPathProbe.resolve(self), try property?(), where: condition?.predicate)
            return ValueExpression<Root, Result>(.related(aggregate), problem: nil)
        } catch {
            return ValueExpression<Root, Result>(.value(.null), problem: error)
        }
    }

    /// The number of related objects.
    public var count: ValueExpression<Root, Int> { aggregate(.count, nil, nil) }

    /// Returns the number of related objects that satisfy a condition.
    public func count(where condition: Where<Value.Member>) -> ValueExpression<Root, Int> { aggregate(.count, nil, condition) }

    /// Returns the sum of a property over the related objects; 0 for no values.
    public func sum<Property: AttributeValue>(
        _ property: KeyPath<Value.Member, Property>, where condition: Where<Value.Member>? = nil
    ) -> ValueExpression<Root, Property> {
        aggregate(.sum, { () throws(StorageError) in try KeyPathProbe.resolve(property) }, condition)
    }

    /// Returns the smallest value of a property of the related objects; nil for no values.
    public func minimum<Property: AttributeValue>(
        _ property: KeyPath<Value.Member, Property>, where condition: Where<Value.Member>? = nil
    ) -> ValueExpression<Root, Property?> {
        aggregate(.minimum, { () throws(StorageError) in try KeyPathProbe.resolve(property) }, condition)
    }

    /// Returns the largest value of a property of the related objects; nil for no values.
    public func maximum<Property: AttributeValue>(
        _ property: KeyPath<Value.Member, Property>, where condition: Where<Value.Member>? = nil
    ) -> ValueExpression<Root, Property?> {
        aggregate(.maximum, { () throws(StorageError) in try KeyPathProbe.resolve(property) }, condition)
    }

    /// Returns the mean of a property over the related objects; nil for no values.
    public func average<Property: AttributeValue>(
        _ property: KeyPath<Value.Member, Property>, where condition: Where<Value.Member>? = nil
    ) -> ValueExpression<Root, Double?> {
        aggregate(.average, { () throws(StorageError) in try KeyPathProbe.resolve(property) }, condition)
    }
}

extension Where {
    /// Returns a condition for whether the object is in a list, given by ids.
    public static func isObject(in ids: some Sequence<ObjectID<Object>>) -> Where {
        Where(.isIn(.path(.object), ObjectKey.constants(ids.map(\.key))))
    }

    /// Returns a condition for whether the object is of a class or a subclass.
    public static func isKind<Kind: ManagedObject>(of type: Kind.Type) -> Where { Where(.isEntity(Kind.declaration.name)) }
}
