import Foundation
import Testing

/// `polystore transfer --layout plain`, and loads into the tables that it makes.
@Suite struct TransferLayoutTests {
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]

    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/shop.db"
        let model = try program.file(
            "model.json",
            """
            {"entities": [{"name": "Product", "attributes": [{"name": "name", "type": "string"}, {"name": "price", "type": "decimal", "optional": true}],
              "relationships": [{"name": "maker", "to": "Maker"}]},
              {"name": "Maker", "attributes": [{"name": "name", "type": "string"}]}]}
            """)
        _ = try program.file("makers.csv", "name\nx\ny\n")
        _ = try program.file("products.csv", "name,price,maker\na,1.5,x\nb,0.12345678901234567,y\nc,30,x\n")
        let loaded = try program.run(["load", store, "--mapping", try mapping(), "--model", model, "-q"])
        #expect(loaded.code == 0, "\(loaded)")
    }

    private func mapping() throws -> String {
        try program.file(
            "mapping.json",
            """
            {"files": [{"file": "makers.csv", "entity": "Maker"},
              {"file": "products.csv", "entity": "Product", "relationships": {"maker": {"name": "maker"}}}]}
            """)
    }

    private func path(_ name: String) -> String { program.folder.appendingPathComponent(name).path }

    private func transfer(_ target: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["transfer", store, target, "--layout", "plain"] + options)
    }

    private static let statements = """
        CREATE TABLE "Maker" (
            "id" INTEGER PRIMARY KEY,
            "name" TEXT NOT NULL
        );
        CREATE TABLE "Product" (
            "id" INTEGER PRIMARY KEY,
            "name" TEXT NOT NULL,
            "price" DECIMAL,
            "maker_id" INTEGER REFERENCES "Maker" ("id") ON DELETE SET NULL
        );
        CREATE INDEX "Product_maker_id" ON "Product" ("maker_id");
        """

    @Test func aPlanPrintsTheTablesAndWritesNothing() throws {
        let target = "sqlite:\(path("plain.db"))"
        let plan = try transfer(target, "--plan", "--accept-loss", "Product.price")
        #expect(plan.code == 0 && plan.output.hasPrefix(Self.statements), "\(plan)")
        let refused = try transfer(target, "--plan")
        #expect(refused.code == 1, "\(refused)")
        #expect(refused.output.contains("-- refused: 1 values of Product.price cannot be stored exactly"))
        let json = try transfer(target, "--plan", "--json")
        let found = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((found["statements"] as? [String])?.count == 3 && (found["refusals"] as? [String])?.count == 1)
        #expect(!FileManager.default.fileExists(atPath: path("plain.db")))
    }

    @Test func aFileGetsTablesThatEveryToolReads() throws {
        let target = "sqlite:\(path("plain.db"))"
        let refused = try transfer(target)
        #expect(refused.code == 5 && refused.error.contains("--accept-loss 'Product.price'"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: path("plain.db")))
        let copied = try transfer(target, "--accept-loss", "Product.price")
        #expect(copied.code == 0 && copied.output.hasPrefix("copied 5 rows of 2 tables"), "\(copied)")
        #expect(copied.output.contains("verified: all 2 digests are equal"))
        #expect(try program.sqlite3("plain.db", "SELECT * FROM \"Product\"") == "1|a|1.5|1\n2|b|0.123456789012346|2\n3|c|30|1\n")
        let again = try transfer(target, "--accept-loss", "Product.price")
        #expect(again.code == 5 && again.error.contains("the file already contains \"Maker\""), "\(again)")
        let info = try program.run(["query", "\(target)?catalog=foreign", "Product", "--where", "maker.name == 'x'", "--count"])
        #expect(info.code == 0 && info.output.contains("2"), "\(info)")
    }

    @Test func wrongUsesAreRefused() throws {
        for wrong in [["--if-exists", "merge"], ["--layout", "plian"], ["--accept-loss", "Product.prise"]] {
            let result = try program.run(["transfer", store, "sqlite:\(path("a.db"))", "--layout", "plain"] + wrong)
            #expect(result.code != 0, "\(wrong)")
        }
        let near = try transfer("sqlite:\(path("a.db"))", "--accept-loss", "Product.prise")
        #expect(near.error.contains("Product.price"), "\(near)")
        let other = try transfer("lmdb:\(path("a.lmdb"))")
        #expect(other.code == 2 && other.error.contains("has no SQL tables"), "\(other)")
        let same = try transfer(store)
        #expect(same.code == 2 && same.error.contains("the same store"), "\(same)")
        let missing = try transfer("sqlite:\(path("missing/a.db"))", "--accept-loss", "Product.price")
        #expect(missing.code == 2 && missing.error.contains("create it first"), "\(missing)")
    }

    @Test func aLoadIntoTheTablesOfAFile() throws {
        let target = "sqlite:\(path("plain.db"))"
        #expect(try transfer(target, "--accept-loss", "Product.price").code == 0)
        let loaded = try program.run(["load", "\(target)?catalog=inplace", "--mapping", try mapping(), "-q"])
        // There would be two makers of each name.
        #expect(loaded.code != 0, "\(loaded)")
        _ = try program.file("products.csv", "name,price,maker\nd,2,z\n")
        _ = try program.file("makers.csv", "name\nz\n")
        let more = try program.run(["load", "\(target)?catalog=inplace", "--mapping", try mapping(), "-q"])
        #expect(more.code == 0, "\(more)")
        #expect(try program.sqlite3("plain.db", "SELECT * FROM \"Product\" WHERE \"id\" > 3") == "4|d|2|3\n")
    }

    @Test(.enabled(if: server != nil)) func aServerGetsTablesAndTakesLoads() throws {
        let server = Self.server ?? "", name = "plain_\(UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))"
        func psql(_ sql: String) throws -> String {
            let process = Process(), output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, "-d", server]
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let target = "\(server)\(server.contains("?") ? "&" : "?")x-schema=\(name)"
        defer { _ = try? psql("DROP SCHEMA \(name) CASCADE") }
        let plan = try transfer(target, "--plan")
        #expect(plan.code == 0 && plan.output.hasPrefix("CREATE SCHEMA IF NOT EXISTS \"\(name)\";"), "\(plan)")
        #expect(try psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(name)'") == "0")
        let copied = try transfer(target)
        #expect(copied.code == 0 && copied.output.contains("verified"), "\(copied)")
        #expect(
            try psql("SELECT * FROM \(name).\"Product\" ORDER BY id") == "1|a|1.5|1\n2|b|0.12345678901234567|2\n3|c|30|1")
        let loaded = try program.run(["load", "\(target)&x-catalog=inplace", "--mapping", try mapping(), "-q"])
        // There would be two makers of each name.
        #expect(loaded.code != 0, "\(loaded)")
        _ = try program.file("makers.csv", "name\nz\n")
        _ = try program.file("products.csv", "name,price,maker\nd,2,z\n")
        let more = try program.run(["load", "\(target)&x-catalog=inplace", "--mapping", try mapping(), "-q"])
        #expect(more.code == 0, "\(more)")
        let product =
            "SELECT p.name, p.price, m.name FROM \(name).\"Product\" p JOIN \(name).\"Maker\" m ON m.id = p.maker_id "
            + "WHERE p.id > 3"
        #expect(try psql(product) == "d|2|z")
        // The server checks references as rows are inserted.
        _ = try program.file("late.csv", "name\nlate\n")
        _ = try program.file("early.csv", "name,maker\nearly,late\n")
        let reversed = try program.file(
            "reversed.json",
            """
            {"files": [{"file": "early.csv", "entity": "Product", "relationships": {"maker": {"name": "maker"}}},
              {"file": "late.csv", "entity": "Maker"}]}
            """)
        let early = try program.run(["load", "\(target)&x-catalog=inplace", "--mapping", reversed, "-q"])
        #expect(early.code == 2 && early.error.contains("Product.maker refers to an object that does not exist"), "\(early)")
        #expect(try psql("SELECT count(*) FROM \(name).\"Product\" WHERE name = 'early'") == "0")
        let history = try psql("SELECT count(*) FROM \(name).polystore_log")
        #expect(history == "0")
    }
}
