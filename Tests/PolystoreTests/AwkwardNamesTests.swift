import Foundation
import Polystore
import PolystoreModelCode
import TestStores
import Testing

/// A model whose names are those of keywords, of types that generated code uses, and of members that every object has.
@Suite struct AwkwardNamesTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Models")

    @Test func theGeneratedClassesEqualTheTestedOnes() throws {
        let model = try String(contentsOf: Self.folder.appendingPathComponent("Awkward.json"), encoding: .utf8)
        let file = try String(contentsOf: Self.folder.appendingPathComponent("Awkward.swift"), encoding: .utf8)
        #expect(ModelCode.swift(for: try Schema(json: model)) == file)
    }

    @Test(arguments: TestStore.all) func everyPropertyHasItsDefaultAndIsReadBack(_ store: TestStore) throws {
        let stack = try DataStack(StringEntity.self, EntityEntity.self, CellEntity.self)
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            let text = try transaction.create(StringEntity.self)
            text.row = 3
            text.version_ += 1
            let cell = try transaction.create(CellEntity.self)
            cell.entity = "e"
            (cell.cells, cell.loadError_) = (4, 5)
            text.default = cell
        })
        let text = try #require(try stack.fetchOne(From<StringEntity>().where(\.version_ == 8 && \.row == 3)))
        #expect(text.key == "k" && text.context == nil && text.dirty && text.flags == -1 && text.check == 2)
        #expect(text.class == "a \"quote\" and a \\")
        #expect(text.batch == Data([1, 2]) && text.hash_ == Decimal(string: "12.5"))
        #expect(text.home == URL(string: "https://example.com/a") && text.spare == nil)
        #expect(text.ratio == .infinity && text.depth == -.infinity && text.grade == 1)
        #expect(text.born == Date(timeIntervalSince1970: 1_357_034_400))
        #expect(text.token == UUID(uuidString: "0188B0A2-7C3E-7F00-8000-00000000ABCD"))
        let cell = try #require(text.default as? CellEntity)
        #expect(cell.cells == 4 && cell.loadError_ == 5 && cell.entity == "e" && cell.objectID_ == [text])
        #expect(StringEntity.Snapshot(text).default == ObjectID<EntityEntity>(cell.objectID.key))
        #expect(try stack.fetchCount(From<StringEntity>().where(\.default?.entity == "e")) == 1)
    }

    @Test(arguments: TestStore.all) func aGeneratedClassAcceptsOnlyTheAllowedValues(_ store: TestStore) throws {
        let stack = try DataStack(StringEntity.self, EntityEntity.self, CellEntity.self)
        try stack.addStorageAndWait(store.make())
        func create(_ grade: Double) throws { try stack.perform(synchronous: { try $0.create(StringEntity.self).grade = grade }) }
        try create(2.5)
        #expect {
            try create(2)
        } throws: { error in
            let error = error as? StorageError
            return error?.code == .valueNotStorable && error?.details.property == "grade"
        }
        #expect(try stack.fetchAll(From<StringEntity>()).map(\.grade) == [2.5])
    }
}
