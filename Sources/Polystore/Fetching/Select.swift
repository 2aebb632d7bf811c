internal import PolystoreStorage

/// One value that a query asks for: `.sum(\.age)`, `.attribute(\.name)`, `.count(as: "number")`.
///
/// Without an alias it is called what it is, such as `age` or `average(age)`.
public struct Select<Object: ManagedObject>: Sendable {
    let output: QueryOutput
    let problem: StorageError?

    init(_ output: QueryOutput, problem: StorageError? = nil) {
        self.output = output
        self.problem = problem
    }

    private init<Property>(_ function: AggregateFunction, _ keyPath: KeyPath<Object, Property>, _ alias: String?) {
        do throws(StorageError) {
            self.init(.aggregate(Aggregate(function, of: try KeyPathProbe.expression(keyPath)), as: alias))
        } catch {
            self.init(.aggregate(Aggregate(.count), as: alias), problem: error)
        }
    }

    /// The value of a property.
    public static func attribute<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        expression(ValueExpression(keyPath), as: alias)
    }

    /// Something computed: `.expression((\Person.pets).count, as: "pets")`.
    public static func expression<Value>(_ expression: ValueExpression<Object, Value>, as alias: String? = nil) -> Select {
        Select(QueryOutput(expression.expression, as: alias), problem: expression.problem)
    }

    /// The number of objects.
    public static func count(as alias: String? = nil) -> Select { Select(.aggregate(Aggregate(.count), as: alias)) }

    /// The number of values that are not nil.
    public static func count<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.count, keyPath, alias)
    }

    /// The number of different values that are not nil.
    public static func countDistinct<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.countDistinct, keyPath, alias)
    }

    /// The total; 0 of nothing.
    public static func sum<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.sum, keyPath, alias)
    }

    /// The mean; nil of nothing.
    public static func average<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.average, keyPath, alias)
    }

    /// The smallest value; nil of nothing.
    public static func minimum<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.minimum, keyPath, alias)
    }

    /// The greatest value; nil of nothing.
    public static func maximum<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.maximum, keyPath, alias)
    }

    /// The standard deviation of the whole population; nil of nothing. Of a sample, `sampleStandardDeviation` is the better guess.
    public static func standardDeviation<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.standardDeviation, keyPath, alias)
    }

    /// The standard deviation that a sample lets expect; nil of fewer than two values.
    public static func sampleStandardDeviation<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.sampleStandardDeviation, keyPath, alias)
    }

    /// The value in the middle, of an even number the mean of the middle two; nil of nothing.
    public static func median<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.median, keyPath, alias)
    }
}

extension Select {
    /// An output by names, as the text form writes them: `Select(named: "@avg(age)", as: "mean")`.
    public init(named text: String, as alias: String? = nil) {
        do throws(QueryError) {
            self.init(QueryOutput(try QueryExpression(parsing: text), as: alias))
        } catch {
            self.init(.aggregate(Aggregate(.count), as: alias), problem: StorageError(error))
        }
    }
}
