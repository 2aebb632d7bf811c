internal import Foundation
public import Polystore

/// The values that a query in the form of CoreStore returns: `Select<Int>(.maximum("age"))`, `Select("name", .count("friends"))`.
public struct Select<Result>: Sendable {
    let terms: [SelectTerm]
}

extension Select where Result: AttributeValue {
    /// Selects a single value.
    public init(_ term: SelectTerm) { terms = [term] }
}

extension Select where Result == [String: Any] {
    /// Selects a dictionary for each row.
    public init(_ first: SelectTerm, _ more: SelectTerm...) { terms = [first] + more }
}
