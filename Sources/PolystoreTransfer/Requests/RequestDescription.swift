package import PolystoreStorage

/// A request for objects or for values, with its parts as texts: what the options of `polystore query` and a request in JSON say.
package struct RequestDescription: Sendable, Hashable {
    /// The members of the JSON form.
    package enum Member: String, Sendable, CaseIterable {
        case entity, `where`, arguments, orderBy, limit, offset, select, groupBy, having, distinct, count, sum, average, minimum, maximum
        case prefetch
    }

    /// Returns the name of a part in messages.
    package typealias Naming = (Member) -> String

    /// The name of the entity.
    package var entity: String
    /// The condition that objects must satisfy.
    package var condition: String?
    /// The values of the variables of all texts.
    package var arguments: [String: PredicateArgument] = [:]
    /// The terms of the order. A minus sign before a term sorts in descending order.
    package var order: [String] = []
    /// The maximum number of rows.
    package var limit: Int?
    /// The number of rows to skip.
    package var offset: Int?
    /// The values of each row; nil for a request for objects or for aggregates over all of them.
    package var outputs: [String]?
    /// The values by which objects are grouped.
    package var groupKeys: [String]?
    /// The condition that groups must satisfy.
    package var groupCondition: String?
    /// Whether equal rows of values are one.
    package var isDistinct = false
    /// Whether the number of objects is requested.
    package var isCount = false
    /// The properties of aggregates over all objects.
    package var aggregates: [Member: String] = [:]
    /// The relationships whose objects are part of the answer.
    package var prefetched: [String] = []

    /// Creates a request for all objects of an entity.
    package init(_ entity: String) { self.entity = entity }

    /// Returns the name of a member in quotes.
    package static func quoted(_ member: Member) -> String { "\"\(member.rawValue)\"" }

    private static let functions: [(member: Member, function: AggregateFunction)] = [
        (.sum, .sum), (.average, .average), (.minimum, .minimum), (.maximum, .maximum),
    ]

    /// The members of aggregates over all objects.
    package static var aggregateMembers: [Member] { functions.map(\.member) }

    /// The aggregates over all objects, in the order of the answer.
    private var allAggregates: [(member: Member, aggregate: Aggregate)] {
        (isCount ? [(.count, Aggregate(.count))] : [])
            + Self.functions.compactMap { member, function in aggregates[member].map { (member, Aggregate(function, PropertyPath($0))) } }
    }

    /// Whether the answer is a single value without a name.
    package var isSingleValue: Bool { allAggregates.count == 1 }

    /// Returns which parts exclude each other, as a sentence; nil if none do.
    package func contradiction(_ name: Naming = Self.quoted) -> String? {
        let ofValues: Member? = isDistinct ? .distinct : groupKeys != nil ? .groupBy : groupCondition != nil ? .having : nil
        if outputs == nil, let ofValues { return "\(name(ofValues)) needs \(name(.select))" }
        if !prefetched.isEmpty, outputs != nil || !allAggregates.isEmpty {
            return "\(name(.prefetch)) is for objects, not for values"
        }
        guard let first = allAggregates.first?.member else { return nil }
        if outputs == nil, limit == nil, offset == nil, order.isEmpty { return nil }
        return "\(name(first)) prints one row over all objects and cannot be combined with \(name(.select)), \(name(.orderBy)), "
            + "\(name(.limit)) or \(name(.offset))"
    }

    /// Returns the request for the objects.
    ///
    /// - Throws: `invalidPredicate`, which names the part.
    package func objectRequest(_ name: Naming = Self.quoted) throws(StorageError) -> ObjectRequest {
        let terms = try parsed(order, name(.orderBy), SelectList.orderTerm) { term, values throws(QueryError) in
            OrderTerm(try term.expression.substituting(values), ascending: term.ascending)
        }
        return ObjectRequest(
            entity, where: try predicate(condition, name(.where)), orderBy: terms, limit: limit, offset: offset ?? 0)
    }

    /// Returns the request for values; nil if objects are requested.
    ///
    /// - Throws: `invalidPredicate`, which names the part.
    package func valueRequest(_ name: Naming = Self.quoted) throws(StorageError) -> QueryRequest? {
        let fetch = try objectRequest(name)
        if !allAggregates.isEmpty { return QueryRequest(fetch, outputs: allAggregates.map { .aggregate($0.aggregate) }) }
        guard let outputs else { return nil }
        let values = try parsed(outputs, name(.select), SelectList.output) { output, values throws(QueryError) in
            QueryOutput(try output.expression.substituting(values), as: output.alias)
        }
        let keys = try parsed(groupKeys ?? [], name(.groupBy), Self.expression) { key, values throws(QueryError) in
            try key.substituting(values)
        }
        return QueryRequest(
            fetch, outputs: values, groupBy: keys, having: try predicate(groupCondition, name(.having)), isDistinct: isDistinct)
    }

    private static func expression(_ text: String) throws(QueryError) -> QueryExpression { try QueryExpression(parsing: text) }

    private static func predicate(_ text: String) throws(QueryError) -> QueryPredicate { try QueryPredicate(parsing: text) }

    private func predicate(_ text: String?, _ name: String) throws(StorageError) -> QueryPredicate? {
        guard let text else { return nil }
        return try parsed([text], name, Self.predicate) { condition, values throws(QueryError) in try condition.substituting(values) }.first
    }

    /// Parses the texts of a part, and puts the arguments in the places of their variables. An error names the part and its texts.
    private func parsed<R>(
        _ texts: [String], _ name: String, _ parse: (String) throws(QueryError) -> R,
        _ substitute: (R, [String: PredicateArgument]) throws(QueryError) -> R
    ) throws(StorageError) -> [R] {
        do throws(QueryError) {
            var results: [R] = []
            for text in texts {
                let parsed = try parse(text)
                results.append(arguments.isEmpty ? parsed : try substitute(parsed, arguments))
            }
            return results
        } catch {
            let error = StorageError(error), text = texts.joined(separator: ",").excerpt()
            throw StorageError(error.code, "\(name) '\(text)': \(error.message)", details: error.details, cause: error)
        }
    }
}
