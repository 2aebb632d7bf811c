internal import Foundation
public import Polystore

extension Where: QueryClause {}
extension OrderBy: QueryClause {}
extension Tweak: QueryClause {}

extension QuerySource {
    private func query<O: ManagedObject>(
        _ from: From<O>, _ terms: [SelectTerm], _ clauses: [any QueryClause<O>]
    ) -> AttributesQuery<O> {
        let parts = clauses.reduce((from: from, keys: [])) { $1.applied(to: $0) }
        // Core Data ignores an order beside a value over all objects.
        return parts.from.query(terms).groupBy(named: parts.keys).withoutOrderOfOneRow()
    }

    private func value<O: ManagedObject, R: AttributeValue>(_ query: AttributesQuery<O>) throws(StorageError) -> R? {
        try queryIdentities(query).first?.values[0].queried()
    }

    private func dictionaries<O: ManagedObject>(_ query: AttributesQuery<O>) throws(StorageError) -> [[String: Any]] {
        let identities = query.identityPositions
        return try queryIdentities(query).map { row in
            var result: [String: Any] = [:]
            for (name, value) in zip(row.names, row.values) { result[name] = value.natural }
            for position in identities { result[row.names[position]] = ObjectID<O>(attributeValue: row.values[position]) }
            return result
        }
    }

    /// Returns a single value of the first result row, or nil if there is none or if it has another type. A number is converted to the type
    /// of the result, without its fraction if that is an integer.
    public func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        try queryValue(from, select, clauses)
    }

    /// Returns a single value of the first result row, or nil if there is none or if it has another type. A number is converted to the type
    /// of the result, without its fraction if that is an integer.
    public func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: [any QueryClause<O>]
    ) throws(StorageError) -> R? {
        try value(query(from, select.selectTerms, clauses))
    }

    /// Returns a single value of the first result row, or nil if there is none or if it has another type.
    @_disfavoredOverload
    public func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<O, R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        try value(query(from, select.selectTerms, clauses))
    }

    /// Returns a single value of the first result row, or nil if there is none or if it has another type.
    @_disfavoredOverload
    public func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<O, R>, _ clauses: [any QueryClause<O>]
    ) throws(StorageError) -> R? {
        try value(query(from, select.selectTerms, clauses))
    }

    /// Returns a single value of the first result row, or nil if there is none or if it has another type.
    public func queryValue<O: ManagedObject, R: AttributeValue>(_ chain: QueryChainBuilder<O, R>) throws(StorageError) -> R? {
        try value(chain.query)
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public func queryAttributes<O: ManagedObject>(
        _ from: From<O>, _ select: Select<[String: Any]>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> [[String: Any]] {
        try queryAttributes(from, select, clauses)
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public func queryAttributes<O: ManagedObject>(
        _ from: From<O>, _ select: Select<[String: Any]>, _ clauses: [any QueryClause<O>]
    ) throws(StorageError) -> [[String: Any]] {
        try dictionaries(query(from, select.selectTerms, clauses))
    }

    /// Returns the result rows as dictionaries, without values that are nil: `Select<NSDictionary>("name", "age")`,
    /// `Select<Person, NSDictionary>(.attribute(\Person.name))`.
    @_disfavoredOverload
    public func queryAttributes<O: ManagedObject, each Parameter>(
        _ from: From<O>, _ select: Select<repeat each Parameter>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> [[String: Any]] {
        try dictionaries(query(from, select.selectTerms, clauses))
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    @_disfavoredOverload
    public func queryAttributes<O: ManagedObject, each Parameter>(
        _ from: From<O>, _ select: Select<repeat each Parameter>, _ clauses: [any QueryClause<O>]
    ) throws(StorageError) -> [[String: Any]] {
        try dictionaries(query(from, select.selectTerms, clauses))
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public func queryAttributes<O: ManagedObject, Row>(_ chain: QueryChainBuilder<O, Row>) throws(StorageError) -> [[String: Any]] {
        try dictionaries(chain.query)
    }
}

extension Value {
    /// Returns the value as the result of a query, with the conversions of `NSNumber`; nil if it is nil or has another type.
    fileprivate func queried<R: AttributeValue>() -> R? {
        if isNull { return nil }
        if let result = R(attributeValue: self) { return result }
        let forms: [Value?] =
            switch self {
            case .bool(let value): [.int(value ? 1 : 0), .double(value ? 1 : 0), .decimal(value ? 1 : 0)]
            case .int(let value): [.double(Double(value)), .decimal(Decimal(value)), .bool(value != 0)]
            case .double(let value): value.forms(exact: Decimal(value))
            case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue.forms(exact: value)
            default: []
            }
        return forms.lazy.compactMap { $0.flatMap(R.init(attributeValue:)) }.first
    }
}

extension Double {
    fileprivate func forms(exact: Decimal) -> [Value?] {
        [Int64(exactly: rounded(.towardZero)).map(Value.int), .double(self), .decimal(exact), .bool(self != 0)]
    }
}
