import Foundation
import Polystore
import Synchronization
import TestStores
import Testing

/// A model that was drawn in Xcode goes on in Swift: stores of its first version come to a third that is declared in code.
@Suite struct XcodeHistoryTests {
    /// Items on shelves, in order, with tags.
    private static let first = """
        <entity name="Item" representedClassName="Item" isAbstract="YES" syncable="YES" codeGenerationType="class">
            <attribute name="name" attributeType="String" defaultValueString=""/>
            <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="0.0"/>
            <attribute name="added" attributeType="Date" defaultDateTimeInterval="0" usesScalarValueType="NO"/>
            <attribute name="code" optional="YES" attributeType="UUID" usesScalarValueType="NO"/>
            <relationship name="shelf" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Shelf" inverseName="items" inverseEntity="Shelf"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="items" inverseEntity="Tag"/>
        </entity>
        <entity name="Book" representedClassName="Book" parentEntity="Item" syncable="YES" codeGenerationType="class">
            <attribute name="pages" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES"/>
            <attribute name="page" optional="YES" attributeType="URI"/>
        </entity>
        <entity name="Toy" representedClassName="Toy" parentEntity="Item" syncable="YES" codeGenerationType="class">
            <attribute name="weight" optional="YES" attributeType="Float" usesScalarValueType="YES"/>
            <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        </entity>
        <entity name="Shelf" representedClassName="Shelf" syncable="YES" codeGenerationType="class">
            <attribute name="title" attributeType="String"/>
            <relationship name="items" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" destinationEntity="Item" inverseName="shelf" inverseEntity="Item"/>
        </entity>
        <entity name="Tag" representedClassName="Tag" syncable="YES" codeGenerationType="class">
            <attribute name="label" attributeType="String"/>
            <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item" inverseName="tags" inverseEntity="Item"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="label"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        """

    /// Shelves are racks now, the price is called cost, books have many pages, and items a stock.
    private static let second =
        first
        .replacingOccurrences(of: "<entity name=\"Shelf\"", with: "<entity name=\"Rack\" elementID=\"Shelf\"")
        .replacingOccurrences(of: "destinationEntity=\"Shelf\"", with: "destinationEntity=\"Rack\"")
        .replacingOccurrences(of: "inverseEntity=\"Shelf\"", with: "inverseEntity=\"Rack\"")
        .replacingOccurrences(
            of: "<attribute name=\"price\"",
            with:
                "<attribute name=\"stock\" attributeType=\"Integer 32\" defaultValueString=\"5\"/><attribute name=\"cost\" elementID=\"price\""
        )
        .replacingOccurrences(of: "name=\"pages\" attributeType=\"Integer 16\"", with: "name=\"pages\" attributeType=\"Integer 64\"")
        .replacingOccurrences(
            of: "<attribute name=\"title\" attributeType=\"String\"/>",
            with: "<attribute name=\"sign\" elementID=\"title\" attributeType=\"String\"/>"
        )

    /// In Swift toys have lost their weight, tags became labels, pages may have halves, and items can be rare.
    private static func third() throws -> Schema {
        try Schema(
            version: "3",
            entities: [
                Entity(
                    "Item", isAbstract: true,
                    attributes: [
                        Attribute("name", .string, defaultValue: .string("")), Attribute("cost", .decimal, isOptional: true),
                        Attribute("stock", .int64, defaultValue: .int(5)), Attribute("since", .date, originalName: "added"),
                        Attribute("code", .uuid, isOptional: true), Attribute("isRare", .bool, defaultValue: .bool(true)),
                    ],
                    relationships: [
                        Relationship("rack", to: "Rack", inverse: "items", originalName: "shelf"),
                        Relationship("labels", to: "Label", .toMany, inverse: "items", originalName: "tags"),
                    ], indexes: [Index(["cost"])]),
                Entity(
                    "Book", parent: "Item",
                    attributes: [Attribute("pages", .decimal, defaultValue: .decimal(0)), Attribute("page", .url, isOptional: true)]),
                Entity("Toy", parent: "Item", attributes: [Attribute("photo", .data, isOptional: true)]),
                Entity(
                    "Rack", attributes: [Attribute("sign", .string)],
                    relationships: [Relationship("items", to: "Item", .toManyOrdered, inverse: "rack", deleteRule: .cascade)]),
                Entity(
                    "Label", attributes: [Attribute("label", .string)],
                    relationships: [Relationship("items", to: "Item", .toMany, inverse: "labels")],
                    uniqueConstraints: [UniqueConstraint(["label"])], originalName: "Tag"),
            ])
    }

    /// The three versions; the first two are read from a folder as Xcode lays it out.
    private static func history() throws -> SchemaHistory {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-xcode-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appendingPathComponent("Shop.xcdatamodeld")
        for (name, body) in [("Shop", first), ("Shop 2", second)] {
            let version = model.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            let text =
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model type=\"com.apple.IDECoreDataModeler.DataModel\">\n\(body)\n</model>"
            try text.write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let drawn = try XcodeDataModel(contentsOf: model)
        var history = try SchemaHistory(
            drawn.version("Shop").schema, drawn.version("Shop 2").schema, third(), migrationChain: ["Shop", "Shop 2", "3"])
        history.acceptedLosses = ["Toy.weight"]
        history.backsUpFiles = false
        return history
    }

    // MARK: Data

    private static let id = UUID(uuidString: "8D7B4A0E-0A63-4A3F-9C9E-1F0F4B8C2D11")

    private static func fill(_ transaction: WriteTransaction) throws {
        func create(_ entity: String, _ values: [String: Value]) throws -> DynamicObject {
            let object = try transaction.create(Into<DynamicObject>(entity: entity))
            for (name, value) in values { try object.setValue(value, for: name) }
            return object
        }
        let price = try #require(Decimal(string: "12.50")), id = try #require(id)
        let low = try create("Book", ["name": .string("Low"), "price": .decimal(price), "added": .date(-1), "pages": .int(32_767)])
        let high = try create("Book", ["name": .string("High"), "page": .string("https://example.org/?a=1&b=2"), "code": .uuid(id)])
        let bear = try create("Toy", ["name": .string("Bär"), "photo": .data(Data([0, 255])), "weight": .double(0.5)])
        let empty = try create("Shelf", ["title": .string("empty")]), full = try create("Shelf", ["title": .string("full")])
        try full.setObjects([bear, low, high], for: "items")
        try empty.setObjects([DynamicObject](), for: "items")
        let old = try create("Tag", ["label": .string("old")]), red = try create("Tag", ["label": .string("red")])
        try low.setObjects([old, red], for: "tags")
        try bear.setObjects([red], for: "tags")
    }

    /// Everything that is there in the third version, as lines.
    private static func contents(_ source: some FetchSource) throws -> [String] {
        func all(_ entity: String) throws -> [DynamicObject] { try source.fetchAll(From<DynamicObject>(entity: entity)) }
        func names(_ object: DynamicObject, _ relationship: String, _ name: String) throws -> [String] {
            try object.objects(relationship).map { try (($0 as? DynamicObject)?.value(name) ?? .null).typed }
        }
        var lines: [String] = []
        for item in try all("Item") {
            let attributes = item.entityName == "Book" ? ["pages", "page"] : ["photo"]
            let values = try (["name", "cost", "stock", "since", "code", "isRare"] + attributes).map { try item.value($0).typed }
            let rack = try ((item.object("rack") as? DynamicObject)?.value("sign") ?? .null).typed
            let labels = try names(item, "labels", "label").sorted()
            lines.append("\(item.entityName) \(values.joined(separator: " ")) in \(rack) with \(labels.joined(separator: " "))")
        }
        for rack in try all("Rack") { lines.append("Rack \(try rack.value("sign").typed) \(try names(rack, "items", "name"))") }
        for label in try all("Label") {
            lines.append("Label \(try label.value("label").typed) \(try names(label, "items", "name").sorted())")
        }
        return lines
    }

    /// 2001-01-01 is 978,307,200 seconds after 1970, and the default of a date there.
    private static let expected = [
        #"Book string("Low") decimal(12.5) int(5) date(-1) null bool(true) decimal(32767) null in string("full") with string("old") string("red")"#,
        "Book string(\"High\") decimal(0) int(5) date(978307200000000) uuid(8D7B4A0E-0A63-4A3F-9C9E-1F0F4B8C2D11) bool(true) decimal(0) "
            + #"string("https://example.org/?a=1&b=2") in string("full") with "#,
        #"Toy string("Bär") decimal(0) int(5) date(978307200000000) null bool(true) data(2 bytes) in string("full") with string("red")"#,
        #"Rack string("empty") []"#, #"Rack string("full") ["string(\"Bär\")", "string(\"Low\")", "string(\"High\")"]"#,
        #"Label string("old") ["string(\"Low\")"]"#, #"Label string("red") ["string(\"Bär\")", "string(\"Low\")"]"#,
    ]

    @Test(arguments: TestStore.all) func aStoreOfTheFirstXcodeVersionMigratesToTheSwiftVersion(_ kind: TestStore) async throws {
        var history = try Self.history()
        #expect(history.schemas.map(\.version) == ["Shop", "Shop 2", "3"])
        let store = kind.make(), seen = Mutex<[String]>([])
        defer { try? store.erase() }
        let first = try DataStack(schema: history.schemas[0])
        try first.addStorageAndWait(store)
        try first.perform(synchronous: { try Self.fill($0) })
        // What is in memory is looked at before the store is closed.
        history.stages = [
            MigrationStage(
                from: "Shop 2", to: "3",
                postMigration: { context in
                    try context.perform { transaction in
                        let lines = try Self.contents(transaction)
                        seen.withLock { $0 = lines }
                    }
                })
        ]
        let state = StorageState(storeID: UUID(), schema: history.schemas[0], formatVersion: 1, wasCreated: false)
        let steps = try MigrationRunner(history, OpenStore(store, state)).run()
        #expect(
            steps == [
                .lightweight(sourceVersion: "Shop", destinationVersion: "Shop 2"),
                .heavyweight(sourceVersion: "Shop 2", destinationVersion: "3"),
            ])
        #expect(seen.withLock { $0 } == Self.expected)
        try first.removeStorage(store)
        if kind == .memory { return }
        let stack = try DataStack(schemaHistory: history)
        try stack.addStorageAndWait(store)
        #expect(try stack.read(synchronous: { try Self.contents($0) }) == Self.expected)
        #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Label")).setValue(.string("red"), for: "label") })
        }
        try stack.perform(synchronous: { transaction in
            let rack = try #require(try transaction.fetchAll(From<DynamicObject>(entity: "Rack")).last)
            try transaction.delete(rack)
        })
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Item")) == 0)
        try stack.removeStorage(store)
    }
}
