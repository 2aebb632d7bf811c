import Foundation
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Files in memory and the store that they are loaded into.
struct Files {
    let store: OpenStore
    private let place: any StorageInterface

    init(_ schema: Schema, _ kind: TestStore) throws {
        place = kind.make()
        store = try OpenStore(opening: place, OpenRequest(schema: schema))
    }

    func close() {
        try? store.close()
        try? place.erase()
    }

    /// Loads files by their names; `mapping` is the list of them.
    @discardableResult
    func load(_ mapping: String, _ files: [String: String], blockSize: Int = 1 << 20) throws -> LoadReport {
        try FileLoader.load(LoadMapping(json: Data("{\"files\": \(mapping)}".utf8)), into: store) { name in
            var rest = Array((files[name] ?? "").utf8)[...]
            return FileBlocks {
                defer { rest = rest.dropFirst(blockSize) }
                return rest.isEmpty ? nil : Data(rest.prefix(blockSize))
            }
        }
    }

    func message(_ mapping: String, _ files: [String: String]) -> String {
        do { return "loaded \(try load(mapping, files).loaded.map(\.count))" } catch {
            return (error as? StorageError)?.message ?? "\(error)"
        }
    }

    /// The values of an attribute of the objects that satisfy a condition, in the order of their keys.
    func values(_ entity: String, _ name: String, where condition: String? = nil) throws -> [Value] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let plan = try ObjectRequest(entity, where: condition.map { try QueryPredicate(parsing: $0) }).plan(in: store.schema)
        let cursor = try reader.cursor(for: plan), batch = RowBatch()
        var values: [Value] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let description = store.schema[batch.row(index).entity], slot = description.slot(name) ?? 0
                values.append(Value(batch.row(index)[slot], as: description.slots[slot].type) ?? .null)
            }
        }
        return values
    }

    /// The pairs of the first link table.
    func links() throws -> [LinkPair] {
        let reader = try store.beginRead()
        defer { reader.end() }
        var result: [LinkPair] = []
        try reader.links(0, side: .owner, keys: nil) { result += $0 }
        return result
    }
}

/// References of files lead where their values say, in every store.
@Suite struct ReferenceLoadTests {
    private static let tree = "[{\"file\": \"n.csv\", \"entity\": \"Node\", \"relationships\": {\"up\": {\"id\": \"parent\"}}}]"

    private func tree(_ type: ValueType = .string) throws -> Schema {
        try Schema(entities: [
            Entity("Node", attributes: [Attribute("id", type)], relationships: [Relationship("up", to: "Node")])
        ])
    }

    @Test(arguments: TestStore.all) func aReferenceIsResolvedToLaterRows(_ kind: TestStore) throws {
        let files = try Files(tree(), kind)
        defer { files.close() }
        let report = try files.load(Self.tree, ["n.csv": "id,parent\na,b\nb,\nc,a\n"])
        #expect(report.dangling.map(\.unresolved) == [0])
        #expect(try files.values("Node", "id", where: "up.id == 'b'") == [.string("a")])
        #expect(try files.values("Node", "id", where: "up.id == 'a'") == [.string("c")])
    }

    @Test(arguments: TestStore.all) func aReferenceIsResolvedToObjectsOfTheStore(_ kind: TestStore) throws {
        let files = try Files(tree(), kind)
        defer { files.close() }
        try files.load(Self.tree, ["n.csv": "id,parent\na,\n"])
        let report = try files.load(Self.tree, ["n.csv": "id,parent\nb,a\nc,x\n"])
        #expect(report.dangling.map(\.unresolved) == [1])
        #expect(try files.values("Node", "id", where: "up.id == 'a'") == [.string("b")])
    }

    @Test func textsThatDifferInTheirBytesAreDifferentKeys() throws {
        let files = try Files(tree(), .memory)
        defer { files.close() }
        try files.load(Self.tree, ["n.csv": "id,parent\n\u{e9},\ne\u{301},\nx,\u{e9}\ny,e\u{301}\n"])
        #expect(try files.values("Node", "id", where: "up.id == '\u{e9}'") == [.string("x")])
        #expect(try files.values("Node", "id", where: "up.id == 'e\u{301}'") == [.string("y")])
    }

    @Test func aReferenceIsFoundByItsValueNotByItsText() throws {
        let files = try Files(tree(.int64), .memory)
        defer { files.close() }
        let report = try files.load(Self.tree, ["n.csv": "id,parent\n1,\n2,01\n"])
        #expect(report.dangling.map(\.unresolved) == [0])
        #expect(try files.values("Node", "id", where: "up.id == 1") == [.int(2)])
        #expect(
            files.message(Self.tree, ["n.csv": "id,parent\n3,one\n"])
                == "n.csv, line 2, column \"parent\": \"one\" is no value of type int64; expected digits within its range, the type of Node.id"
        )
    }

    @Test(arguments: TestStore.all) func aReferenceToSeveralObjectsIsRefused(_ kind: TestStore) throws {
        let files = try Files(tree(), kind)
        defer { files.close() }
        #expect(files.message(Self.tree, ["n.csv": "id,parent\na,\na,\nb,b\n"]) == "loaded [3]")
        let expected =
            "n.csv, line 2, column \"parent\": Node.up is ambiguous: several objects of Node have these values"
        #expect(files.message(Self.tree, ["n.csv": "id,parent\nc,a\n"]) == expected)
        #expect(files.message(Self.tree, ["n.csv": "id,parent\nd,b\nb,\n"]).contains("Node.up is ambiguous"))
        #expect(try files.values("Node", "id").count == 3)
    }

    @Test func aReferenceIsResolvedToObjectsOfSubEntities() throws {
        let schema = try Schema(entities: [
            Entity("Being", isAbstract: true, attributes: [Attribute("name", .string)]), Entity("Cat", parent: "Being"),
            Entity("Note", attributes: [Attribute("text", .string)], relationships: [Relationship("of", to: "Being")]),
        ])
        let files = try Files(schema, .memory)
        defer { files.close() }
        let mapping = """
            [{"file": "n.csv", "entity": "Note", "relationships": {"of": {"name": "who"}}}, {"file": "c.csv", "entity": "Cat"}]
            """
        let report = try files.load(mapping, ["n.csv": "text,who\nx,Tom\n", "c.csv": "name\nTom\n"])
        #expect(report.dangling.map(\.unresolved) == [0])
        #expect(files.message("[{\"file\": \"b.csv\", \"entity\": \"Being\"}]", ["b.csv": "name\nx\n"]).contains("Being is abstract"))
    }

    // MARK: Both ends

    @Test(arguments: TestStore.all) func aOneToOneHasBothEnds(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity("Car", attributes: [Attribute("sign", .string)], relationships: [Relationship("driver", to: "Person", inverse: "car")]),
            Entity("Person", attributes: [Attribute("name", .string)], relationships: [Relationship("car", to: "Car", inverse: "driver")]),
        ])
        let files = try Files(schema, kind)
        defer { files.close() }
        let people = "{\"file\": \"p.csv\", \"entity\": \"Person\"}"
        let cars = "{\"file\": \"c.csv\", \"entity\": \"Car\", \"relationships\": {\"driver\": {\"name\": \"driver\"}}}"
        try files.load("[\(people)]", ["p.csv": "name\nold\n"])
        try files.load("[\(cars), \(people)]", ["c.csv": "sign,driver\nA,new\nB,old\n", "p.csv": "name\nnew\nnone\n"])
        #expect(try files.values("Person", "name", where: "car.sign == 'A'") == [.string("new")])
        #expect(try files.values("Person", "name", where: "car.sign == 'B'") == [.string("old")])
        #expect(try files.values("Person", "name", where: "car == nil") == [.string("none")])
        let twice = files.message("[\(cars)]", ["c.csv": "sign,driver\nC,none\nD,none\n"])
        #expect(
            twice == "c.csv, line 3, column \"driver\": Car.driver refers to an object that another object already refers to")
        let taken = files.message("[\(cars)]", ["c.csv": "sign,driver\nC,old\n"])
        #expect(
            taken.hasPrefix("c.csv, line 2: Person.car of object")
                && taken.hasSuffix("already refers to another object; nothing was loaded"))
        #expect(try files.values("Car", "sign").count == 2)
    }

    @Test(arguments: TestStore.all) func anOrderedToManyHasItsObjectsInTheOrderOfTheFile(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "List", attributes: [Attribute("name", .string)],
                relationships: [Relationship("items", to: "Item", .toManyOrdered, inverse: "list")]),
            Entity("Item", attributes: [Attribute("text", .string)], relationships: [Relationship("list", to: "List", inverse: "items")]),
        ])
        let files = try Files(schema, kind)
        defer { files.close() }
        let lists = "{\"file\": \"l.csv\", \"entity\": \"List\"}"
        let items = "{\"file\": \"i.csv\", \"entity\": \"Item\", \"relationships\": {\"list\": {\"name\": \"list\"}}}"
        try files.load("[\(lists), \(items)]", ["l.csv": "name\na\nb\n", "i.csv": "text,list\n1,a\n2,b\n3,a\n"])
        try files.load("[\(items)]", ["i.csv": "text,list\n4,a\n"])
        let links = try files.links()
        let texts = try Dictionary(
            uniqueKeysWithValues: zip(
                files.keys("Item"), files.values("Item", "text")))
        let owner = try #require(files.keys("List").first)
        #expect(links.filter { $0.owner == owner }.map { texts[$0.member] } == [.string("1"), .string("3"), .string("4")])
        #expect(links.count == 4)
    }
}

extension Files {
    /// The keys of the objects of an entity.
    func keys(_ entity: String) throws -> [Int64] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let cursor = try reader.cursor(for: ObjectRequest(entity).plan(in: store.schema)), batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) { keys += (0..<batch.count).map { batch.key($0) } }
        return keys
    }
}
