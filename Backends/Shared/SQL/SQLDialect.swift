package import PolystoreStorage

/// The differences between the SQL engines, as a table.
package struct SQLDialect: Sendable {
    /// Returns the placeholder of the binding at a position, counted from 1.
    package var placeholder: @Sendable (Int, SQLBinding) -> String
    /// Returns the column type for a type of values.
    package var typeName: @Sendable (ValueType) -> String
    /// The operator for equality that treats nil as a value.
    package var isSame: String
    /// The operator for inequality that treats nil as a value.
    package var isNotSame: String
    /// Returns the condition that a text, given as SQL, contains a needle at a position or matches a pattern; nil where the engine's answer
    /// would differ from the contract.
    package var match: @Sendable (SQLText, TextMatch, String) -> SQLText?
    /// Returns the condition that the text of a column begins with a text that is not empty, in a form that an index answers; nil where
    /// `match` is as good.
    package var beginsWith: @Sendable (SQLText, String) -> SQLText?
    /// For an engine whose folding differs from the contract: returns a text of ASCII, given as SQL, folded by the options of a comparison,
    /// and the condition that it contains only ASCII.
    package var foldASCII: (@Sendable (SQLText, TextOptions) -> (folded: SQLText, isASCII: SQLText))?
    /// Returns the condition that a value is in a list.
    package var isIn: @Sendable (SQLText, [Value], ValueType) -> SQLText
    /// The suffixes of an ascending and a descending sort term, which make nil the smallest value.
    package var ascending: String, descending: String
    /// The LIMIT of a statement that has only an offset.
    package var noLimit: String
    /// The constants for true and false.
    package var yes: String, no: String
    /// Returns a constant as text for a statement without bindings: Booleans, integers and texts; nil for others.
    package var literal: @Sendable (Value, ValueType) -> String?
    /// Returns a constant of any type as text that the engine reads exactly; nil where there is none.
    package var constant: @Sendable (Value, ValueType) -> String?
    /// Returns the type that a column is changed to in place when its values change from one type to another: empty where both types are
    /// stored alike, nil where the rows have to be written from scratch.
    package var convertsColumn: @Sendable (ValueType, ValueType) -> String?
    /// Whether the default that fills existing rows of a new column can be dropped again.
    package var dropsDefaults: Bool
    /// The rules for names in the engine.
    package var names: SQLNameRules
    /// The options after the columns of a new table.
    package var tableOptions: String, linkOptions: String
    /// Returns the expression of a column in an index.
    package var indexKey: @Sendable (String) -> String
    /// Whether the engine compares two numeric types exactly.
    package var comparesExactly: @Sendable (ValueType, ValueType) -> Bool
    /// Whether the engine computes an aggregate over a type as the contract requires.
    package var aggregates: @Sendable (AggregateFunction, ValueType) -> Bool
    /// Returns a function of arguments, which are given as SQL with their types, with a result of a type as the contract requires it; nil for
    /// a function that is computed above the store. Where the contract requires an error, it is the error of the statement. Not called for
    /// what `SQLFunction` has for all engines.
    package var function: @Sendable (Function, [SQLArgument], ValueType) -> SQLText?
    /// Returns an aggregate of values, which are given as SQL with their type, as one value that the contract requires; nil for one that is
    /// not computed so. Where the contract requires an error, it is the error of the statement.
    package var total: @Sendable (AggregateFunction, SQLArgument) -> SQLText?
    /// Whether a computation that fails ends its statement only, with the error of the contract. Otherwise it would end the transaction, and
    /// what can fail is computed above the store.
    package var failsAlone: Bool
    /// The type of whole numbers of any size, in which conditions on arithmetic that can fail are evaluated so that they select the rows for
    /// which it fails too; nil where there is none.
    package var wideType: String?
    /// Returns the minimum or the maximum of values that are given as SQL.
    package var extreme: @Sendable (_ isLeast: Bool, SQLText, ValueType) -> SQLText
    /// Returns an aggregate over numbers that are given as SQL, one of those that the engine computes.
    package var number: @Sendable (AggregateFunction, SQLText, ValueType) -> SQLNumberAggregate
    /// Returns the number of variables that a list with a number of values of a type takes.
    package var variables: @Sendable (Int, ValueType) -> Int
    /// The maximum depth of a condition, in symbols that the parser of the engine holds (`SQLSize`).
    package var mostDepth: Int
    /// Whether the engine detects integer overflow in the computation of a new value.
    package var checksOverflow: Bool
    /// Whether a subquery of a statement that changes rows can see rows that the statement has already changed.
    package var seesOwnChanges: Bool
    /// The full-text indexes of the engine; nil where it has none.
    package var fullText: SQLFullText?

    /// Creates a dialect from its differences.
    package init(
        placeholder: @escaping @Sendable (Int, SQLBinding) -> String, typeName: @escaping @Sendable (ValueType) -> String,
        isSame: String, isNotSame: String, match: @escaping @Sendable (SQLText, TextMatch, String) -> SQLText?,
        beginsWith: @escaping @Sendable (SQLText, String) -> SQLText?,
        foldASCII: (@Sendable (SQLText, TextOptions) -> (folded: SQLText, isASCII: SQLText))?,
        isIn: @escaping @Sendable (SQLText, [Value], ValueType) -> SQLText, ascending: String, descending: String, noLimit: String,
        yes: String, no: String, literal: @escaping @Sendable (Value, ValueType) -> String?,
        constant: @escaping @Sendable (Value, ValueType) -> String?, convertsColumn: @escaping @Sendable (ValueType, ValueType) -> String?,
        dropsDefaults: Bool, names: SQLNameRules, tableOptions: String, linkOptions: String,
        indexKey: @escaping @Sendable (String) -> String, comparesExactly: @escaping @Sendable (ValueType, ValueType) -> Bool,
        aggregates: @escaping @Sendable (AggregateFunction, ValueType) -> Bool,
        function: @escaping @Sendable (Function, [SQLArgument], ValueType) -> SQLText?,
        total: @escaping @Sendable (AggregateFunction, SQLArgument) -> SQLText?, failsAlone: Bool, wideType: String?,
        extreme: @escaping @Sendable (Bool, SQLText, ValueType) -> SQLText,
        number: @escaping @Sendable (AggregateFunction, SQLText, ValueType) -> SQLNumberAggregate,
        variables: @escaping @Sendable (Int, ValueType) -> Int, mostDepth: Int, checksOverflow: Bool, seesOwnChanges: Bool,
        fullText: SQLFullText?
    ) {
        self.placeholder = placeholder
        self.typeName = typeName
        self.isSame = isSame
        self.isNotSame = isNotSame
        self.match = match
        self.beginsWith = beginsWith
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
        self.function = function
        self.total = total
        self.failsAlone = failsAlone
        self.wideType = wideType
        self.extreme = extreme
        self.number = number
        self.variables = variables
        self.mostDepth = mostDepth
        self.checksOverflow = checksOverflow
        self.seesOwnChanges = seesOwnChanges
        self.fullText = fullText
    }
}
