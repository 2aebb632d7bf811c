public import Polystore

/// The name of a configuration of the model; nil is the configuration that holds all entities.
public typealias ModelConfiguration = String?
/// The stored name of a property.
public typealias KeyPathString = String

extension From {
    /// The class of the objects.
    public var entityClass: Object.Type { Object.self }

    /// Creates a request for all objects of a class: `From(Person.self)`.
    public init(_ type: Object.Type) { self.init() }

    /// Creates a request for all objects of the class in the stores of several configurations: `From<Person>("A", nil)`.
    public init(_ first: ModelConfiguration, _ second: ModelConfiguration, _ more: ModelConfiguration...) {
        self.init([first, second] + more)
    }

    /// Creates a request for all objects of the class in the stores of several configurations.
    public init(_ configurations: [ModelConfiguration]) {
        self.init()
        self.configurations = configurations
    }

    /// Creates a request for all objects of a class in the stores of one or more configurations: `From(Person.self, "A", nil)`.
    public init(_ type: Object.Type, _ configuration: ModelConfiguration, _ more: ModelConfiguration...) {
        self.init([configuration] + more)
    }

    /// Creates a request for all objects of a class in the stores of several configurations: `From(Person.self, ["A"])`.
    public init(_ type: Object.Type, _ configurations: [ModelConfiguration]) { self.init(configurations) }
}

extension From {
    /// Returns the request with clauses, in their order.
    func applying(_ clauses: [any FetchClause<Object>]) -> From { clauses.reduce(self) { $1.applied(to: $0) } }

    /// Returns the request restricted by a condition in the grammar of `NSPredicate`, with arguments for its placeholders.
    public func `where`(_ format: String, _ arguments: Any?...) -> From { self.where(Where(format: format, arguments: arguments)) }

    /// Returns the request restricted by a condition in the grammar of `NSPredicate`: `.where(format: "%K == %@", "name", "Ann")`.
    public func `where`(format: String, _ arguments: Any?...) -> From { self.where(Where(format: format, arguments: arguments)) }

    /// Returns the request restricted by a condition in the grammar of `NSPredicate`, with a list of arguments for its placeholders.
    public func `where`(format: String, argumentArray: [Any]?) -> From { self.where(Where(format, argumentArray: argumentArray)) }

    /// Returns the request restricted to objects that satisfy all conditions.
    public func `where`(combineByAnd conditions: Where<Object>...) -> From { self.where(conditions.combinedByAnd()) }

    /// Returns the request restricted to objects that satisfy at least one of the conditions.
    public func `where`(combineByOr conditions: Where<Object>...) -> From { self.where(conditions.combinedByOr()) }

    /// Returns the request with settings that a closure changes.
    public func tweak(_ change: @escaping (TweakedRequest) -> Void) -> From { Tweak(change).applied(to: self) }

    /// Returns the request with a clause.
    public func appending(_ clause: any FetchClause<Object>) -> From { clause.applied(to: self) }

    /// Returns the request with clauses, in their order.
    public func appending(contentsOf clauses: some Sequence<any FetchClause<Object>>) -> From { applying(Array(clauses)) }
}

extension From {
    /// Returns the request with sections by the value of a property, given by its stored name.
    public func sectionBy(_ keyPath: String) -> SectionMonitorChainBuilder<Object> {
        SectionMonitorChainBuilder(self, SectionBy(keyPath))
    }

    /// Returns the request with sections by the value of a property, given by its stored name, and a closure for their index titles.
    public func sectionBy(
        _ keyPath: String, sectionIndexTransformer: @escaping @Sendable (_ sectionName: String?) -> String?
    ) -> SectionMonitorChainBuilder<Object> {
        SectionMonitorChainBuilder(self, SectionBy(keyPath, sectionIndexTransformer: sectionIndexTransformer))
    }

    /// Returns the request with sections by the value of a property.
    public func sectionBy<Property>(_ keyPath: KeyPath<Object, Property>) -> SectionMonitorChainBuilder<Object> {
        SectionMonitorChainBuilder(self, SectionBy(keyPath))
    }

    /// Returns the request with sections by the value of a property, and a closure for their index titles.
    public func sectionBy<Property>(
        _ keyPath: KeyPath<Object, Property>, sectionIndexTransformer: @escaping @Sendable (_ sectionName: String?) -> String?
    ) -> SectionMonitorChainBuilder<Object> {
        SectionMonitorChainBuilder(self, SectionBy(keyPath, sectionIndexTransformer: sectionIndexTransformer))
    }
}
