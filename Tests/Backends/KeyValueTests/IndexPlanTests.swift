import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Testing

/// What ordered stores read for a fetch: which index, in which order; the answers beside those of plain loops.
@Suite struct IndexPlanTests {
    private static let json = """
        {"version":"1","entities":[{"name":"Sale","attributes":[
          {"name":"number","type":"int64","optional":true},{"name":"region","type":"string","optional":true},
          {"name":"amount","type":"double","optional":true},{"name":"note","type":"string","optional":true}],
          "indexes":[["number"],["region","amount"],["amount"],["note"]]}]}
        """

    private struct Sale {
        let key: Int64
        var number: Int64?, region: String?, amount: Double?, note: String?

        /// Four thousand: 100 of each number, 1,000 of each region, two of each amount, nil in some.
        init(_ index: Int) {
            key = Int64(index + 1)
            number = index % 50 == 0 ? nil : Int64(index % 40)
            region = index % 100 == 7 ? nil : "region " + String(index % 4)
            amount = index % 90 == 3 ? nil : Double((index * 7) % 2000) / 2
            note = nil
        }
    }

    private static let sales = (0..<4000).map(Sale.init)
    private static let places = ["memory:", "lmdb:"]

    private func withStore(
        _ place: String, _ sales: [Sale] = IndexPlanTests.sales, _ body: (Schema, any StorageReader) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plans-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = place == "lmdb:" ? place + folder.appendingPathComponent("store").path : place
        let schema = try Schema(json: Self.json)
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        _ = try store.open(OpenRequest(schema: schema))
        defer { try? store.close() }
        let batch = RowBatch(capacity: sales.count)
        for sale in sales {
            let values: [Value] = [
                sale.number.map(Value.int) ?? .null, sale.region.map(Value.string) ?? .null, sale.amount.map(Value.double) ?? .null,
                sale.note.map(Value.string) ?? .null,
            ]
            let encoded = values.map(batch.cell(for:))
            let cells = batch.appendRow(key: sale.key, version: 1, entity: 0, slots: encoded.count)
            for (slot, cell) in encoded.enumerated() { cells[slot] = cell }
        }
        let writer = try store.beginWrite(WriteOptions(timeout: 10))
        try writer.load(0, batch)
        _ = try writer.commit(CommitRecord(author: ""))
        writer.end()
        let reader = try store.beginRead()
        defer { reader.end() }
        try body(schema, reader)
    }

    private func keys(_ request: ObjectRequest, _ schema: Schema, _ reader: any StorageReader) throws -> [Int64] {
        let cursor = try reader.cursor(for: request.plan(in: schema)), batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { keys.append(batch.key(index)) } }
        return keys
    }

    /// Conditions, the indexes that are read for them, and what they mean.
    private static let conditions: [(text: String, indexes: String?, holds: @Sendable (Sale) -> Bool)] = [
        ("number == 7", "Sale.index.number", { $0.number == 7 }),
        ("number == nil", "Sale.index.number", { $0.number == nil }),
        ("number >= 38", "Sale.index.number", { ($0.number ?? 0) >= 38 }),
        ("number >= 10 AND number < 12", "Sale.index.number", { [10, 11].contains($0.number) }),
        ("number IN {3, 5, 99}", "Sale.index.number", { [3, 5].contains($0.number) }),
        ("number == 3 OR number > 38", "Sale.index.number", { $0.number == 3 || ($0.number ?? 0) > 38 }),
        ("number > 5 AND number < 3", "Sale.index.number", { _ in false }),
        (
            "region == 'region 1' AND amount > 980", "Sale.index.region.amount",
            { $0.region == "region 1" && ($0.amount ?? 0) > 980 }
        ),
        (
            "region IN {'region 1', 'region 2'} AND amount == 0.5", "Sale.index.region.amount",
            { ["region 1", "region 2"].contains($0.region) && $0.amount == 0.5 }
        ),
        (
            "number == 7 AND amount < 100", "Sale.index.number AND Sale.index.amount",
            { $0.number == 7 && ($0.amount ?? 1000) < 100 }
        ),
        // Nearly all rows: reading them one after the other is cheaper.
        ("number != 7", nil, { $0.number != 7 }),
        ("amount > 10", nil, { ($0.amount ?? 0) > 10 }),
        ("region BEGINSWITH 'region'", nil, { $0.region != nil }),
        ("note BEGINSWITH 'a'", "Sale.index.note", { _ in false }),
    ]

    @Test(arguments: places) func conditionsAreAnsweredByIndexes(_ place: String) throws {
        try withStore(place) { (schema, reader) throws in
            for (text, indexes, holds) in Self.conditions {
                let request = ObjectRequest("Sale", where: try QueryPredicate(parsing: text))
                let expected = Self.sales.filter(holds).map(\.key)
                #expect(try keys(request, schema, reader) == expected, "\(text)")
                let found = try reader.explanation(of: request.plan(in: schema))
                #expect(found == [indexes.map { "SEARCH Sale USING \($0): \(expected.count) ROWS" } ?? "SCAN Sale"], "\(text)")
            }
        }
    }

    @Test(arguments: places) func anIndexGivesTheOrder(_ place: String) throws {
        try withStore(place) { (schema, reader) throws in
            for isAscending in [true, false] {
                for (limit, offset) in [(10, 0), (25, 13), (5000, 0)] {
                    let request = ObjectRequest(
                        "Sale", orderBy: [OrderTerm(.path("amount"), ascending: isAscending)], limit: limit, offset: offset)
                    // Nil is the smallest; equal amounts are ordered by key, whatever the direction.
                    let expected = Self.sales.sorted { a, b in
                        let (x, y) = (a.amount ?? -1, b.amount ?? -1)
                        return x == y ? a.key < b.key : (isAscending ? x < y : x > y)
                    }
                    #expect(try keys(request, schema, reader) == expected.dropFirst(offset).prefix(limit).map(\.key))
                    let line = "SCAN Sale IN ORDER OF Sale.index.amount" + (isAscending ? "" : " BACKWARDS")
                    #expect(try reader.explanation(of: request.plan(in: schema)) == [line])
                }
            }
        }
    }

    @Test(arguments: places) func oneValueOfACompoundIndexOrdersByTheNext(_ place: String) throws {
        try withStore(place) { (schema, reader) throws in
            let sort = [OrderTerm(.path("amount"), ascending: false), OrderTerm(.path("number"))]
            let request = ObjectRequest("Sale", where: try QueryPredicate(parsing: "region == 'region 2'"), orderBy: sort, limit: 40)
            let expected = Self.sales.filter { $0.region == "region 2" }.sorted { a, b in
                if a.amount != b.amount { return a.amount ?? -1 > b.amount ?? -1 }
                return a.number == b.number ? a.key < b.key : a.number ?? -1 < b.number ?? -1
            }
            #expect(try keys(request, schema, reader) == expected.prefix(40).map(\.key))
            #expect(
                try reader.explanation(of: request.plan(in: schema)) == ["SCAN Sale IN ORDER OF Sale.index.region.amount BACKWARDS"])
        }
    }

    /// A condition without an index leaves a handful of rows at the end of the order: the scan in order is given up.
    @Test(arguments: places) func anIndexOrderWithFewMatchesIsAbandoned(_ place: String) throws {
        try withStore(place) { (schema, reader) throws in
            let wanted = try QueryPredicate(parsing: "number + 0 == 39")
            let request = ObjectRequest("Sale", where: wanted, orderBy: [OrderTerm(.path("amount"))], limit: 200)
            let expected = Self.sales.filter { $0.number == 39 }.sorted { a, b in
                a.amount == b.amount ? a.key < b.key : a.amount ?? -1 < b.amount ?? -1
            }
            #expect(try keys(request, schema, reader) == expected.map(\.key))
        }
    }

    /// Entries are cut at some five hundred bytes: beyond, the rows themselves decide.
    @Test(arguments: places) func longTextsAgreeOnlyAtTheirBeginning(_ place: String) throws {
        let long = String(repeating: "x", count: 600), count = 1000
        let sales = (0..<count).map { index in
            var sale = Sale(index)
            sale.note = index < 20 ? long + String(index % 5) : "note \(index)"
            return sale
        }
        try withStore(place, sales) { (schema, reader) throws in
            let equal = ObjectRequest("Sale", where: .compare(.path("note"), .equal, .value(.string(long + "3"))))
            #expect(try keys(equal, schema, reader) == [4, 9, 14, 19])
            let greater = ObjectRequest("Sale", where: .compare(.path("note"), .greater, .value(.string(long + "3"))))
            #expect(try keys(greater, schema, reader) == [5, 10, 15, 20])
            let prefix = ObjectRequest("Sale", where: .text(.path("note"), .beginsWith, long + "2"))
            #expect(try keys(prefix, schema, reader) == [3, 8, 13, 18])
            let last = ObjectRequest("Sale", orderBy: [OrderTerm(.path("note"), ascending: false)], limit: 6)
            #expect(try keys(last, schema, reader) == [5, 10, 15, 20, 4, 9])
            let greatest = QueryRequest(ObjectRequest("Sale"), outputs: [.aggregate(Aggregate(.maximum, "note"), as: "last")])
            #expect(try reader.values(for: greatest.plan(in: schema)) == [[.string(long + "4")]])
        }
    }

    @Test(arguments: places) func valuesComeFromAnIndexAlone(_ place: String) throws {
        try withStore(place) { (schema, reader) throws in
            func values(_ condition: String?, _ aggregates: [Aggregate], by key: String? = nil) throws -> [[Value]] {
                let outputs = aggregates.enumerated().map { QueryOutput.aggregate($1, as: "a\($0)") }
                let fetch = ObjectRequest("Sale", where: try condition.map { try QueryPredicate(parsing: $0) })
                let keys = key.map { [QueryExpression.path(PropertyPath($0))] } ?? []
                let plan = try QueryRequest(fetch, outputs: keys.map { QueryOutput($0, as: "key") } + outputs, groupBy: keys).plan(
                    in: schema)
                return try #require(try reader.values(for: plan))
            }
            let amounts = Self.sales.compactMap(\.amount)
            #expect(
                try values(nil, [Aggregate(.minimum, "amount"), Aggregate(.maximum, "amount")]) == [
                    [.double(amounts.min() ?? 0), .double(amounts.max() ?? 0)]
                ])
            let chosen = Self.sales.filter { $0.region == "region 1" && ($0.amount ?? 0) > 500.25 }.compactMap(\.amount)
            #expect(
                try values(
                    "region == 'region 1' AND amount > 500.25",
                    [Aggregate(.minimum, "amount"), Aggregate(.maximum, "amount"), Aggregate(.maximum, "amount")]) == [
                        [.double(chosen.min() ?? 0), .double(chosen.max() ?? 0), .double(chosen.max() ?? 0)]
                    ])
            #expect(try values("number == 99", [Aggregate(.minimum, "number")]) == [[.null]])
            #expect(try values("number == nil", [Aggregate(.maximum, "number"), Aggregate(.count)]) == [[.null, .int(80)]])
            let counts = Dictionary(grouping: Self.sales, by: \.region).map { region, sales -> [Value] in
                let amounts = sales.compactMap(\.amount)
                return [region.map(Value.string) ?? .null, .int(Int64(sales.count)), .double(amounts.reduce(0, +) / Double(amounts.count))]
            }
            let groups = try values(nil, [Aggregate(.count), Aggregate(.average, "amount")], by: "region")
            #expect(Set(groups) == Set(counts))
        }
    }

    @Test(arguments: places) func readRowsAreCounted(_ place: String) throws {
        try withStore(place) { (schema, reader) throws in
            func measured(_ request: ObjectRequest) throws -> String? { try reader.measuredExplanation(of: request.plan(in: schema)).last }
            // All rows, and the step that finds no more.
            let scan = ObjectRequest("Sale", where: try QueryPredicate(parsing: "number + 0 == 7"))
            #expect(try measured(scan) == "100 rows found, 0 pairs looked up, 4001 read in order, 0 seeks")
            // A hundred entries, of which the last leads past the value, and the row of each.
            let search = ObjectRequest("Sale", where: try QueryPredicate(parsing: "number == 7"))
            #expect(try measured(search) == "100 rows found, 100 pairs looked up, 100 read in order, 1 seeks")
        }
    }
}
