internal import Foundation
public import Polystore

/// The values that a query in the form of CoreStore returns: `Select<Int>(.maximum("age"))`, `Select("name", .count("friends"))`.
public struct Select<Result>: Sendable, Hashable {
    /// The values of each row.
    public let selectTerms: [SelectTerm]
}

extension Select where Result: AttributeValue {
    /// Selects a single value.
    public init(_ term: SelectTerm) { selectTerms = [term] }
}

extension Select where Result == [String: Any] {
    /// Selects a dictionary for each row.
    public init(_ first: SelectTerm, _ more: SelectTerm...) { selectTerms = [first] + more }

    /// Selects a dictionary for each row.
    public init(_ terms: [SelectTerm]) { selectTerms = terms }
}
