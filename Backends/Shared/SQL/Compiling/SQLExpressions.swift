internal import PolystoreStorage

/// Compilation of expressions and of conditions on related objects, as correlated subqueries.
extension SQLPredicates {
    /// Whether the engine computes an expression as the contract requires. Expressions that can fail are left to the layer above, because
    /// an engine may compute them for rows that another condition excludes.
    func isExact(_ expression: CheckedExpression) -> Bool {
        switch expression {
        case .path, .outer, .value: return true
        case .function(let function, let arguments, let type):
            guard arguments.allSatisfy(isExact), case .exact = call(function, arguments.map { _ in "" }) else { return false }
            // The engine gives the first value in the type that it has.
            return function != .coalesce || arguments.allSatisfy { $0.type == type }
        case .conditional(let condition, let a, let b, let type):
            return isExact(condition) && isExact(a) && isExact(b) && a.type == type && b.type == type
        case .related(let function, let members, let path, _):
            guard isExact(members) else { return false }
            guard let path else { return true }
            return aggregate(function, "", path.type) != nil && tables.dialect.aggregates(function, path.type)
        }
    }

    /// Whether the engine finds related objects as the contract requires.
    func isExact(_ members: CheckedMembers) -> Bool {
        guard case .toMany? = members.hops.last else { return false }
        return isExact(members.predicate)
    }

    /// Whether the engine compares two expressions as the contract requires.
    func comparesExactly(_ a: CheckedExpression, _ b: CheckedExpression) -> Bool {
        a.type == b.type || a.type.isText && b.type.isText || tables.dialect.comparesExactly(a.type, b.type)
    }

    func compile(_ expression: CheckedExpression, _ joins: inout SQLJoins) -> SQLText {
        switch expression {
        case .path(let path): return joins.column(path)
        case .outer(let level, let path): return joins.column(outside: level, path)
        case .value(.null, _): return "NULL"
        case .value(let value, let type): return "\(bind: value, type)"
        case .function(let function, let arguments, _):
            var texts: [SQLText] = []
            for argument in arguments { texts.append(compile(argument, &joins)) }
            switch call(function, texts) {
            case .exact(let text), .inexact(let text): return text
            // No engine is asked for it.
            case .none: return "NULL"
            }
        case .conditional(let condition, let a, let b, _):
            return "CASE WHEN \(compile(condition, &joins)) THEN \(compile(a, &joins)) ELSE \(compile(b, &joins)) END"
        case .related(let function, let members, let path, _):
            return related(members, &joins) { inner in
                guard let path else { return "SELECT count(*)" }
                // No engine is asked for another.
                return "SELECT \(aggregate(function, inner.column(path), path.type) ?? "NULL")"
            }
        }
    }

    /// The support of an engine for a function.
    private enum Call {
        /// A call whose result is that of the contract.
        case exact(SQLText)
        /// A call whose result is that of the contract for some values only: whole numbers that do not overflow, ASCII texts.
        case inexact(SQLText)
        /// No call: the function is computed above the store.
        case none
    }

    private func call(_ function: Function, _ arguments: [SQLText]) -> Call {
        switch function {
        case .length: .exact("length(\(arguments[0]))")
        case .concatenate: .exact("(\(SQLText.joined(arguments, " || ")))")
        // SQLite's takes two arguments or more.
        case .coalesce: .exact(arguments.count == 1 ? arguments[0] : "COALESCE(\(SQLText.joined(arguments, ", ")))")
        case .folded(let options):
            if let text = tables.dialect.fold(arguments[0], options) { .exact(text) } else { .inexact(foldedASCII(arguments[0])) }
        case .add: .inexact("(\(arguments[0]) + \(arguments[1]))")
        case .subtract: .inexact("(\(arguments[0]) - \(arguments[1]))")
        case .multiply: .inexact("(\(arguments[0]) * \(arguments[1]))")
        case .divide, .modulo, .negate, .absolute, .floor, .ceiling, .round, .bitAnd, .bitOr, .uppercase, .lowercase, .trim, .datePart:
            .none
        }
    }

    private func foldedASCII(_ text: SQLText) -> SQLText { tables.dialect.foldASCII?(text).folded ?? text }

    /// The column of an aggregate that an engine computes as one value; nil for one that it does not.
    func aggregate(_ function: AggregateFunction, _ column: SQLText, _ type: ValueType) -> SQLText? {
        switch function {
        case .count: "count(\(column))"
        case .countDistinct: "count(DISTINCT \(column))"
        case .minimum, .maximum: tables.dialect.extreme(function == .minimum, column, type)
        // What can fail is computed only for the rows that are asked for.
        case .sum, .average, .standardDeviation, .sampleStandardDeviation, .median: nil
        }
    }

    /// Whether there is one object or more among related ones.
    func exists(_ members: CheckedMembers, _ joins: inout SQLJoins) -> SQLText {
        "EXISTS \(related(members, &joins) { _ in "SELECT 1" })"
    }

    private func related(_ members: CheckedMembers, _ joins: inout SQLJoins, _ head: (inout SQLJoins) -> SQLText) -> SQLText {
        related(members.hops[...], members, isFirst: true, &joins, head)
    }

    /// Returns a subquery over the destinations of relationships.
    private func related(
        _ hops: ArraySlice<CheckedMembers.Hop>, _ members: CheckedMembers, isFirst: Bool, _ joins: inout SQLJoins,
        _ head: (inout SQLJoins) -> SQLText
    ) -> SQLText {
        var steps: [CheckedPath.Step] = [], rest = hops
        while case .toOne(let step)? = rest.first {
            steps.append(step)
            rest = rest.dropFirst()
        }
        guard case .toMany(let entity, let position, let destination)? = rest.popFirst() else { return "(SELECT 1 WHERE 1 = 0)" }
        let owner = joins.key(steps), place = tables.schema[entity].relationships[position].place
        return joins.subquery(destination, isCondition: isFirst) { inner in
            var parts = [tie(inner, destination, place, owner)]
            let selected = rest.isEmpty ? head(&inner) : "SELECT 1"
            if !rest.isEmpty {
                parts.append("EXISTS \(related(rest, members, isFirst: false, &inner) { _ in "SELECT 1" })")
            } else if members.predicate != .constant(true) {
                parts.append(compile(members.predicate, &inner))
            }
            return "(\(selected) FROM \(inner.text) WHERE \(SQLText.joined(parts, " AND ")))"
        }
    }

    /// Returns the condition that correlates the rows of a subquery with the object that they are related to.
    private func tie(
        _ inner: SQLJoins, _ destination: EntityIndex, _ place: RelationshipDescription.Place, _ owner: SQLText
    ) -> SQLText {
        switch place {
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            return "\(raw: inner.alias).\(identifier: tables.column(destination, slot)) = \(owner)"
        case .link(let link, let side):
            let (own, other) = side == .owner ? ("owner", "member") : ("member", "owner")
            return """
                \(raw: inner.alias)."_id" IN (SELECT \(identifier: other) FROM \(identifier: tables.table(link: link)) \
                WHERE \(identifier: own) = \(owner))
                """
        case .slot: return "\(raw: tables.dialect.no)"
        }
    }
}
