internal import PolystoreFoundation
package import PolystoreStorage

extension Where {
    /// Creates a condition from a text in the grammar of `NSPredicate`: `Where(format: "name BEGINSWITH[c] %@ AND ANY pets.age > %d", name,
    /// 3)`.
    ///
    /// Strings, numbers, dates, objects, ids and lists of them are arguments for `%@`, `%d` and similar placeholders, and a key path as a
    /// string for `%K`. `NSNumber` and `NSNull` need `PolystoreCompatibility`. Errors in the text are thrown by the request with the condition.
    public init(format: String, _ arguments: Any?...) { self.init(format: format, arguments: arguments) }

    /// Returns the condition with values in place of its variables: `Where(format: "age > $AGE").substituting(["AGE": 30])`.
    ///
    /// Values can have the same types as for `%@`; lists are valid for `IN` and `BETWEEN`. Values for other names are ignored. A variable
    /// without a value is `invalidPredicate`, which names the most similar variable with a value and is thrown by the request with the
    /// condition.
    public func substituting(_ values: [String: Any?]) -> Where {
        if problem != nil { return self }
        do throws(StorageError) {
            var converted: [String: PredicateArgument] = [:]
            for (name, value) in values { converted[name] = try PredicateArgument(value, "the argument for $\(name)") }
            do throws(QueryError) { return Where(try predicate.substituting(converted)) } catch { throw StorageError(error) }
        } catch {
            return Where(.constant(false), problem: error)
        }
    }

    /// Creates a condition from a text, with its arguments as a list.
    public init(format: String, arguments: [Any?]) {
        do throws(StorageError) {
            var converted: [PredicateArgument] = []
            for (position, argument) in arguments.enumerated() {
                converted.append(try PredicateArgument(argument, "argument \(position + 1)"))
            }
            do throws(QueryError) {
                self.init(try QueryPredicate(parsing: format, arguments: converted))
            } catch {
                throw StorageError(error)
            }
        } catch {
            self.init(.constant(false), problem: error)
        }
    }
}

/// An object that is an argument of a condition, such as an `NSNumber`. `PolystoreCompatibility` has the conformances of classes that
/// FoundationEssentials lacks.
package protocol PredicateArgumentObject {
    /// Returns the value that a condition compares with.
    func predicateValue() throws(StorageError) -> Value
}

extension PredicateArgument {
    /// Converts an argument for a placeholder.
    ///
    /// - Parameter name: The name of the argument in messages.
    init(_ argument: Any?, _ name: String) throws(StorageError) {
        guard let argument else {
            self = .value(.null)
            return
        }
        if let path = argument as? PropertyPath {
            self = .path(path)
        } else if let value = try Self.value(argument) {
            self = .value(value)
        } else if let list = argument as? [Any] {
            self = .list(try Self.values(list, name))
        } else if let set = argument as? Set<AnyHashable> {
            self = .list(try Self.values(set.map(\.base), name))
        } else if let range = argument as? ClosedRange<Int> {
            self = .list([.int(Int64(range.lowerBound)), .int(Int64(range.upperBound))])
        } else if let range = argument as? ClosedRange<Double> {
            self = .list([.double(range.lowerBound), .double(range.upperBound)])
        } else {
            throw StorageError(
                .invalidPredicate,
                "\(name) has the type \(type(of: argument)), which is neither an attribute type nor a list of attribute values")
        }
    }

    private static func value(_ argument: Any) throws(StorageError) -> Value? {
        // A list can be an attribute value, but here it represents its elements.
        if !(argument is [Any]), let value = argument as? any AttributeValue { return value.attributeValue }
        if let object = argument as? ManagedObject { return try object.comparedIdentity() }
        if let number = argument as? any BinaryInteger { return try integer(number) }
        if let number = argument as? any BinaryFloatingPoint { return .double(Double(number)) }
        return try foundation(argument)
    }

    /// Returns the value of an integer.
    ///
    /// - Throws: `valueOutOfRange` if it has more than 64 bits.
    package static func integer(_ number: some BinaryInteger) throws(StorageError) -> Value {
        if let number = Int64(exactly: number) { return .int(number) }
        throw StorageError(.valueOutOfRange, "a condition compares with an integer of more than 64 bits")
    }

    /// Returns the value of an object of Foundation. `NSString` and others are cast to Swift types in programs that link Foundation.
    private static func foundation(_ argument: Any) throws(StorageError) -> Value? {
        switch argument {
        case let object as any PredicateArgumentObject: try object.predicateValue()
        case let text as String: .string(text)
        case let date as Date: date.attributeValue
        case let id as UUID: id.attributeValue
        case let url as URL: url.attributeValue
        case let data as Data: data.attributeValue
        default: nil
        }
    }

    private static func values(_ list: [Any], _ name: String) throws(StorageError) -> [Value] {
        var values: [Value] = []
        for item in list {
            guard let value = try value(item) else {
                throw StorageError(
                    .invalidPredicate, "\(name) is a list with an element of type \(type(of: item)), which is not an attribute type")
            }
            values.append(value)
        }
        return values
    }
}
