internal import Foundation
internal import Polystore

/// The values that a query in the form of CoreStore returns: `Select<Int>(.maximum("age"))`, `Select("name", .count("friends"))`.
///
/// The parameters are the type of the result, or the class and the type of the result as since CoreStore 5: `Select<Person, Int>(.maximum(\Person.age))`.
/// Rows are `NSDictionary` or `[String: Any]`.
public struct Select<each Parameter>: Sendable, Hashable {
    /// The values of each row.
    public let selectTerms: [SelectTerm]

    /// Selects values by stored names. A query for a single value returns the first one.
    public init(_ first: SelectTerm, _ more: SelectTerm...) { selectTerms = [first] + more }

    /// Selects values by stored names.
    public init(_ terms: [SelectTerm]) { selectTerms = terms }

    /// Selects the identity of each object: `Select<ObjectID<Person>>()`.
    public init() { selectTerms = [.objectID()] }
}
