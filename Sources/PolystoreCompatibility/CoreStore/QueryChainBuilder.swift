public import Foundation
public import Polystore

/// A query in the form of CoreStore's chains, whose rows are dictionaries and whose values are converted as by `NSNumber`:
/// `From<Person>().select(NSDictionary.self, .attribute(\.name), .objectID())`.
public struct QueryChainBuilder<Object: ManagedObject, Result>: QueryChainableBuilderType, Sendable {
    let query: AttributesQuery<Object>

    init(_ query: AttributesQuery<Object>) { self.query = query.withoutOrderOfOneRow() }

    /// Returns the query with a clause.
    public func appending(_ clause: any QueryClause<Object>) -> QueryChainBuilder { QueryChainBuilder(query.appending(clause)) }
}

extension Polystore.Select {
    /// Returns an output for the identity of the object: an `ObjectID` in dictionaries and in `select(ObjectID<Person>.self, .objectID())`, and
    /// the primary key in other rows. Its default name is `objectID`.
    public static func objectID(as alias: String? = nil) -> Polystore.Select<Object> { Self(named: "SELF", as: alias ?? "objectID") }
}

extension From {
    func query(_ terms: [SelectTerm]) -> AttributesQuery<Object> { select(terms.map { Polystore.Select(named: $0.text, as: $0.alias) }) }

    /// Returns a query with the values of a clause: `.select(Select<Int>(.maximum("age")))`.
    public func select<Result>(_ clause: Select<Result>) -> QueryChainBuilder<Object, Result> {
        QueryChainBuilder(query(clause.selectTerms))
    }

    /// Returns a query with the values of a clause: `.select(Select<Person, Int>(.maximum(\Person.age)))`.
    public func select<Result>(_ clause: Select<Object, Result>) -> QueryChainBuilder<Object, Result> {
        QueryChainBuilder(query(clause.selectTerms))
    }

    /// Returns a query for rows that are dictionaries.
    public func select(
        _ type: NSDictionary.Type, _ first: Polystore.Select<Object>, _ more: Polystore.Select<Object>...
    ) -> QueryChainBuilder<Object, NSDictionary> { select(type, [first] + more) }

    /// Returns a query for rows that are dictionaries.
    public func select(_ type: NSDictionary.Type, _ outputs: [Polystore.Select<Object>]) -> QueryChainBuilder<Object, NSDictionary> {
        QueryChainBuilder(select(outputs))
    }

    /// Returns a query for rows that are dictionaries.
    public func select(
        _ type: [String: Any].Type, _ first: Polystore.Select<Object>, _ more: Polystore.Select<Object>...
    ) -> QueryChainBuilder<Object, [String: Any]> { select(type, [first] + more) }

    /// Returns a query for rows that are dictionaries.
    public func select(_ type: [String: Any].Type, _ outputs: [Polystore.Select<Object>]) -> QueryChainBuilder<Object, [String: Any]> {
        QueryChainBuilder(select(outputs))
    }

    /// Returns a query for the identity of an object: `.select(ObjectID<Person>.self, .objectID())`.
    public func select(_ type: ObjectID<Object>.Type, _ output: Polystore.Select<Object>) -> QueryChainBuilder<Object, ObjectID<Object>> {
        QueryChainBuilder(select(output))
    }

    /// Returns a query for the value of a property: `.select(\.age)`.
    public func select<Result: AttributeValue>(_ keyPath: KeyPath<Object, Result>) -> ValueQuery<Object, Result> {
        select(Result.self, .attribute(keyPath))
    }

    /// Returns a query for the value of a property that can be nil.
    public func select<Result: AttributeValue>(_ keyPath: KeyPath<Object, Result?>) -> ValueQuery<Object, Result> {
        select(Result.self, .attribute(keyPath))
    }
}

extension From where Object: CoreStoreObject {
    /// Returns a query for the value of a field: `.select(\.$age)`.
    public func select<Owner, Result>(_ keyPath: KeyPath<Object, FieldContainer<Owner>.Stored<Result>>) -> ValueQuery<Object, Result> {
        select(Result.self, .attribute(keyPath))
    }

    /// Returns a query for the value of a field that can be nil.
    public func select<Owner, Result>(_ keyPath: KeyPath<Object, FieldContainer<Owner>.Stored<Result?>>) -> ValueQuery<Object, Result> {
        select(Result.self, .attribute(keyPath))
    }

    /// Returns a query for the value of a field in the form of CoreStore 4.
    public func select<Owner, Result>(_ keyPath: KeyPath<Object, ValueContainer<Owner>.Required<Result>>) -> ValueQuery<Object, Result> {
        select(Result.self, .attribute(keyPath))
    }

    /// Returns a query for the value of a field in the form of CoreStore 4.
    public func select<Owner, Result>(_ keyPath: KeyPath<Object, ValueContainer<Owner>.Optional<Result>>) -> ValueQuery<Object, Result> {
        select(Result.self, .attribute(keyPath))
    }
}
