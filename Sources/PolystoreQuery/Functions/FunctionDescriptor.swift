internal import PolystoreFoundation
internal import PolystoreSchema

/// The arguments, result and computation of a function: everything that the checker, the parser, the printer and the evaluator need.
struct FunctionDescriptor: Sendable {
    /// The number of arguments.
    enum Count: Sendable {
        case exactly(Int)
        case oneOrMore
    }

    /// The kind of arguments that the function accepts.
    enum Kind: Sendable {
        case numbers, wholeNumbers, texts, date
        /// Values of any type, the same for all.
        case alike
    }

    /// The type of the result.
    enum Result: Sendable {
        case text, wholeNumber
        /// The type of the arguments. For numbers of different types it is double if one is a floating-point number, otherwise decimal if
        /// one is a decimal.
        case ofArguments
    }

    /// The names in the text form. The first one is printed.
    let names: [String]
    /// The operator that is printed between two arguments.
    var sign: String?
    let count: Count
    let takes: Kind
    let gives: Result
    /// Whether there are arguments of valid types that have no result.
    var canFail = false
    /// Whether it is computed for nil arguments too. The result of other functions is nil then.
    var takesNil = false
    /// A time zone, which must exist.
    var zone: String?
    /// Options or another constant of the function, which its name does not include, as text.
    var parameter: String?
    /// Returns the whole numbers that the function results in for whole numbers in some ranges; nil if some of these have no result.
    var range: WholeRange.Rule = { _ in .all }
    /// Computes the value for two whole numbers; nil for functions of others.
    var whole: (@Sendable (_ a: Int64, _ b: Int64) throws(QueryError) -> Int64)?
    /// Computes the value for arguments, in the type that the checker determined.
    let value: @Sendable (_ arguments: [Value], _ type: ValueType) throws(QueryError) -> Value
}

extension FunctionDescriptor {
    /// Returns a function of one text.
    static func text(
        _ name: String, gives: Result = .text, parameter: String? = nil, range: ClosedRange<Int64> = .all,
        _ value: @escaping @Sendable (String) -> Value
    ) -> FunctionDescriptor {
        FunctionDescriptor(names: [name], count: .exactly(1), takes: .texts, gives: gives, parameter: parameter, range: { _ in range }) {
            arguments, _ in
            value(arguments[0].text)
        }
    }

    static let concatenation = FunctionDescriptor(names: ["concatenate"], count: .oneOrMore, takes: .texts, gives: .text) { arguments, _ in
        .string(arguments.map(\.text).joined())
    }

    static let firstOfSome = FunctionDescriptor(
        names: ["coalesce"], count: .oneOrMore, takes: .alike, gives: .ofArguments, takesNil: true
    ) { arguments, type in
        (arguments.first { !$0.isNull } ?? .null).number(as: type)
    }

    /// Returns a function for a part of a date.
    static func datePart(_ part: DatePart, _ name: String) -> FunctionDescriptor {
        let zone = ZoneOffsets(name)
        return FunctionDescriptor(
            names: [part.rawValue], count: .exactly(1), takes: .date, gives: .wholeNumber, zone: name, parameter: name,
            // Years of all time zones have at most five digits, all other parts fewer.
            range: { _ in 0...99_999 }
        ) { arguments, _ in
            guard case .date(let microseconds) = arguments[0], let zone else { return .null }
            return .int(Int64(CivilDate(microseconds: microseconds, zone).part(part)))
        }
    }
}

extension String {
    /// The text without leading and trailing white space.
    var trimmed: String {
        var scalars = unicodeScalars[...]
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(scalars)
    }
}

extension Value {
    /// The text of a string value. The checker accepts no other values here.
    fileprivate var text: String { if case .string(let text) = self { text } else { "" } }
}
