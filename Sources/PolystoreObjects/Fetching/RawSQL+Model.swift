public import PolystoreStorage

extension RawSQL.StringInterpolation {
    /// Appends a value. Nil becomes NULL.
    public mutating func appendInterpolation<Value: AttributeValue>(_ value: Value) { append(.value(value)) }

    /// Appends values separated by commas, for `IN (…)`. An empty sequence becomes a list that contains no value.
    public mutating func appendInterpolation<Value: AttributeValue>(list values: some Sequence<Value>) {
        var isFirst = true
        for value in values {
            if !isFirst { append(.text(", ")) }
            append(.value(value))
            isFirst = false
        }
        if isFirst { append(.text("NULL")) }
    }

    /// Appends the table of a class's hierarchy, which contains the objects of all classes of the hierarchy.
    public mutating func appendInterpolation<Object: ManagedObject>(table type: Object.Type) {
        append(.table(entity: type.declaration.name))
    }

    /// Appends the table with the pairs of a to-many relationship: `owner`, `rank`, `member`.
    public mutating func appendInterpolation<Object: ManagedObject, Property>(links keyPath: KeyPath<Object, Property>) {
        append(.property(keyPath) { .links(entity: $0, relationship: $1) })
    }

    /// Appends the column of an attribute or a to-one relationship. `\Person.self` is the primary key.
    public mutating func appendInterpolation<Object: ManagedObject, Property>(column keyPath: KeyPath<Object, Property>) {
        append(.property(keyPath) { .column(entity: $0, property: $1) })
    }
}

extension RawSQL.Segment {
    /// Returns a binding in the normalized form that every store can hold.
    fileprivate static func value<Value: AttributeValue>(_ value: Value) -> Self {
        var value = value
        if let error = Value._normalise(&value) { return .refused(StorageError(error)) }
        return .binding(value.attributeValue, Value.valueType)
    }

    fileprivate static func property<Object: ManagedObject, Property>(
        _ keyPath: KeyPath<Object, Property>, _ segment: (_ entity: String, _ property: String) -> Self
    ) -> Self {
        do throws(StorageError) {
            let path = try KeyPathProbe.resolve(keyPath)
            if path == .object { return .key }
            guard path.names.count == 1 else {
                return .refused(
                    StorageError(
                        .invalidPredicate, "\(path) is a column of another table; join that table and name its column",
                        details: .init(property: path.description)))
            }
            return segment(Object.declaration.name, path.names[0])
        } catch {
            return .refused(error)
        }
    }
}
