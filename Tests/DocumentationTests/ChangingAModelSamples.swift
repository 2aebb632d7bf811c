#if Macros
import Foundation
import Polystore
import PolystoreMacros
import PolystoreSQLite
import Testing

struct Budget: CodedAttributeValue {
    var amount = 0
    var currency = "EUR"
    static var placeholder: Budget { Budget() }
}

extension Budget {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        amount = try values.decode(Int.self, forKey: .amount)
        currency = try values.decodeIfPresent(String.self, forKey: .currency) ?? "EUR"
    }
}

/// The samples of "Changing a Model".
@Suite(.scratch) struct ChangingAModelSamples {
    enum V1 {
        @Model final class Note: ManagedObject {
            var text: String = ""
            var mail: String = ""
        }
    }

    enum V2 {
        @Model final class Note: ManagedObject {
            @Attribute(originalName: "text") var body: String = ""
            var stars: Int = 3
            var due: Date?
        }
    }

    enum V3 {
        @Model final class Note: ManagedObject {
            var body: String = ""
            var stars: Int = 3
            var due: Date?
            var title: String = ""
        }
    }

    @Test func aStoreIsMigrated() async throws {
        let store = SQLiteStore(path: scratch("notes.db"))
        do {
            let stack = try DataStack(V1.Note.self, version: "V1")
            try stack.addStorageAndWait(store)
            try stack.perform(synchronous: { transaction in
                let note = try transaction.create(V1.Note.self)
                (note.text, note.mail) = ("Tea\nof China", "ann@example.com")
            })
            try stack.removeStorage(store)
        }
        do {
            let stack = try DataStack(V2.Note.self, version: "V2")
            for step in try stack.requiredMigrations(for: store) {
                print(step)
                for change in step.changes { print(change) }
                print("loses", step.losses.count)
            }
            let refused = await #expect(throws: StorageError.self) { try await stack.addStorage(store) }
            #expect(refused?.code == .dataLossRefused)
            var history = try SchemaHistory(stack.schema, models: [V2.Note.self])
            history.acceptedLosses = ["Note.mail"]
            let current = try DataStack(schemaHistory: history)
            try await current.addStorage(store)
            try current.schema.prettyJSON.write(toFile: scratch("v2.json"), atomically: true, encoding: .utf8)
            let note = try #require(try current.fetchOne(From<V2.Note>()))
            #expect(note.body == "Tea\nof China" && note.stars == 3 && note.due == nil)
            try current.removeStorage(store)
        }
        let shown = try sample("loses 1")
        #expect(printed == shown)
        let v2 = try DataStack(V2.Note.self, version: "V2").schema
        let v3 = try DataStack(V3.Note.self, version: "V3").schema
        var history = try SchemaHistory(v2, v3, migrationChain: ["V2", "V3"], models: [V3.Note.self])
        history.stages = [
            MigrationStage(
                from: "V2", to: "V3", label: "titles", sourceModels: [V2.Note.self],
                postMigration: { context in
                    try context.perform { transaction in
                        for note in try transaction.fetchAll(From<V3.Note>()) {
                            note.title = note.body.split(separator: "\n").first.map(String.init) ?? ""
                        }
                    }
                })
        ]
        let stack = try DataStack(schemaHistory: history)
        try await stack.addStorage(store)
        #expect(try stack.fetchAll(From<V3.Note>()).map(\.title) == ["Tea"])
    }

    /// The lines of the output that the article shows, up to a line.
    private func sample(_ last: String) throws -> [String] {
        let lines = try Checkout.lines("Sources/Polystore/Polystore.docc/ChangingAModel.md")
        let end = try #require(lines.firstIndex(of: last))
        let begin = try #require(lines[..<end].lastIndex(of: "```"))
        return Array(lines[(begin + 1)...end])
    }

    @Test func anOlderValueOfACodedTypeIsDecoded() throws {
        let value = try #require(Budget(attributeValue: .data(Data(#"{"amount":700}"#.utf8))))
        #expect(value.amount == 700 && value.currency == "EUR")
        #expect(Budget(attributeValue: Budget(amount: 7, currency: "CHF").attributeValue)?.currency == "CHF")
    }

    @Test func aLockFindsAnEditedVersion() throws {
        let stack = try DataStack(V2.Note.self, version: "V2"), edited = try DataStack(V3.Note.self, version: "V2")
        let lock = VersionLock(of: try DataStack(V2.Note.self, version: "V2").schema)
        try lock.check(stack.schema)
        #expect(throws: StorageError.self) { try lock.check(edited.schema) }
    }
}
#endif
