internal import Foundation
internal import PolystoreStorage

/// Cases with random requests, answered by the store and by the reference. The message of a difference contains the seed.
enum RandomCases {
    /// The seed, which the runner can set.
    nonisolated(unsafe) static var seed: UInt64 = 20_260_101

    static let all: [ConformanceCase] = [
        ConformanceCase("P048.random-predicates", clause: "N2, Q13") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed)
                let reference = try random.reference(scratch)
                for number in 0..<(IsolationCases.isThorough ? 100_000 : 300) {
                    let request = random.fetch()
                    check.equal(try scratch.keys(request), reference.keys(request), "seed \(seed), request \(number): \(request)")
                    if check.failures.isEmpty { continue }
                    // The smallest request that still differs shows the cause.
                    let small = try Shrinking.smallest(request) { try scratch.keys($0) != reference.keys($0) }
                    return check.equal(try scratch.keys(small), reference.keys(small), "shrunk: \(small)")
                }
            }
        },
        // Foundation's regular expressions are another implementation; the folded forms are compared with those of rows read one by one.
        ConformanceCase("P025.random-patterns", clause: "T1") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed &+ 6)
                let reference = try random.reference(scratch)
                for number in 0..<(IsolationCases.isThorough ? 50_000 : 200) {
                    let pattern = random.pattern(), text = QueryExpression.path("text")
                    let request = ObjectRequest("Thing", where: .text(text, .matches, pattern))
                    check.equal(try scratch.keys(request), reference.keys(request), "seed \(seed), pattern \(number): \(pattern)")
                    let options: TextOptions = number % 2 == 0 ? .caseInsensitive : .caseAndDiacriticInsensitive
                    let folded = QueryPredicate.text(text.folded(options), .matches, pattern)
                    let flag = QueryExpression.conditional(folded, .value(.int(1)), .value(.int(0)))
                    let values = try scratch.query(QueryRequest(ObjectRequest("Thing"), outputs: [QueryOutput(flag, as: "matches")]))
                    let found = try scratch.keys(ObjectRequest("Thing", where: folded)).count
                    check.equal(found, values.count { $0 == [.int(1)] }, "seed \(seed), folded pattern \(number): \(pattern)")
                    if !check.failures.isEmpty { return }
                }
            }
        },
        ConformanceCase("P004.partition-law", clause: "N2") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed &+ 2)
                let everything = try random.reference(scratch).keys(ObjectRequest("Thing"))
                for number in 0..<(IsolationCases.isThorough ? 10_000 : 100) {
                    let predicate = random.predicate()
                    let holds = try scratch.keys(ObjectRequest("Thing", where: predicate))
                    let not = try scratch.keys(ObjectRequest("Thing", where: .not(predicate)))
                    check.equal((holds + not).sorted(), everything, "seed \(seed), predicate \(number): \(predicate)")
                    if !check.failures.isEmpty { return }
                }
            }
        },
        // NoREC (Rigger and Su, "Detecting optimization bugs in database engines via non-optimizing reference engine construction", 2020):
        // the number of objects that a condition finds, by whatever plan, equals the number for which it is true when it is computed for
        // each object.
        ConformanceCase("P049.non-optimised-count", clause: "N2") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed &+ 3)
                _ = try random.reference(scratch)
                for number in 0..<(IsolationCases.isThorough ? 10_000 : 100) {
                    let predicate = random.predicate()
                    let found = try scratch.keys(ObjectRequest("Thing", where: predicate)).count
                    let flag = QueryExpression.conditional(predicate, .value(.int(1)), .value(.int(0)))
                    let values = try scratch.query(QueryRequest(ObjectRequest("Thing"), outputs: [QueryOutput(flag, as: "holds")]))
                    let counted = values.count { $0 == [.int(1)] }
                    check.equal(found, counted, "seed \(seed), predicate \(number): \(predicate)")
                    if !check.failures.isEmpty { return }
                }
            }
        },
        // Pivoted query synthesis (Rigger and Su, "Testing database engines via pivoted query synthesis", 2020): a condition that is true
        // of one chosen object must find it.
        ConformanceCase("P050.pivot", clause: "N2") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed &+ 4)
                let reference = try random.reference(scratch)
                let things = reference.rows.filter { $0.entity == "Thing" }
                for number in 0..<(IsolationCases.isThorough ? 10_000 : 100) {
                    let pivot = things[number % things.count], predicate = random.predicate()
                    let rectified = reference.holds(predicate, pivot) ? predicate : .not(predicate)
                    let keys = try scratch.keys(ObjectRequest("Thing", where: rectified))
                    check.isTrue(keys.contains(pivot.key), "seed \(seed), predicate \(number) finds \(pivot.key): \(rectified)")
                    if !check.failures.isEmpty { return }
                }
            }
        },
        ConformanceCase("A020.random-aggregates", clause: "Q13") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed &+ 1)
                let reference = try random.reference(scratch)
                for number in 0..<(IsolationCases.isThorough ? 10_000 : 200) {
                    let (function, path, predicate) = random.aggregate()
                    guard let expected = reference.aggregate(function, path, ObjectRequest("Thing", where: predicate)) else { continue }
                    let found = try scratch.aggregate("Thing", function, path?.description, where: predicate)
                    check.isTrue(
                        AggregateCases.near(found, expected),
                        "seed \(seed), aggregate \(number): \(function) of \(path?.description ?? "objects") where \(predicate): "
                            + "\(expected), found \(found)")
                    if !check.failures.isEmpty { return }
                }
            }
        },
        ConformanceCase("A020.random-groups", clause: "Q13") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed &+ 5)
                let reference = try random.reference(scratch)
                for number in 0..<(IsolationCases.isThorough ? 10_000 : 100) {
                    let request = random.groups()
                    guard let expected = reference.groups(request) else { continue }
                    let found = try scratch.query(request)
                    let isEqual =
                        found.count == expected.count
                        && zip(found, expected).allSatisfy { row, wanted in zip(row, wanted).allSatisfy { AggregateCases.near($0, $1) } }
                    check.isTrue(isEqual, "seed \(seed), groups \(number): \(request): \(expected), found \(found)")
                    if !check.failures.isEmpty { return }
                }
            }
        },
    ]
}

/// A reduction of requests that show a difference, to a smaller request that still shows it.
enum Shrinking {
    static func smallest(_ request: ObjectRequest, _ differs: (ObjectRequest) throws -> Bool) throws -> ObjectRequest {
        var best = request, isSmaller = true
        while isSmaller {
            isSmaller = false
            for candidate in candidates(best) where try differs(candidate) {
                best = candidate
                isSmaller = true
                break
            }
        }
        return best
    }

    private static func candidates(_ request: ObjectRequest) -> [ObjectRequest] {
        var result: [ObjectRequest] = []
        func add(_ change: (inout ObjectRequest) -> Void) {
            var copy = request
            change(&copy)
            if copy != request { result.append(copy) }
        }
        add { $0.order = [] }
        add { $0.limit = nil }
        add { $0.offset = 0 }
        add { $0.predicate = nil }
        for part in request.predicate.map(parts) ?? [] { add { $0.predicate = part } }
        return result
    }

    /// Returns predicates with fewer parts.
    static func parts(_ predicate: QueryPredicate) -> [QueryPredicate] {
        switch predicate.node {
        case .not(let part): [part] + parts(part).map { .not($0) }
        case .and(let list): list + without(list).map { .and($0) } + deeper(list).map { .and($0) }
        case .or(let list): list + without(list).map { .or($0) } + deeper(list).map { .or($0) }
        case .related(let quantifier, let path, let inner): parts(inner).map { .related(quantifier, path, $0) }
        case .quantified(let quantifier, let inner): parts(inner).map { .quantified(quantifier, $0) }
        case .isIn(let expression, let values) where values.count > 1: values.map { .isIn(expression, [$0]) }
        case .constant, .compare, .isIn, .between, .text, .open, .isEntity: []
        }
    }

    private static func without(_ list: [QueryPredicate]) -> [[QueryPredicate]] {
        list.indices.map { index in list.enumerated().filter { $0.offset != index }.map(\.element) }
    }

    private static func deeper(_ list: [QueryPredicate]) -> [[QueryPredicate]] {
        list.indices.flatMap { index in
            parts(list[index]).map { part in
                var copy = list
                copy[index] = part
                return copy
            }
        }
    }
}

/// A generator of random rows and requests over the fixture's things.
struct RandomRequests {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    private mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

    private static let texts = ["", "a", "ab", "b", "B", "aé", "ae\u{301}", "%", "_", "a\\b", "😀", "zz"]
    private static let paths = ["number", "real", "price", "text", "flag", "parent.number", "parent.text", "parent.parent.real"]

    private mutating func value(_ name: String) -> Value {
        switch name {
        case "number": .int(pick([0, 1, -1, 2, 7, -7, 100, 9_007_199_254_740_993, .max / 4, .min / 4]))
        case "real": .double(pick([0, 1, -1, 0.5, 2.5, -2.5, 1e10, 9_007_199_254_740_992, 0.1]))
        case "price": .decimal(Decimal(string: pick(["0", "1", "-1", "0.1", "2.50", "100", "-7.25"])) ?? 0)
        case "flag": .bool(below(2) == 0)
        default: .string(pick(Self.texts))
        }
    }

    mutating func rows(_ count: Int) -> [Row] {
        (1...count).map { key in
            var values: [String: Value] = [:]
            for name in ["number", "real", "price", "text", "flag"] where below(4) > 0 { values[name] = value(name) }
            if below(3) > 0 { values["parent"] = .int(Int64(1 + below(count))) }
            return Row(key: Int64(key), entity: "Thing", version: 1, values: values)
        }
    }

    /// Returns a reference with random rows, after loading them into a store as well.
    mutating func reference(_ scratch: Scratch) throws -> ReferenceStore {
        let reference = ReferenceStore(rows: rows(60))
        try scratch.load("Thing", reference.rows.map { ($0.key, $0.values) })
        return reference
    }

    /// Returns a computed value of an object that never causes an error: numbers are at most a quarter of the greatest.
    private mutating func number() -> QueryExpression {
        let path = QueryExpression.path(PropertyPath(pick(["number", "parent.number"])))
        switch below(9) {
        case 0: return .function(.modulo, [path, .value(.int(Int64(1 + below(5))))])
        case 1: return .function(.divide, [path, .value(.int(pick([-3, 2, 7])))])
        case 2: return .function(pick([.add, .subtract]), [path, .path("number")])
        case 3: return .function(.length, [.path(PropertyPath(pick(["text", "parent.text"])))])
        case 4: return .related(RelatedAggregate(.count, PropertyPath(pick(["children", "parent.children"]))))
        case 5:
            return .related(
                RelatedAggregate(pick([.minimum, .maximum]), "children", "number", where: below(2) == 0 ? predicate(depth: 0) : nil))
        case 6: return .function(.coalesce, [path, .value(.int(Int64(below(3))))])
        case 7: return .conditional(predicate(depth: 0), path, .value(.int(1)))
        default: return .related(RelatedAggregate(.count, "children", where: predicate(depth: 0)))
        }
    }

    private mutating func computed(_ depth: Int) -> QueryPredicate {
        switch below(4) {
        case 0:
            let inner = predicate(depth: depth - 1), path = PropertyPath(pick(["children", "parent.children", "children.children"]))
            // The condition also compares the related objects with the outer object.
            let outside = PropertyPath(pick(["number", "parent.number"]))
            let compared = QueryPredicate.compare(number(), pick(Comparison.allCases), .outer(1, outside))
            return .related(pick(Quantifier.allCases), path, pick([inner, .and([inner, compared]), .or([compared, inner])]))
        case 1: return .compare(number(), pick(Comparison.allCases), .value(.int(Int64(below(7)) - 2)))
        case 2: return .compare(number(), pick(Comparison.allCases), number())
        default: return .isIn(number(), [.int(0), .int(1), below(2) == 0 ? .null : .int(2)])
        }
    }

    mutating func predicate(depth: Int = 3) -> QueryPredicate {
        let path = pick(Self.paths), name = path.split(separator: ".").last.map(String.init) ?? path
        if depth > 0, below(4) == 0 { return computed(depth) }
        switch below(depth > 0 ? 9 : 5) {
        case 0, 1: return .compare(.path(PropertyPath(path)), comparison(name), .value(constant(name)))
        case 2: return .compare(.path(PropertyPath(path)), below(2) == 0 ? .equal : .notEqual, .value(.null))
        case 3: return .isIn(.path(PropertyPath(path)), (0..<below(4)).map { _ in below(5) == 0 ? .null : value(name) })
        case 4:
            return name == "text" ? text(path) : .between(.path(PropertyPath(path)), .value(value(name)), .value(value(name)))
        case 5: return .not(predicate(depth: depth - 1))
        case 6: return .or((0..<below(4)).map { _ in predicate(depth: depth - 1) })
        case 7: return .and((0..<below(4)).map { _ in predicate(depth: depth - 1) })
        default:
            return .compare(
                .path("number"), pick(Comparison.allCases), .path(PropertyPath(pick(["real", "price", "parent.number", "parent.real"]))))
        }
    }

    private mutating func text(_ path: String) -> QueryPredicate {
        let match = pick(TextMatch.allCases), options = pick([[], [], .caseInsensitive] as [TextOptions])
        if match == .search {
            let query = pick(["a", "b*", "a OR b", "ab -b", "\"a b\"", "z", "A"])
            return .text(QueryExpression.path(PropertyPath(path)).folded(options), match, query)
        }
        let needle =
            match == .matches ? RandomPattern.text(using: &random) : pick(Self.texts + (match == .like ? ["a*", "?", "*b"] : []))
        return .text(QueryExpression.path(PropertyPath(path)).folded(options), match, needle)
    }

    mutating func pattern() -> String { RandomPattern.text(depth: 4, using: &random) }

    private mutating func comparison(_ name: String) -> Comparison { pick(Comparison.allCases) }

    /// Returns a constant of the property's type, or of another numeric type.
    private mutating func constant(_ name: String) -> Value {
        ["number", "real", "price"].contains(name) ? value(pick(["number", "real", "price"])) : value(name)
    }

    mutating func fetch() -> ObjectRequest {
        let sort = (0..<below(3)).map { _ in
            let isComputed = below(4) == 0
            return OrderTerm(isComputed ? number() : .path(PropertyPath(pick(Self.paths))), ascending: below(2) == 0)
        }
        return ObjectRequest(
            "Thing", where: predicate(), orderBy: sort, limit: below(3) == 0 ? below(20) : nil, offset: below(3) == 0 ? below(10) : 0)
    }

    mutating func aggregate() -> (AggregateFunction, PropertyPath?, QueryPredicate) {
        let function = pick(AggregateFunction.allCases)
        if function == .count, below(2) == 0 { return (function, nil, predicate()) }
        let isNumeric = ![.count, .countDistinct, .minimum, .maximum].contains(function)
        return (
            function, PropertyPath(pick(isNumeric ? ["number", "real", "price"] : ["number", "real", "price", "text", "flag"])), predicate()
        )
    }

    /// Returns a query for groups with their count and a computed value, excluding some of them.
    mutating func groups() -> QueryRequest {
        let keys = (0...below(2)).map { _ -> QueryExpression in
            below(3) == 0 ? number() : .path(PropertyPath(pick(["flag", "text", "parent.flag"])))
        }
        let function = pick(AggregateFunction.allCases)
        let isNumeric = ![.count, .countDistinct, .minimum, .maximum].contains(function)
        let aggregate = Aggregate(function, PropertyPath(pick(isNumeric ? ["real", "price"] : ["number", "text", "flag"])))
        let outputs =
            keys.enumerated().map { QueryOutput($1, as: "k\($0)") } + [
                .aggregate(Aggregate(.count), as: "n"), .aggregate(aggregate, as: "a"),
            ]
        let having: QueryPredicate? = below(2) == 0 ? .compare(.path("n"), pick(Comparison.allCases), .value(.int(Int64(below(4))))) : nil
        let sort = below(2) == 0 ? [OrderTerm(.path("n"), ascending: below(2) == 0)] : []
        let fetch = ObjectRequest(
            "Thing", where: below(2) == 0 ? predicate(depth: 1) : nil, orderBy: sort, limit: below(3) == 0 ? below(5) : nil,
            offset: below(3) == 0 ? below(3) : 0)
        return QueryRequest(fetch, outputs: outputs, groupBy: keys, having: having)
    }
}
