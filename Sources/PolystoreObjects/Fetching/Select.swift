internal import PolystoreStorage

/// An output value of a query: `.sum(\.age)`, `.attribute(\.name)`, `.count(as: "number")`.
///
/// Without an alias its name is derived from the expression, such as `age` or `average(age)`.
public struct Select<Object: ManagedObject>: Sendable, Hashable {
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

    /// Returns an output for the value of a property.
    public static func attribute<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        expression(ValueExpression(keyPath), as: alias)
    }

    /// Returns an output for an expression: `.expression((\Person.pets).count, as: "pets")`.
    public static func expression<Value>(_ expression: ValueExpression<Object, Value>, as alias: String? = nil) -> Select {
        Select(QueryOutput(expression.expression, as: alias), problem: expression.problem)
    }

    /// Returns an output for the number of objects.
    public static func count(as alias: String? = nil) -> Select { Select(.aggregate(Aggregate(.count), as: alias)) }

    /// Returns an output for the number of values that are not nil.
    public static func count<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.count, keyPath, alias)
    }

    /// Returns an output for the number of distinct values that are not nil.
    public static func countDistinct<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.countDistinct, keyPath, alias)
    }

    /// Returns an output for the sum; 0 for no values.
    public static func sum<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.sum, keyPath, alias)
    }

    /// Returns an output for the mean; nil for no values.
    public static func average<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.average, keyPath, alias)
    }

    /// Returns an output for the smallest value; nil for no values.
    public static func minimum<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.minimum, keyPath, alias)
    }

    /// Returns an output for the largest value; nil for no values.
    public static func maximum<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.maximum, keyPath, alias)
    }

    /// Returns an output for the standard deviation of a whole population; nil for no values. For a sample, `sampleStandardDeviation` is a
    /// better estimate.
    public static func standardDeviation<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.standardDeviation, keyPath, alias)
    }

    /// Returns an output for the standard deviation estimated from a sample; nil for fewer than two values.
    public static func sampleStandardDeviation<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.sampleStandardDeviation, keyPath, alias)
    }

    /// Returns an output for the median, which for an even number of values is the mean of the middle two; nil for no values.
    public static func median<Property>(_ keyPath: KeyPath<Object, Property>, as alias: String? = nil) -> Select {
        Select(.median, keyPath, alias)
    }
}

extension Select {
    /// Creates an output from its text form with stored names: `Select(named: "@avg(age)", as: "mean")`, or `Select(named: "@count")` for the
    /// number of objects.
    public init(named text: String, as alias: String? = nil) {
        do throws(QueryError) {
            self.init(QueryOutput(try QueryExpression(parsing: text), as: alias))
        } catch {
            self.init(.aggregate(Aggregate(.count), as: alias), problem: StorageError(error))
        }
    }
}
