internal import PolystoreStorage

/// Compilation of expressions and of conditions on related objects, as correlated subqueries.
extension SQLPredicates {
    /// Whether the engine computes an expression as the contract requires. Expressions that can fail are left to the layer above, because
    /// an engine may compute them for rows that another condition excludes.
    func isExact(_ expression: CheckedExpression) -> Bool {
        switch expression {
        case .path, .outer, .value: return true
        case .function(let function, let arguments, let type):
            guard arguments.allSatisfy(isExact) else { return false }
            switch function {
            case .length, .concatenate: return true
            case .coalesce: return arguments.allSatisfy { $0.type == type }
            case .folded(let options): return tables.dialect.fold("", options) != nil
            case .add, .subtract, .multiply, .divide, .modulo, .negate, .absolute, .floor, .ceiling, .round, .bitAnd, .bitOr, .uppercase,
                .lowercase, .trim, .datePart:
                return false
            }
        case .conditional(let condition, let a, let b, let type):
            return isExact(condition) && isExact(a) && isExact(b) && a.type == type && b.type == type
        case .related(let function, let members, let path, _):
            guard [.count, .countDistinct, .minimum, .maximum].contains(function), isExact(members) else { return false }
            return path.map { tables.dialect.aggregates(function, $0.type) } ?? true
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
            switch function {
            case .length: return "length(\(texts[0]))"
            case .concatenate: return "(\(SQLText.joined(texts, " || ")))"
            case .folded(let options):
                return tables.dialect.fold(texts[0], options) ?? tables.dialect.foldASCII?(texts[0]).folded ?? texts[0]
            case .add: return "(\(texts[0]) + \(texts[1]))"
            case .subtract: return "(\(texts[0]) - \(texts[1]))"
            case .multiply: return "(\(texts[0]) * \(texts[1]))"
            // SQLite's COALESCE requires at least two arguments.
            default: return texts.count == 1 ? texts[0] : "COALESCE(\(SQLText.joined(texts, ", ")))"
            }
        case .conditional(let condition, let a, let b, _):
            return "CASE WHEN \(compile(condition, &joins)) THEN \(compile(a, &joins)) ELSE \(compile(b, &joins)) END"
        case .related(let function, let members, let path, _):
            return related(members, &joins) { inner in
                guard let path else { return "SELECT count(*)" }
                let column = inner.column(path)
                switch function {
                case .count: return "SELECT count(\(column))"
                case .countDistinct: return "SELECT count(DISTINCT \(column))"
                default: return "SELECT \(tables.dialect.extreme(function == .minimum, column, path.type))"
                }
            }
        }
    }

    /// Returns the condition that at least one related object exists.
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
