import Foundation
import Polystore
import TestStores
import Testing

/// Statements of a program over decimals, which lie as bytes that only compare as numbers.
@Suite struct SQLDecimalTests {
    private func stack() throws -> DataStack {
        let item = Entity("Item", attributes: [Attribute("price", .decimal, isOptional: true), Attribute("n", .int64, isOptional: true)])
        let stack = try DataStack(schema: Schema(version: "V1", entities: [item]))
        try stack.addStorageAndWait(TestStore.sqlite.make())
        try stack.perform(synchronous: { transaction in
            for (number, text) in ["1.10", "2.25", "30", nil].enumerated() {
                let object = try transaction.create(Into<DynamicObject>(entity: "Item"))
                try object.setValue(.int(Int64(number)), for: "n")
                try object.setValue(text.flatMap { Decimal(string: $0) }.map(Value.decimal) ?? .null, for: "price")
            }
        })
        return stack
    }

    @Test(arguments: [
        "SELECT sum(price) FROM Item", "SELECT avg(DISTINCT price) FROM Item", "SELECT n FROM Item WHERE price > 2",
        "SELECT n FROM Item WHERE 2 < price", "SELECT price * 2 FROM Item", "SELECT n FROM Item WHERE -price < 0",
        "SELECT x + 1 FROM (SELECT price AS x FROM Item)", "SELECT x + 1 FROM (SELECT price x FROM Item)",
        "WITH c(x) AS (SELECT price FROM Item) SELECT x + 1 FROM c", "SELECT (SELECT price FROM Item LIMIT 1) + 1",
        "SELECT n FROM Item WHERE price BETWEEN 1 AND 3", "SELECT n FROM Item WHERE price IN (1, 2)",
        "SELECT n FROM Item WHERE price LIKE '2%'",
        "SELECT CASE WHEN n > 1 THEN price ELSE 0 END + 1 FROM Item", "SELECT max(price) + 1 FROM Item",
        "SELECT total(i.price) FROM Item i",
        "SELECT n FROM Item WHERE price = n", "SELECT (price) + 1 FROM Item", "SELECT n FROM Item WHERE price",
        "SELECT n FROM Item WHERE NOT price", "SELECT CAST(price AS REAL) FROM Item", "SELECT CAST(i.price AS TEXT) FROM Item i",
        "SELECT CAST((price) AS INTEGER) FROM Item", "SELECT CAST(max(price) AS REAL) FROM Item",
        "SELECT n FROM Item WHERE CAST(price AS REAL) > 2", "SELECT n FROM Item WHERE (price, n) > (2, 0)",
        "SELECT n FROM Item WHERE (n, price) > (0, 2)", "SELECT n FROM Item WHERE (0, 2) < (n, price)",
        "SELECT n FROM Item WHERE n = 1 AND (n, price, n) = (1, 2, 1)", "SELECT n FROM Item WHERE (price, n) IN (VALUES (2, 1))",
        "SELECT n FROM Item WHERE n IN (price, 2)",
    ]) func arithmeticOnDecimalBytesIsRefused(_ sql: String) throws {
        let stack = try stack()
        #expect {
            try stack.queryRows(RawSQL(stringLiteral: sql))
        } throws: { error in
            (error as? StorageError)?.code == .unsupported && "\(error)".contains("price")
        }
        #expect {
            try stack.perform(synchronous: { _ = try $0.execute("UPDATE Item SET price = price * 2") })
        } throws: { error in
            (error as? StorageError)?.code == .unsupported
        }
    }

    @Test func exactResultsAreComputed() throws {
        let stack = try stack(), two: Decimal = 2
        func numbers(_ sql: RawSQL) throws -> [Value] { try stack.queryRows(sql).map { $0.values[0] } }
        #expect(try numbers("SELECT n FROM Item WHERE price > \(two) ORDER BY price DESC") == [.int(2), .int(1)])
        #expect(try numbers("SELECT n FROM Item WHERE \(two) >= price") == [.int(0)])
        #expect(try numbers("SELECT n FROM Item WHERE price BETWEEN \(two) AND \(Decimal(30)) ORDER BY n") == [.int(1), .int(2)])
        #expect(try numbers("SELECT n FROM Item WHERE price IN (\(two), \(Decimal(30)))") == [.int(2)])
        #expect(try numbers("SELECT n FROM Item WHERE price IS NULL") == [.int(3)])
        #expect(try numbers("SELECT count(price) FROM Item") == [.int(3)])
        #expect(try numbers("SELECT count(DISTINCT price) FROM Item WHERE price IS NOT NULL") == [.int(3)])
        #expect(
            try numbers("SELECT i.n FROM Item AS i JOIN Item AS j ON i.price = j.price ORDER BY i.price, i.n") == [
                .int(0), .int(1), .int(2),
            ])
        #expect(try numbers("SELECT max(price) FROM Item") == numbers("SELECT price FROM Item WHERE n = 2"))
        #expect(try numbers("SELECT x FROM (SELECT price AS x, n FROM Item) WHERE x > \(two) ORDER BY n").count == 2)
        #expect(try numbers("SELECT * FROM Item").count == 4)
        #expect(try numbers("SELECT n FROM (SELECT n, price, n AS m FROM Item) ORDER BY n") == [.int(0), .int(1), .int(2), .int(3)])
        #expect(try stack.perform(synchronous: { try $0.execute("UPDATE Item SET price = \(two) WHERE price > \(two)") }) == 2)
    }

    /// Both are declared by a statement of their own, which is not one of the program.
    @Test func tableFunctionsOfJSONCanBeRead() throws {
        let stack = try stack()
        #expect(try stack.queryRows("SELECT sum(value) AS s FROM json_each('[1, 2, 3]')").map { $0["s"] } == [.int(6)])
        #expect(try stack.queryRows("SELECT count(*) AS c FROM json_tree('{\"a\": [1]}')").map { $0["c"] } == [.int(3)])
    }
}
