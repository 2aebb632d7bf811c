public import PolystoreStorage

/// What differs between the SQL engines, as a table.
public struct SQLDialect: Sendable {
    /// The placeholder of the binding at a position, counted from 1.
    public var placeholder: @Sendable (Int, SQLBinding) -> String
    /// The column type of values.
    public var typeName: @Sendable (ValueType) -> String
    /// Equality that treats nil as a value.
    public var isSame: String
    /// Inequality that treats nil as a value.
    public var isNotSame: String
    /// Whether a text, given as SQL, has a needle in a place or matches it; nil where the engine would answer otherwise.
    public var match: @Sendable (SQLText, TextMatch, String) -> SQLText?
    /// Whether the text of a column begins with one that is not empty, in a form that an index answers; nil where `match` is as good.
    public var beginsWith: @Sendable (SQLText, String) -> SQLText?
    /// A text, given as SQL, as a comparison with options sees it; nil where the engine would fold otherwise.
    public var fold: @Sendable (SQLText, TextOptions) -> SQLText?
    /// For an engine that does not fold as the contract says: a text, given as SQL, with its case folded as that of ASCII, and whether it has
    /// nothing else.
    public var foldASCII: (@Sendable (SQLText) -> (folded: SQLText, isASCII: SQLText))?
    /// Whether a value is in a list.
    public var isIn: @Sendable (SQLText, [Value], ValueType) -> SQLText
    /// What follows an ascending and a descending key, so that nil is the smallest.
    public var ascending: String, descending: String
    /// The limit of a statement that has only an offset.
    public var noLimit: String
    /// The constants.
    public var yes: String, no: String
    /// A constant as text in a statement that has no bindings: bools, whole numbers and texts; nil for others.
    public var literal: @Sendable (Value, ValueType) -> String?
    /// A constant of any type as text that the engine reads exactly; nil where it does not.
    public var constant: @Sendable (Value, ValueType) -> String?
    /// The type that a column is changed to in place when its values go over from one type to another; empty where they lie alike, nil where
    /// the rows have to be written anew.
    public var convertsColumn: @Sendable (ValueType, ValueType) -> String?
    /// Whether the default that a new column fills its rows with can be dropped again.
    public var dropsDefaults: Bool
    /// What the engine allows as names.
    public var names: SQLNameRules
    /// What follows the columns of a new table.
    public var tableOptions: String, linkOptions: String
    /// The expression of a column in an index.
    public var indexKey: @Sendable (String) -> String
    /// Whether the engine compares two types of numbers exactly.
    public var comparesExactly: @Sendable (ValueType, ValueType) -> Bool
    /// Whether the engine computes an aggregate over a type with the meaning of the contract.
    public var aggregates: @Sendable (AggregateFunction, ValueType) -> Bool
    /// The least or the greatest of values that are given as SQL.
    public var extreme: @Sendable (_ isLeast: Bool, SQLText, ValueType) -> SQLText
    /// An aggregate over numbers that are given as SQL, of those that the engine computes.
    public var number: @Sendable (AggregateFunction, SQLText, ValueType) -> SQLNumberAggregate
    /// How many variables of a statement a list of so many values of a type takes.
    public var variables: @Sendable (Int, ValueType) -> Int
    /// Whether the engine notices that a whole number overflows on the way to a new value; otherwise only what is stored is checked.
    public var checksOverflow: Bool
    /// Whether a subquery of a statement that changes rows can see rows that the statement has changed already.
    public var seesOwnChanges: Bool
    /// The engine's full-text indexes; nil where it has none.
    public var fullText: SQLFullText?

    /// A dialect from its differences.
    public init(
        placeholder: @escaping @Sendable (Int, SQLBinding) -> String, typeName: @escaping @Sendable (ValueType) -> String,
        isSame: String, isNotSame: String, match: @escaping @Sendable (SQLText, TextMatch, String) -> SQLText?,
        beginsWith: @escaping @Sendable (SQLText, String) -> SQLText?, fold: @escaping @Sendable (SQLText, TextOptions) -> SQLText?,
        foldASCII: (@Sendable (SQLText) -> (folded: SQLText, isASCII: SQLText))?,
        isIn: @escaping @Sendable (SQLText, [Value], ValueType) -> SQLText, ascending: String, descending: String, noLimit: String,
        yes: String, no: String, literal: @escaping @Sendable (Value, ValueType) -> String?,
        constant: @escaping @Sendable (Value, ValueType) -> String?, convertsColumn: @escaping @Sendable (ValueType, ValueType) -> String?,
        dropsDefaults: Bool, names: SQLNameRules, tableOptions: String, linkOptions: String,
        indexKey: @escaping @Sendable (String) -> String, comparesExactly: @escaping @Sendable (ValueType, ValueType) -> Bool,
        aggregates: @escaping @Sendable (AggregateFunction, ValueType) -> Bool,
        extreme: @escaping @Sendable (Bool, SQLText, ValueType) -> SQLText,
        number: @escaping @Sendable (AggregateFunction, SQLText, ValueType) -> SQLNumberAggregate,
        variables: @escaping @Sendable (Int, ValueType) -> Int, checksOverflow: Bool, seesOwnChanges: Bool, fullText: SQLFullText?
    ) {
        self.placeholder = placeholder
        self.typeName = typeName
        self.isSame = isSame
        self.isNotSame = isNotSame
        self.match = match
        self.beginsWith = beginsWith
        self.fold = fold
        self.foldASCII = foldASCII
        self.isIn = isIn
        self.ascending = ascending
        self.descending = descending
        self.noLimit = noLimit
        self.yes = yes
        self.no = no
        self.literal = literal
        self.constant = constant
        self.convertsColumn = convertsColumn
        self.dropsDefaults = dropsDefaults
        self.names = names
        self.tableOptions = tableOptions
        self.linkOptions = linkOptions
        self.indexKey = indexKey
        self.comparesExactly = comparesExactly
        self.aggregates = aggregates
        self.extreme = extreme
        self.number = number
        self.variables = variables
        self.checksOverflow = checksOverflow
        self.seesOwnChanges = seesOwnChanges
        self.fullText = fullText
    }
}

/// How an engine computes an aggregate over numbers.
public struct SQLNumberAggregate: Sendable {
    /// Its values: a total, a deviation, or the two values in the middle.
    public let values: [SQLText]
    /// How many values there are with which the engine would fail, or compute something else; nil where there can be none.
    public let beyond: SQLText?

    /// An aggregate.
    public init(_ values: SQLText..., beyond: SQLText? = nil) {
        self.values = values
        self.beyond = beyond
    }
}
