import Foundation
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// A load checks unique values of any length, in every store.
@Suite struct UniqueLoadTests {
    private func load(_ values: [String], _ kind: TestStore) throws -> Int {
        let schema = try Schema(entities: [
            Entity("Note", attributes: [Attribute("text", .string, isOptional: true)], uniqueConstraints: [UniqueConstraint(["text"])])
        ])
        let place = kind.make(), store = try OpenStore(opening: place, OpenRequest(schema: schema))
        defer {
            try? store.close()
            try? place.erase()
        }
        let csv = "text\n" + values.joined(separator: "\n") + "\n"
        let report = try FileLoader.load(LoadMapping(files: [LoadMapping.file("a.csv", entity: "Note")]), into: store) { _ in
            FileBlocks(Data(csv.utf8))
        }
        return report.loaded[0].count
    }

    @Test(arguments: TestStore.all) func equalValuesAreRefused(_ kind: TestStore) throws {
        for length in [5, 500, 501, 502, 503, 504, 600, 1_024] {
            let value = String(repeating: "x", count: length), other = value.dropLast() + "y"
            #expect(try load([value, String(other), "a"], kind) == 3)
            do {
                _ = try load([value, "a", String(other), value], kind)
                Issue.record("two equal values of \(length) bytes are loaded")
            } catch let error as StorageError {
                #expect(error.code == .uniqueConstraintViolated)
            }
        }
    }
}
