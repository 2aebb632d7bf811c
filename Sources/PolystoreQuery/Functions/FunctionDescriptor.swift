internal import Foundation
internal import PolystoreSchema

/// What a function takes, gives and computes: all that the checker, the parser, the printer and the evaluator know of it.
struct FunctionDescriptor: Sendable {
    /// How many arguments there are.
    enum Count: Sendable {
        case exactly(Int)
        case oneOrMore
    }

    /// What the arguments are.
    enum Kind: Sendable {
        case numbers, wholeNumbers, texts, date
        /// Values of any type, the same for all.
        case alike
    }

    /// The type of the value.
    enum Result: Sendable {
        case text, wholeNumber
        /// That of the arguments; of numbers decimal beside whole numbers only, double beside anything.
        case ofArguments
    }

    /// The names in the text form; it is printed with the first.
    let names: [String]
    /// The sign between two arguments, with which it is printed.
    var sign: String?
    let count: Count
    let takes: Kind
    let gives: Result
    /// Whether there are arguments of the right types for which there is no value.
    var canFail = false
    /// Whether it is computed of nil too; other functions are nil then.
    var takesNil = false
    /// A time zone that must exist.
    var zone: String?
    /// Its value for arguments, in the type that was found for it.
    let value: @Sendable (_ arguments: [Value], _ type: ValueType) throws(QueryError) -> Value
}

extension FunctionDescriptor {
    /// A function of one text.
    static func text(
        _ name: String, gives: Result = .text, _ value: @escaping @Sendable (String) -> Value
    ) -> FunctionDescriptor {
        FunctionDescriptor(names: [name], count: .exactly(1), takes: .texts, gives: gives) { arguments, _ in value(arguments[0].text) }
    }

    static let concatenation = FunctionDescriptor(names: ["concatenate"], count: .oneOrMore, takes: .texts, gives: .text) { arguments, _ in
        .string(arguments.map(\.text).joined())
    }

    static let firstOfSome = FunctionDescriptor(
        names: ["coalesce"], count: .oneOrMore, takes: .alike, gives: .ofArguments, takesNil: true
    ) { arguments, type in
        (arguments.first { !$0.isNull } ?? .null).number(as: type)
    }

    /// A part of a date in a time zone.
    static func datePart(_ part: DatePart, _ name: String) -> FunctionDescriptor {
        let zone = TimeZone(identifier: name)
        return FunctionDescriptor(
            names: [part.rawValue], count: .exactly(1), takes: .date, gives: .wholeNumber, zone: name
        ) { arguments, _ in
            guard case .date(let microseconds) = arguments[0], let zone else { return .null }
            return .int(Int64(CivilDate(microseconds: microseconds, zone).part(part)))
        }
    }
}

extension String {
    /// The text without white space at its ends.
    var trimmed: String {
        var scalars = unicodeScalars[...]
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(scalars)
    }
}

extension Value {
    /// The text of a text; the checker lets nothing else come here.
    fileprivate var text: String { if case .string(let text) = self { text } else { "" } }
}
