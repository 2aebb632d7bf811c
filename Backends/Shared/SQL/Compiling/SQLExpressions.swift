internal import PolystoreStorage

/// Compilation of expressions and of conditions on related objects, as correlated subqueries.
extension SQLPredicates {
    /// Whether the engine computes an expression as the contract requires.
    func isExact(_ expression: CheckedExpression) -> Bool {
        switch expression {
        case .path, .outer: return true
        case .value(let value, _): return takes(value)
        case .function(let function, let arguments, let type):
            return arguments.allSatisfy(isExact) && (tables.dialect.failsAlone || !expression.canFail)
                && call(function, arguments, arguments.map { _ in "" }, type) != nil
        case .conditional(let condition, let a, let b, let type):
            return isExact(condition) && isExact(a) && isExact(b) && [a, b].allSatisfy { converted("", $0.type, to: type) != nil }
        case .related(let function, let members, let path, _):
            guard isExact(members), tables.dialect.failsAlone || !expression.canFail else { return false }
            return path.map { aggregate(function, SQLArgument("", $0.type)) != nil } ?? true
        }
    }

    /// Whether the engine computes with a constant. SQLite's functions end a text at U+0000, and PostgreSQL has no such text.
    func takes(_ value: Value) -> Bool { if case .string(let text) = value { !text.utf8.contains(0) } else { true } }

    /// Whether the engine finds related objects as the contract requires.
    func isExact(_ members: CheckedMembers) -> Bool {
        guard case .toMany? = members.hops.last else { return false }
        return isExact(members.predicate)
    }

    /// Whether the engine compares two expressions as the contract requires.
    func comparesExactly(_ a: CheckedExpression, _ b: CheckedExpression) -> Bool {
        a.isNil || b.isNil || a.type == b.type || a.type.isText && b.type.isText || tables.dialect.comparesExactly(a.type, b.type)
    }

    func compile(_ expression: CheckedExpression, _ joins: inout SQLJoins) -> SQLText {
        switch expression {
        case .path(let path): return joins.column(path)
        case .outer(let level, let path): return joins.column(outside: level, path)
        case .value(.null, _): return "NULL"
        case .value(let value, let type): return "\(bind: value, type)"
        case .function(let function, let arguments, let type):
            var texts: [SQLText] = []
            for argument in arguments { texts.append(compile(argument, &joins)) }
            if let call = call(function, arguments, texts, type) { return call }
            // No engine is asked for another function that it does not compute.
            if case .folded(let options) = function { return tables.dialect.foldASCII?(texts[0], options).folded ?? texts[0] }
            return "NULL"
        case .conditional(let condition, let a, let b, let type):
            let test = compile(condition, &joins), sides = [a, b].map { converted(compile($0, &joins), $0.type, to: type) ?? "NULL" }
            return "CASE WHEN \(test) THEN \(sides[0]) ELSE \(sides[1]) END"
        case .related(let function, let members, let path, _):
            return related(members, &joins) { inner in
                guard let path else { return "SELECT count(*)" }
                // No engine is asked for another.
                return "SELECT \(aggregate(function, SQLArgument(inner.column(path), path.type)) ?? "NULL")"
            }
        }
    }

    /// Returns a call of a function whose result is that of the contract, or nil for a function that is computed above the store.
    private func call(_ function: Function, _ arguments: [CheckedExpression], _ texts: [SQLText], _ type: ValueType) -> SQLText? {
        let sql = SQLFunction.of(function)
        if let call = sql.standard?(arguments, texts, type) { return call }
        // Engines compute with whole numbers as the contract requires, except that not all of them report a result of more than 64 bits.
        if type == .int64, let whole = sql.whole, !tables.dialect.failsAlone || function.staysInRange(arguments.map(\.range)) {
            return whole(texts.map { "CAST(\($0) AS \(raw: tables.dialect.typeName(.int64)))" })
        }
        return tables.dialect.function(function, zip(texts, arguments).map { SQLArgument($0, $1.type) }, type)
    }

    /// Returns a number in another type, or nil where the engine does not convert it as the contract requires.
    private func converted(_ text: SQLText, _ type: ValueType, to other: ValueType) -> SQLText? {
        type == other ? text : tables.dialect.function(.coalesce, [SQLArgument(text, type)], other)
    }

    /// Returns an aggregate as one value; nil for one that the engine does not compute so.
    func aggregate(_ function: AggregateFunction, _ argument: SQLArgument) -> SQLText? {
        switch function {
        case .count: "count(\(argument.text))"
        case .countDistinct: "count(DISTINCT \(argument.text))"
        case .minimum, .maximum: tables.dialect.extreme(function == .minimum, argument.text, argument.type)
        case .sum, .average, .standardDeviation, .sampleStandardDeviation, .median: tables.dialect.total(function, argument)
        }
    }

    /// Whether there is one object or more among related ones.
    func exists(_ members: CheckedMembers, _ joins: inout SQLJoins) -> SQLText {
        "EXISTS \(related(members.hops[...], members, isFirst: true, isTest: true, &joins) { _ in "SELECT 1" })"
    }

    private func related(_ members: CheckedMembers, _ joins: inout SQLJoins, _ head: (inout SQLJoins) -> SQLText) -> SQLText {
        related(members.hops[...], members, isFirst: true, isTest: false, &joins, head)
    }

    /// Returns a subquery over the destinations of relationships.
    ///
    /// - Parameter isTest: Whether only the existence of a row matters.
    private func related(
        _ hops: ArraySlice<CheckedMembers.Hop>, _ members: CheckedMembers, isFirst: Bool, isTest: Bool,
        _ joins: inout SQLJoins, _ head: (inout SQLJoins) -> SQLText
    ) -> SQLText {
        var steps: [CheckedPath.Step] = [], rest = hops
        while case .toOne(let step)? = rest.first {
            steps.append(step)
            rest = rest.dropFirst()
        }
        guard case .toMany(let entity, let position, let destination)? = rest.popFirst() else { return "(SELECT 1 WHERE 1 = 0)" }
        let owner = joins.key(steps), place = tables.schema[entity].relationships[position].place
        return joins.subquery(destination, isCondition: isFirst) { inner in
            let (pairs, tie) = tie(inner, destination, place, owner, isTest: isTest || !rest.isEmpty)
            var parts = [tie]
            let selected = rest.isEmpty ? head(&inner) : "SELECT 1"
            if !rest.isEmpty {
                parts.append("EXISTS \(related(rest, members, isFirst: false, isTest: true, &inner) { _ in "SELECT 1" })")
            } else if members.predicate != .constant(true) {
                let condition = compile(members.predicate, &inner)
                // An engine may examine objects before it knows that they are related.
                parts.append(mustKeepOrder(members.predicate) ? inOrder([tie, condition]) : condition)
            }
            return "(\(selected) FROM \(pairs)\(inner.text) WHERE \(SQLText.joined(parts, " AND ")))"
        }
    }

    /// Returns the condition that correlates the rows of a subquery with the object that they are related to, and the table of pairs that it
    /// needs before those of the subquery.
    ///
    /// - Parameter isTest: Whether only the existence of a row matters. The pairs are joined then: PostgreSQL joins a test with the enclosing
    ///   statement, but not one that contains another subquery about an object outside of it, for which it would combine all rows of both.
    ///   Elsewhere a pair that the database of another program contains twice must not count twice.
    private func tie(
        _ inner: SQLJoins, _ destination: EntityIndex, _ place: RelationshipDescription.Place, _ owner: SQLText, isTest: Bool
    ) -> (pairs: SQLText, condition: SQLText) {
        switch place {
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            return ("", "\(raw: inner.alias).\(identifier: tables.column(destination, slot)) = \(owner)")
        case .link(let link, let side):
            let (own, other) = side == .owner ? ("owner", "member") : ("member", "owner")
            let table: SQLText = "\(identifier: tables.table(link: link))"
            if !isTest {
                return (
                    "", "\(raw: inner.alias).\"_id\" IN (SELECT \(identifier: other) FROM \(table) WHERE \(identifier: own) = \(owner))"
                )
            }
            let alias = "\(inner.alias)p"
            return (
                "\(table) AS \(raw: alias), ",
                "\(raw: alias).\(identifier: own) = \(owner) AND \(raw: inner.alias).\"_id\" = \(raw: alias).\(identifier: other)"
            )
        case .slot: return ("", "\(raw: tables.dialect.no)")
        }
    }
}

extension CheckedExpression {
    /// Whether the expression is the constant nil.
    var isNil: Bool { if case .value(.null, _) = self { true } else { false } }
}
