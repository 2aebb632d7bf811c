public import Polystore

extension Where: FetchClause {
    /// Returns the request with the condition.
    public func applied(to from: From<Object>) -> From<Object> { from.where(self) }
}

extension OrderBy: FetchClause {
    /// Returns the request with the order.
    public func applied(to from: From<Object>) -> From<Object> { from.orderBy(self) }

    /// The sort keys, in their order: an expression and a direction each.
    public var sortDescriptors: [OrderTerm] { terms }
}

extension Into {
    /// The class of the object.
    public var entityClass: Object.Type { Object.self }

    /// The configuration of the store; nil for the one that holds all entities, and if none is named.
    public var configuration: ModelConfiguration { place ?? nil }

    /// Creates a destination for new objects of a class: `Into(Person.self)`.
    public init(_ type: Object.Type) { self.init() }

    /// Creates a destination for new objects of a class in the store of a configuration: `Into(Person.self, "A")`.
    public init(_ type: Object.Type, _ configuration: ModelConfiguration) { self.init(configuration) }
}
