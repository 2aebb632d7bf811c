import Foundation
import Testing

/// `polystore transfer --plan`.
@Suite struct TransferPlanTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/shop.db"
        try load(store, "Product")
    }

    /// Loads three objects of an entity into a new store.
    private func load(_ store: String, _ entity: String) throws {
        let model = try program.file(
            "\(entity).json",
            """
            {"entities": [{"name": "\(entity)", "attributes": [{"name": "name", "type": "string"}, {"name": "price", "type": "int64", "optional": true}],
              "relationships": [{"name": "parts", "to": "\(entity)", "kind": "toMany"}]}]}
            """)
        let file = try program.file("\(entity).csv", "name,price\nab,1\ncde,\nf,3\n")
        let loaded = try program.run(["load", store, file, "--entity", entity, "--model", model, "-q"])
        #expect(loaded.code == 0, "\(loaded)")
    }

    private func plan(_ target: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["transfer", store, target, "--plan", "-q"] + options)
    }

    @Test func aPlanCountsAndWritesNothing() throws {
        let target = program.folder.appendingPathComponent("copy.lmdb").path
        let found = try plan("lmdb:\(target)")
        #expect(found.code == 0 && found.output.hasSuffix("nothing prevents the transfer; nothing was written\n"), "\(found)")
        #expect(!FileManager.default.fileExists(atPath: target))
        let json = try plan("lmdb:\(target)", "--json")
        let items =
            try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])["items"] as? [[String: Any]]
        // Three rows of key and version, six bytes of names and two prices; no pairs.
        #expect(items?.map { $0["count"] as? Int } == [3, 0] && items?.map { $0["bytes"] as? Int } == [3 * 16 + 6 + 2 * 8, 0], "\(json)")
        #expect(items?.first?["name"] as? String == "Product")
    }

    @Test func aPlanNamesWhatPreventsTheTransfer() throws {
        let full = "sqlite:\(program.folder.path)/full.db", other = "sqlite:\(program.folder.path)/other.db"
        try load(full, "Product")
        try load(other, "Thing")
        for (target, message) in [(full, "refused: the target is not empty"), (other, "refused: the target has another schema")] {
            let found = try plan(target)
            #expect(found.code == 1 && found.output.contains(message), "\(found)")
            #expect(try program.run(["transfer", store, target, "-q"]).code != 0)
        }
        #expect(try program.run(["transfer", store, full, "--json"]).code == 64)
    }
}
