internal import Foundation
internal import PolystoreStorage

/// The facts of group P about expressions, options of texts, and related objects.
enum PredicateFacts {
    typealias Fact = PredicateCases.Fact

    static let all = patterns + options + functions + related + outside

    /// Returns a fact about a predicate in text form. In the joined form each key path begins at the holder, which is done in the parsed
    /// tree.
    private static func fact(_ id: String, _ keys: [Int64], ofNil: Bool = false, _ text: String) -> Fact {
        Fact(id, keys, ofNil: ofNil) { prefix in
            let predicate = try QueryPredicate(parsing: text)
            return prefix.isEmpty ? predicate : predicate.changingPaths { PropertyPath(prefix + $0.description) }
        }
    }

    private static let patterns = [
        fact("P018.like-in-the-middle", [1, 8], "text LIKE 'a*e'"),
        fact("P018.like-one-character", [1], "text LIKE '*pp?e'"),
        fact("P018.one-character-is-one-scalar", [6], "text LIKE 'caf?'"),
        fact("P018.percent-is-no-wildcard", [5], "text LIKE '50%_*'"),
        fact("P018.escapes", [5], "text LIKE '50%\\\\_off\\\\\\\\x'"),
        fact("P018.star-alone-is-not-nil", [1, 2, 4, 5, 6, 7, 8], "text LIKE '*'"),
        fact("P018.no-wildcard-is-equality", [4], "text LIKE ''"),
        fact("P018.ends-in-an-escape", [], "text LIKE 'apple\\\\'"),
        fact("P025.regular-expression", [1], "text MATCHES '[a-z]+'"),
        fact("P025.anything", [1, 2, 4, 5, 6, 7, 8], "text MATCHES '.*'"),
        fact("P025.alternation", [1, 2], "text MATCHES '(apple|Ban(an)?a.*)'"),
    ]

    private static let options = [
        fact("P020.equal-without-case", [1], "text ==[c] 'APPLE'"),
        fact("P020.not-equal-without-case", [1, 3, 4, 5, 6, 7, 8], ofNil: true, "text !=[c] 'banana'"),
        fact("P020.begins-with-without-case", [2], "text BEGINSWITH[c] 'b'"),
        fact("P020.in-without-case", [2, 8], "text IN[c] {'APPLE PIE', 'bANANA'}"),
        fact("P020.like-without-case", [1, 8], "text LIKE[c] 'A*E'"),
        fact("P020.matches-without-case", [1, 2, 6, 7, 8], "text MATCHES[c] '[A-C].*'"),
        fact("P020.order-without-case", [1, 4, 5, 8], "text <[c] 'BANANA'"),
        fact("P021.contains-without-diacritics", [6, 7], "text CONTAINS[d] 'cafe'"),
        fact("P021.the-needle-is-folded-too", [6, 7], "text ENDSWITH[d] 'f\u{e9}'"),
        fact("P022.without-both", [6, 7], "text ==[cd] 'CAFE'"),
    ]

    private static let functions = [
        fact("P026.product", [1, 2, 4, 5, 6, 7, 8], "number * 0 == 0"),
        fact("P026.double", [1, 5, 6, 8], "real * 2 > 2"),
        fact("P026.decimal", [1, 2], "price * 2 == DECIMAL '2.2'"),
        fact("P026.decimal-and-int", [1], "price + number == DECIMAL '2.1'"),
        fact("P027.division-towards-zero", [2, 5], "number / 2 == 1"),
        fact("P027.division-of-a-negative", [4], "number / 2 == -3"),
        fact("P027.modulo", [1, 6, 8], "modulus(number, 2) == 1"),
        fact("P027.modulo-has-the-sign-of-the-dividend", [4], "modulus(number, 4) == -3"),
        fact("P028.bits", [1, 4, 6, 8], "(number & 1) == 1"),
        fact("P026.floor", [1], "floor(real) == 1"),
        fact("P026.ceiling", [3], "ceiling(real) == -2"),
        fact("P026.round-away-from-zero", [8], "round(real) == 3"),
        fact("P029.length-in-scalars", [1, 7], "length(text) == 5"),
        fact("P029.length-of-nothing", [4], "length(text) == 0"),
        fact("P029.uppercase", [1], "uppercase(text) == 'APPLE'"),
        fact("P029.lowercase", [2], "lowercase(text) == 'banana'"),
        fact("P029.concatenate", [1], "concatenate(text, '!') == 'apple!'"),
        fact("P029.trim", [8], "trim(concatenate(' ', text, ' ')) == 'apple pie'"),
        fact("P029.coalesce", [3], ofNil: true, "coalesce(text, 'none') == 'none'"),
        fact("P029.of-nil-is-nil", [3], ofNil: true, "uppercase(text) == NIL"),
        fact("P026.conditional", [1], "TERNARY(flag == TRUE, number, 0) == 1"),
        fact("P026.in-a-list", [2, 5], "number / 2 IN {1, 7}"),
        fact("P037.two-expressions", [1, 8], "length(text) > 4 AND length(text) < length(concatenate(text, 'x')) AND text BEGINSWITH 'a'"),
    ]

    private static let related = [
        fact("P032.any", [1, 2], "ANY children.number == 2"),
        fact("P032.all-of-nothing-is-true", [2, 3, 4, 5, 6, 7, 8], ofNil: true, "ALL children.number > 0"),
        fact("P032.none", [2, 3, 4, 5, 6, 7, 8], ofNil: true, "NONE children.number == NIL"),
        fact("P032.any-over-links", [1, 8], "ANY tags.name == 'red'"),
        fact("P032.any-nil-over-links", [4], "ANY tags.name == NIL"),
        fact("P032.none-over-links", [3, 4, 5, 6, 7, 8], ofNil: true, "NONE tags.name == 'blue'"),
        fact("P032.any-of-two-levels", [1], "ANY children.children.number == 2"),
        fact("P032.to-one-behind-to-many", [1], "ANY children.parent.flag == TRUE"),
        // The things 1 and 8 have no parent; the parent of 2 and 4 is 1.
        fact("P032.nil-to-one-behind-to-many", [1, 2, 8], "ANY tags.things.parent.flag == NIL"),
        fact("P032.nil-to-one-behind-to-many-differs", [1, 2, 8], "ANY tags.things.parent.flag != TRUE"),
        fact("P032.nil-to-one-behind-to-many-in-a-list", [1, 2, 8], "ANY tags.things.parent.flag IN {NIL, FALSE}"),
        fact("P032.nil-to-one-behind-to-many-none", [3, 4, 5, 6, 7], ofNil: true, "NONE tags.things.parent.flag == NIL"),
        fact("P032.nil-to-one-behind-to-many-all", [3, 4, 5, 6, 7], ofNil: true, "ALL tags.things.parent.flag == TRUE"),
        fact("P032.nil-to-one-behind-to-many-itself", [1, 2, 8], "ANY tags.things.parent == NIL"),
        fact("P032.nil-to-one-in-a-condition", [1, 2, 8], "ANY tags SATISFIES (ANY things SATISFIES (parent.flag == NIL))"),
        fact("P032.in-a-list-of-three-levels", [3, 5, 6, 7], ofNil: true, "ALL SELF IN tags.things.children"),
        fact(
            "P032.within-another-of-the-same-beginning", [1],
            "ANY children.number > TERNARY(ANY children.children.number > 1, 1, 9007199254740994)"),
        // The objects of the path are the parents, which exist.
        fact("P032.objects-of-a-to-one-behind-to-many", [], "ANY tags.things.parent SATISFIES (flag == NIL)"),
        fact("P032.nested", [1], "ANY children SATISFIES (ANY tags.name == 'blue')"),
        fact("P032.two-relationships", [1, 8], "ANY tags.things.text == 'apple pie'"),
        fact("P034.object-among-related", [1], "ANY children == 3"),
        fact("P033.count", [1, 2], "children.@count > 1"),
        fact("P033.count-of-nothing", [3, 4, 5, 6, 7, 8], ofNil: true, "children.@count == 0"),
        fact("P033.count-over-links", [2, 4, 8], "tags.@count == 1"),
        fact("P033.any-twice-is-not-one-element", [1], "ANY children.number == 2 AND ANY children.flag == TRUE"),
        fact("P033.subquery-is-one-element", [], "SUBQUERY(children, $x, $x.number == 2 AND $x.flag == TRUE).@count > 0"),
        fact("P033.subquery", [1], "SUBQUERY(children, $x, $x.number == 2 AND $x.flag == FALSE).@count == 1"),
        fact("P033.subquery-over-links", [1, 2], "SUBQUERY(tags, $x, $x.name BEGINSWITH 'b').@count == 1"),
        fact("P033.maximum", [2], "children.@max.number > 100"),
        fact("P033.minimum", [1], "children.@min.number < 0"),
        fact("P033.minimum-of-nothing-is-nil", [3, 4, 5, 6, 7, 8], ofNil: true, "children.@min.number == NIL"),
        fact("P033.sum", [1], "children.@sum.number == -5"),
        fact("P033.average", [1], "children.@avg.number == -2.5"),
        fact("P033.distinct", [1], "tags.@distinctCount.name == 2"),
        fact("P033.maximum-of-some", [1], "SUBQUERY(children, $x, $x.flag != NIL).@max.number == 2"),
        fact("P033.compared-with-a-property", [2], "children.@max.number > number AND number == 2"),
    ]

    /// Conditions on related objects that read the outer object.
    private static let outside = [
        fact("P033.outside-in-any", [2], "ANY children.number == number"),
        fact("P033.outside-in-all", [2, 3, 4, 5, 6, 7, 8], ofNil: true, "ALL children.number >= number"),
        fact("P033.outside-in-a-subquery", [1, 2], "SUBQUERY(children, $x, $x.number > number).@count == 1"),
        fact("P033.outside-in-a-maximum", [1], "SUBQUERY(children, $x, $x.number > number).@max.number == 2"),
        fact("P033.outside-of-another-type", [1], "SUBQUERY(children, $x, $x.price < real).@count == 2"),
        fact("P033.outside-behind-a-to-one", [1], "SUBQUERY(children, $x, $x.flag == parent.flag).@count > 0"),
        fact("P033.outside-alone-in-a-list", [2], "SUBQUERY(children, $x, number IN {2, 3}).@count == 2"),
        fact("P033.outside-alone-as-a-text", [1], "SUBQUERY(children, $x, text BEGINSWITH 'a').@count == 3"),
        fact("P033.outside-alone-as-nil", [2], "SUBQUERY(children, $x, real == NIL).@count == 2"),
        fact("P033.outside-computed", [1], "SUBQUERY(children, $x, $x.number == number + 1).@count == 1"),
        fact(
            "P033.outside-by-two-levels", [1],
            "SUBQUERY(children, $x, SUBQUERY($x.children, $y, $y.number > number AND $y.number == $x.number).@count > 0).@count > 0"),
        fact(
            "P033.outside-itself-over-links", [1, 2, 8],
            "SUBQUERY(tags, $x, SUBQUERY($x.things, $y, $y != SELF).@count > 0).@count > 0"),
        fact(
            "P033.outside-behind-a-to-many", [2],
            "ANY children.parent SATISFIES $p (SUBQUERY($p.tags, $t, $t.name == 'blue' AND $p.number == 2).@count > 0)"),
        fact("P033.outside-among-related", [2], "parent IN tags.things"),
    ]
}

extension QueryPredicate {
    /// Returns the predicate with other key paths of its own object, including those inside of conditions on related objects.
    func changingPaths(_ depth: Int = 0, _ change: (PropertyPath) -> PropertyPath) -> QueryPredicate {
        func own(_ expression: QueryExpression) -> QueryExpression { expression.changingPaths(depth, change) }
        return switch node {
        case .constant, .isEntity: self
        case .compare(let a, let comparison, let b): .compare(own(a), comparison, own(b))
        case .isIn(let expression, let values): .isIn(own(expression), values)
        case .between(let a, let low, let high): .between(own(a), own(low), own(high))
        case .text(let expression, let match, let needle): .text(own(expression), match, needle)
        case .open(let expression, let test, let name): .open(own(expression), test, name)
        case .related(let quantifier, let path, let inner):
            .related(quantifier, depth == 0 ? change(path) : path, inner.changingPaths(depth + 1, change))
        case .quantified(let quantifier, let inner): .quantified(quantifier, inner.changingPaths(depth, change))
        case .and(let parts): .and(parts.map { $0.changingPaths(depth, change) })
        case .or(let parts): .or(parts.map { $0.changingPaths(depth, change) })
        case .not(let part): .not(part.changingPaths(depth, change))
        }
    }
}

extension QueryExpression {
    fileprivate func changingPaths(_ depth: Int, _ change: (PropertyPath) -> PropertyPath) -> QueryExpression {
        switch node {
        case .path(let path): return depth == 0 ? .path(change(path)) : self
        case .outer(let level, let path): return level == depth ? .outer(level, change(path)) : self
        case .value, .variable, .aggregate: return self
        case .function(let function, let arguments): return .function(function, arguments.map { $0.changingPaths(depth, change) })
        case .conditional(let condition, let a, let b):
            return .conditional(
                condition.changingPaths(depth, change), a.changingPaths(depth, change), b.changingPaths(depth, change))
        case .related(var aggregate):
            if depth == 0 { aggregate.relationship = change(aggregate.relationship) }
            aggregate.predicate = aggregate.predicate?.changingPaths(depth + 1, change)
            return .related(aggregate)
        }
    }
}
