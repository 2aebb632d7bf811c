internal import PolystoreStorage

extension Where {
    /// The condition of a text in the grammar of `NSPredicate`: `Where(format: "name BEGINSWITH[c] %@ AND ANY pets.age > %d", name, 3)`.
    ///
    /// Texts, numbers, dates, objects, ids and lists of them stand for `%@`, `%d` and their like, a key path as text for `%K`. What is wrong
    /// with the text is thrown by the request that uses the condition.
    public init(format: String, _ arguments: Any?...) { self.init(format: format, arguments: arguments) }

    /// The condition with values in place of its variables: `Where(format: "age > $AGE").substituting(["AGE": 30])`.
    ///
    /// Values are what they can be for `%@`; a list stands beside `IN` and `BETWEEN`. What is given for other names is not looked at. A
    /// variable without a value is `invalidPredicate`, which names the nearest that has one and is thrown by the request that uses the
    /// condition.
    public func substituting(_ values: [String: Any?]) -> Where {
        if problem != nil { return self }
        do throws(StorageError) {
            var converted: [String: PredicateArgument] = [:]
            for (name, value) in values { converted[name] = try PredicateArgument(value, "what is given for $\(name)") }
            do throws(QueryError) { return Where(try predicate.substituting(converted)) } catch { throw StorageError(error) }
        } catch {
            return Where(.constant(false), problem: error)
        }
    }

    /// The condition of a text, with its arguments as a list.
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

extension PredicateArgument {
    /// What a program gives for a placeholder.
    ///
    /// - Parameter name: What it is called in messages.
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
                .invalidPredicate, "\(name) is a \(type(of: argument)), which no attribute and no list of values can be")
        }
    }

    private static func value(_ argument: Any) throws(StorageError) -> Value? {
        // A list can be an attribute, but here it is its values.
        if !(argument is [Any]), let value = argument as? any AttributeValue { return value.attributeValue }
        if let object = argument as? ManagedObject { return try object.comparedIdentity() }
        return nil
    }

    private static func values(_ list: [Any], _ name: String) throws(StorageError) -> [Value] {
        var values: [Value] = []
        for item in list {
            guard let value = try value(item) else {
                throw StorageError(
                    .invalidPredicate, "\(name) is a list with a \(type(of: item)), which no attribute can be")
            }
            values.append(value)
        }
        return values
    }
}
