internal import Foundation
internal import PolystoreStorage

/// Random requests, answered by the store and by the reference; the seed is in the message of a difference.
enum RandomCases {
    /// The seed, which the runner can set.
    nonisolated(unsafe) static var seed: UInt64 = 20_260_101

    static let all: [ConformanceCase] = [
        ConformanceCase("P048.random-predicates", clause: "semantics N, T, Q") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed)
                let reference = ReferenceStore(rows: random.rows(60))
                try scratch.load("Thing", reference.rows.filter { $0.entity == "Thing" }.map { ($0.key, $0.values) })
                for number in 0..<300 {
                    let request = random.fetch()
                    let found = try scratch.keys(request), expected = reference.keys(request)
                    if found != expected { return check.equal(found, expected, "seed \(seed), request \(number): \(request)") }
                }
            }
        },
        ConformanceCase("A020.random-aggregates", clause: "semantics Q") { harness, check in
            try harness.withStore { scratch in
                var random = RandomRequests(seed: seed &+ 1)
                let reference = ReferenceStore(rows: random.rows(60))
                try scratch.load("Thing", reference.rows.filter { $0.entity == "Thing" }.map { ($0.key, $0.values) })
                for number in 0..<200 {
                    let (function, path, predicate) = random.aggregate()
                    guard let expected = reference.aggregate(function, path, FetchRequest("Thing", where: predicate)) else { continue }
                    let found = try scratch.aggregate("Thing", function, path?.description, where: predicate)
                    if !AggregateCases.near(found, expected) {
                        return check.equal(
                            found, expected,
                            "seed \(seed), aggregate \(number): \(function) of \(path?.description ?? "objects") where \(predicate)")
                    }
                }
            }
        },
    ]
}

/// Random rows and requests over the fixture's things.
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

    mutating func predicate(depth: Int = 3) -> Predicate {
        let path = pick(Self.paths), name = path.split(separator: ".").last.map(String.init) ?? path
        switch below(depth > 0 ? 9 : 5) {
        case 0, 1: return .compare(.path(PropertyPath(path)), comparison(name), .value(constant(name)))
        case 2: return .compare(.path(PropertyPath(path)), below(2) == 0 ? .equal : .notEqual, .value(.null))
        case 3: return .isIn(.path(PropertyPath(path)), (0..<below(4)).map { _ in below(5) == 0 ? .null : value(name) })
        case 4:
            return name == "text"
                ? text(path)
                : .between(.path(PropertyPath(path)), .value(value(name)), .value(value(name)))
        case 5: return .not(predicate(depth: depth - 1))
        case 6: return .or((0..<below(4)).map { _ in predicate(depth: depth - 1) })
        case 7: return .and((0..<below(4)).map { _ in predicate(depth: depth - 1) })
        default:
            return .compare(
                .path("number"), pick(Comparison.allCases), .path(PropertyPath(pick(["real", "price", "parent.number", "parent.real"]))))
        }
    }

    private mutating func text(_ path: String) -> Predicate {
        let match = pick(TextMatch.allCases), options = pick([[], [], .caseInsensitive] as [TextOptions])
        let needle =
            match == .matches ? pick(["a.*", "[ab]+", "", "(a|b)b?", "."]) : pick(Self.texts + (match == .like ? ["a*", "?", "*b"] : []))
        return .text(Expression.path(PropertyPath(path)).folded(options), match, needle)
    }

    private mutating func comparison(_ name: String) -> Comparison { pick(Comparison.allCases) }

    /// A constant of the property's type, or of another numeric type.
    private mutating func constant(_ name: String) -> Value {
        ["number", "real", "price"].contains(name) ? value(pick(["number", "real", "price"])) : value(name)
    }

    mutating func fetch() -> FetchRequest {
        let sort = (0..<below(3)).map { _ in SortDescriptor(PropertyPath(pick(Self.paths)), ascending: below(2) == 0) }
        return FetchRequest(
            "Thing", where: predicate(), orderBy: sort, limit: below(3) == 0 ? below(20) : nil, offset: below(3) == 0 ? below(10) : 0)
    }

    mutating func aggregate() -> (AggregateFunction, PropertyPath?, Predicate) {
        let function = pick(AggregateFunction.allCases)
        if function == .count, below(2) == 0 { return (function, nil, predicate()) }
        let isNumeric = ![.count, .countDistinct, .minimum, .maximum].contains(function)
        return (
            function, PropertyPath(pick(isNumeric ? ["number", "real", "price"] : ["number", "real", "price", "text", "flag"])), predicate()
        )
    }
}
