internal import PolystoreFoundation
public import PolystoreStorage

/// A row in the result of a query: values by their aliases.
public struct AttributeRow: Sendable, Hashable {
    /// The aliases, in the order of the request.
    public let names: [String]
    /// The values, in the same order.
    public let values: [Value]
    private let form: Form

    /// The representation of the values.
    enum Form: Sendable {
        /// The types of attributes.
        case attribute
        /// The types of the engine, which has fewer types than attributes.
        case engine
    }

    init(names: [String], values: [Value], form: Form = .attribute) {
        self.names = names
        self.values = values
        self.form = form
    }

    /// Returns the value with an alias; nil if there is no such alias or the value is nil.
    public subscript(name: String) -> Value? {
        guard let index = names.firstIndex(of: name), !values[index].isNull else { return nil }
        return values[index]
    }

    /// Returns the value with an alias, converted to a type; nil if the value is nil.
    ///
    /// In the result of an SQL query, values that an engine stores as another of its types are converted to the attribute type:
    /// microseconds since 1970 to a date, 0 and 1 to a Bool, bytes to a UUID or a Decimal.
    /// - Throws: `invalidPredicate` if the row has no value of this name, or a value that cannot be converted.
    public func value<Result: AttributeValue>(_ name: String, as type: Result.Type = Result.self) throws(StorageError) -> Result? {
        guard let index = names.firstIndex(of: name) else {
            throw StorageError(.invalidPredicate, "the result has no column \"\(name)\"\(Suggestion.nearest(name, in: names))")
        }
        switch form {
        case _ where values[index].isNull: return nil
        case .attribute: return try values[index].converted(name)
        case .engine: return try values[index].read(as: Result.valueType).converted(name)
        }
    }
}

extension Value {
    /// Converts an engine's value to an attribute type; returns the value itself if no conversion applies.
    fileprivate func read(as type: ValueType) -> Value {
        if case .int(let number) = self, type == .decimal { return .decimal(Decimal(number)) }
        if case .decimal(let number) = self {
            if type.isInteger { return Int64(number.description).map(Value.int) ?? self }
            if type.base == .double { return .double(Double(number.description) ?? 0) }
        }
        // An engine without the type has the cells of its values.
        guard let engines = self.type, engines != type.base, [.int64, .double, .string, .data].contains(engines),
            engines.cellKind == type.cellKind
        else { return self }
        return withCell { Value($0, as: type) } ?? self
    }

    /// Converts the value to a type: an exact conversion between numbers, or a typed error.
    func converted<Result: AttributeValue>(_ name: String) throws(StorageError) -> Result {
        if let result = Result(attributeValue: self) { return result }
        if case .int(let number) = self, let result = Result(attributeValue: .double(Double(number))) { return result }
        if case .double(let number) = self, let whole = Int64(exactly: number), let result = Result(attributeValue: .int(whole)) {
            return result
        }
        throw StorageError(.invalidPredicate, "the value of \(name) cannot be converted to \(Result.self)")
    }
}

extension AttributeRow: CustomStringConvertible {
    /// The names and values.
    public var description: String { "[\(zip(names, values).map { "\($0): \($1)" }.joined(separator: ", "))]" }
}
