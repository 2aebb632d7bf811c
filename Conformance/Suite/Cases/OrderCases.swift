internal import PolystoreStorage

/// Cases of group O: the order of a fetch is total, so limit and offset are deterministic.
enum OrderCases {
    private static func keys(
        _ id: String, _ clause: String, _ expected: [Int64], entity: String = "Thing", _ sort: [OrderTerm],
        where predicate: QueryPredicate? = nil, limit: Int? = nil, offset: Int = 0
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in
            try harness.withFixture { scratch in
                let request = ObjectRequest(entity, where: predicate, orderBy: sort, limit: limit, offset: offset)
                check.equal(try scratch.keys(request), expected, "keys")
                check.equal(ReferenceStore.fixture.keys(request), expected, "keys of the reference")
            }
        }
    }

    private static func up(_ name: String) -> OrderTerm { OrderTerm(PropertyPath(name)) }
    private static func down(_ name: String) -> OrderTerm { OrderTerm(PropertyPath(name), ascending: false) }

    static let all: [ConformanceCase] = [
        keys("O001.int-ascending-nil-first", "N3, O2", [3, 7, 4, 1, 2, 5, 6, 8], [up("number")]),
        keys("O001.int-descending-nil-last", "N3, O2", [8, 6, 2, 5, 1, 4, 7, 3], [down("number")]),
        keys("O001.double-ascending", "N3, O2", [2, 7, 3, 4, 1, 8, 5, 6], [up("real")]),
        keys("O008.text-by-bytes", "O2", [3, 4, 5, 2, 1, 8, 7, 6], [up("text")]),
        keys("O008.text-descending", "O2", [6, 7, 8, 1, 2, 5, 4, 3], [down("text")]),
        keys("O009.decimal", "O2", [3, 7, 4, 6, 8, 1, 2, 5], [up("price")]),
        keys("O011.bool", "O2", [3, 5, 8, 2, 6, 1, 4, 7], [up("flag")]),
        keys("O002.two-keys", "O1", [8, 5, 3, 6, 2, 1, 4, 7], [up("flag"), down("number")]),
        keys("O002.mixed-directions", "O1", [1, 4, 7, 6, 2, 8, 5, 3], [down("flag"), down("number")]),
        keys("O006.ties-by-key", "O1", [1, 4, 7, 2, 6, 3, 5, 8], [down("flag")]),
        keys("O006.no-order-is-key-order", "O1", [1, 2, 3, 4, 5, 6, 7, 8], []),
        keys("O012.joined-key-path", "O3", [103, 109, 107, 104, 101, 102, 105, 106, 108], entity: "Holder", [up("thing.number")]),
        keys("O012.joined-descending", "O3", [108, 106, 102, 105, 101, 104, 107, 103, 109], entity: "Holder", [down("thing.number")]),
        keys("O015.own-key-descending", "O2", [8, 7, 6, 5, 4, 3, 2, 1], [down("SELF")]),
        keys("O016.limit-0", "O4", [], [up("number")], limit: 0),
        keys("O016.limit-3", "O4", [3, 7, 4], [up("number")], limit: 3),
        keys("O016.limit-above-count", "O4", [3, 7, 4, 1, 2, 5, 6, 8], [up("number")], limit: 100),
        keys("O017.offset-without-limit", "O4", [2, 5, 6, 8], [up("number")], offset: 4),
        keys("O017.offset-above-count", "O4", [], [up("number")], offset: 100),
        keys("O018.page-without-order", "O4", [3, 4], [], limit: 2, offset: 2),
        keys("O018.page-after-filter", "O4", [5], [], where: .compare(.path("number"), .equal, .value(.int(2))), limit: 2, offset: 1),
        keys(
            "O018.page-sorted-and-filtered", "O4", [2, 5], [up("number")], where: .compare(.path("number"), .greater, .value(.int(0))),
            limit: 2, offset: 1),
        ConformanceCase("O019.pages-cover-everything-once", clause: "O4") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Tag", (0..<100).map { ["name": .string("n\($0 % 7)")] })
                var seen: [Int64] = []
                for offset in stride(from: 0, to: 110, by: 9) {
                    seen += try scratch.keys(ObjectRequest("Tag", orderBy: [down("name")], limit: 9, offset: offset))
                }
                check.equal(seen.count, 100, "rows")
                check.equal(Set(seen).count, 100, "different rows")
            }
        },
        ConformanceCase("O021.early-end-of-a-cursor", clause: "S3") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Tag", (0..<5000).map { _ in [:] })
                for _ in 0..<20 {
                    try scratch.read { reader in
                        let cursor = try reader.cursor(for: try ObjectRequest("Tag").plan(in: scratch.schema))
                        check.isTrue(try cursor.next(into: RowBatch(capacity: 3)), "a first batch")
                    }
                }
                try scratch.insert("Tag", [[:]])
            }
        },
        ConformanceCase("O025.keys-only", clause: "S5") { harness, check in
            try harness.withFixture { scratch in
                var plan = try ObjectRequest("Thing", orderBy: [up("number")], limit: 3).plan(in: scratch.schema)
                plan.fields = .keysOnly
                let keys = try scratch.read { try scratch.rows($0.cursor(for: plan)).map(\.key) }
                check.equal(keys, [3, 7, 4], "keys")
            }
        },
    ]
}
