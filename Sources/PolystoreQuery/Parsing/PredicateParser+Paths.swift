internal import PolystoreSchema

// Key paths and their objects: inside conditions on related objects, key paths that begin with a variable belong to the related objects.

extension PredicateParser {
    /// A property of the object that a condition is about, level 0, or of an outer object, from level 1 on.
    struct Reference {
        var names: [String]
        let level: Int

        /// `SELF.name` is `name`; a variable alone is the object itself.
        var path: PropertyPath { names.count > 1 && names[0] == "SELF" ? PropertyPath(Array(names.dropFirst())) : PropertyPath(names) }
    }

    /// The level of names without a variable: they belong to the innermost object that has none.
    var plainLevel: Int { (scopes.lastIndex { $0 == nil }).map { scopes.count - 1 - $0 } ?? scopes.count }

    /// Returns the level of a variable of an enclosing condition.
    func level(of variable: String) -> Int? { scopes.lastIndex(of: variable).map { scopes.count - 1 - $0 } }

    mutating func pathOrAggregate(beginning: [String]? = nil) throws(QueryError) -> QueryExpression {
        let start = current.position
        var reference = if let beginning { Reference(names: beginning, level: plainLevel) } else { try firstName() }
        while take(symbol: ".") {
            if case .operation = current.kind { return try aggregate(try own(reference, start), nil) }
            reference.names += try nextNames()
        }
        if isSymbol("["), isWord("SIZE", ahead: 1), isSymbol("]", ahead: 2) {
            position += 3
            return .related(RelatedAggregate(.count, try own(reference, start)))
        }
        return .outer(reference.level, reference.path)
    }

    /// Parses the relationships to the objects of a condition.
    mutating func relationship() throws(QueryError) -> PropertyPath {
        let start = current.position
        var reference = try firstName()
        while isSymbol("."), position + 1 < tokens.count, Self.isName(tokens[position + 1].kind) {
            position += 1
            reference.names += try nextNames()
        }
        return try own(reference, start)
    }

    private static func isName(_ kind: PredicateToken.Kind) -> Bool {
        switch kind {
        case .name, .placeholder("K"): true
        case .operation, .variable, .placeholder, .number, .text, .symbol, .end: false
        }
    }

    /// Returns the path of a reference to the innermost object. Relationships of outer objects are invalid inside a condition.
    private func own(_ reference: Reference, _ start: Int) throws(QueryError) -> PropertyPath {
        if reference.level == 0 { return reference.path }
        let variable = scopes.last.flatMap { $0 }.map { "; begin with $\($0.excerpt()) for a path of the related objects" } ?? ""
        throw QueryError(
            path: reference.path.description,
            "at character \(start): a condition on related objects can refer only to single values of an outer object, not to the objects "
                + "of \(reference.path)\(variable)")
    }

    private mutating func firstName() throws(QueryError) -> Reference {
        switch current.kind {
        case .name(let name, let isQuoted):
            position += 1
            return Reference(names: [!isQuoted && name.uppercased() == "SELF" ? "SELF" : name], level: plainLevel)
        case .variable(let name):
            guard let level = level(of: name) else {
                throw expected(scopes.last.flatMap { $0 }.map { "$\($0.excerpt())" } ?? "a subquery around $\(name.excerpt())")
            }
            position += 1
            return Reference(names: ["SELF"], level: level)
        case .placeholder("K"): return Reference(names: try keyPathArgument(), level: plainLevel)
        case .operation, .placeholder, .number, .text, .symbol, .end: throw expected("a property")
        }
    }

    mutating func nextNames() throws(QueryError) -> [String] {
        if case .placeholder("K") = current.kind { return try keyPathArgument() }
        guard case .name(let name, let isQuoted) = current.kind else { throw expected("a name after the dot") }
        position += 1
        return [!isQuoted && name.uppercased() == "SELF" ? "SELF" : name]
    }

    /// Returns the names that replace `%K`.
    mutating func keyPathArgument() throws(QueryError) -> [String] {
        switch arguments.first {
        case .path(let path)?:
            position += 1
            arguments.removeFirst()
            return path.names
        case .value(.string(let text))?:
            position += 1
            arguments.removeFirst()
            return PropertyPath(text).names
        case .value?, .list?: throw expected("a key path as the argument of %K")
        case nil: throw expected("an argument for the placeholder")
        }
    }

    private static let operations = Dictionary(AggregateFunction.allCases.map { ($0.descriptor.name, $0) }) { first, _ in first }

    /// Returns the aggregate of a name that begins with `@`.
    static func operation(_ name: String) -> AggregateFunction? { operations[name] }

    mutating func aggregate(_ path: PropertyPath, _ condition: QueryPredicate?) throws(QueryError) -> QueryExpression {
        guard case .operation(let name) = current.kind, let function = Self.operations[name] else {
            throw expected("one of \(Self.operations.keys.sorted().map { "@" + $0 }.joined(separator: ", "))")
        }
        position += 1
        var names: [String] = []
        while take(symbol: ".") { names += try nextNames() }
        return .related(RelatedAggregate(function, path, names.isEmpty ? nil : PropertyPath(names), where: condition))
    }
}
