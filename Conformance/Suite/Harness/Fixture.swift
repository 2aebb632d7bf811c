internal import Foundation
internal import PolystoreStorage

/// The schema of the suite, and the rows for which the expected answers were determined by hand.
enum Fixture {
    static let schema: Schema = {
        let optional: [(String, ValueType)] = [
            ("number", .int64), ("small", .int16), ("medium", .int32), ("real", .double), ("single", .float), ("price", .decimal),
            ("text", .string), ("flag", .bool), ("at", .date), ("uid", .uuid), ("bytes", .data), ("link", .url), ("code", .string),
            ("memo", .string),
        ]
        let thing = Entity(
            "Thing", attributes: optional.map { Attribute($0.0, $0.1, isOptional: true) },
            relationships: [
                Relationship("parent", to: "Thing", inverse: "children"),
                Relationship("children", to: "Thing", .toMany, inverse: "parent"),
                Relationship("holders", to: "Holder", .toMany, inverse: "thing"),
                Relationship("tags", to: "Tag", .toMany, inverse: "things"),
            ],
            indexes: [
                Index(["number"]), Index(["text"]), Index(["text", "number"]), Index(["flag", "real"]), Index(["small", "text", "number"]),
                Index(["price"]), Index(["at"]),
            ], uniqueConstraints: [UniqueConstraint(["code"])])
        let holder = Entity(
            "Holder", attributes: [Attribute("label", .string, isOptional: true)],
            relationships: [Relationship("thing", to: "Thing", inverse: "holders")])
        let tag = Entity(
            "Tag", attributes: [Attribute("name", .string, isOptional: true)],
            relationships: [Relationship("things", to: "Thing", .toMany, inverse: "tags")])
        let list = Entity("Playlist", relationships: [Relationship("items", to: "Thing", .toManyOrdered)])
        let plant = Entity("Plant", isAbstract: true, attributes: [Attribute("name", .string, isOptional: true)])
        let tree = Entity("Tree", parent: "Plant", attributes: [Attribute("height", .int64, isOptional: true)])
        let flower = Entity("Flower", parent: "Plant", attributes: [Attribute("color", .string, isOptional: true)])
        let pair = Entity(
            "Pair", attributes: [Attribute("first", .int64, isOptional: true), Attribute("second", .string, isOptional: true)],
            uniqueConstraints: [UniqueConstraint(["first", "second"])])
        do { return try Schema(entities: [thing, holder, tag, list, plant, tree, flower, pair]) } catch { return .empty }
    }()

    static let composed = "caf\u{e9}", decomposed = "cafe\u{301}"

    private static func decimal(_ text: String) -> Value { Decimal(string: text).map(Value.decimal) ?? .null }

    /// Eight things, with nil for names that are missing. 2, 3 and 4 are children of 1; 5 and 6 are children of 2.
    static let things: [(Int64, [String: Value])] = attributes.map { key, values in
        let parents: [Int64: Int64] = [2: 1, 3: 1, 4: 1, 5: 2, 6: 2]
        return (key, parents[key].map { values.merging(["parent": .int($0)]) { own, _ in own } } ?? values)
    }

    private static let attributes: [(Int64, [String: Value])] = [
        (1, ["number": .int(1), "real": .double(1.5), "text": .string("apple"), "flag": .bool(true), "price": decimal("1.1")]),
        (2, ["number": .int(2), "text": .string("Banana"), "flag": .bool(false), "price": decimal("1.10")]),
        (3, ["real": .double(-2.25)]),
        (4, ["number": .int(-7), "real": .double(0), "text": .string(""), "flag": .bool(true), "price": decimal("-0.5")]),
        (
            5,
            [
                "number": .int(2), "real": .double(1e300), "text": .string("50%_off\\x"),
                "price": decimal("12345678901234567890123456789012345678"),
            ]
        ),
        (
            6,
            [
                "number": .int(9_007_199_254_740_993), "real": .double(.infinity), "text": .string(composed), "flag": .bool(false),
                "price": decimal("0"),
            ]
        ),
        (7, ["number": .int(.min), "real": .double(-.infinity), "text": .string(decomposed), "flag": .bool(true)]),
        (8, ["number": .int(.max), "real": .double(2.5), "text": .string("apple pie"), "price": decimal("0.0000001")]),
    ]

    /// A holder of each thing, 101 to 108, and one without a thing, 109.
    static let holders: [(Int64, [String: Value])] =
        (1...8).map { (100 + $0, ["label": .string("h\($0)"), "thing": .int($0)]) } + [(109, ["label": .string("h9")])]

    /// Three tags.
    static let tags: [(Int64, [String: Value])] = [(201, ["name": .string("red")]), (202, ["name": .string("blue")]), (203, [:])]

    /// The pairs of things and tags.
    static let tagged: [(thing: Int64, tag: Int64)] = [(1, 201), (1, 202), (2, 202), (4, 203), (8, 201)]

    static func fill(_ scratch: Scratch) throws {
        try scratch.load("Thing", things)
        try scratch.load("Holder", holders)
        try scratch.load("Tag", tags)
        try scratch.write { try $0.load(link: tagLink, tagged.map(pair)) }
    }

    /// The position of the link table of things and tags.
    static let tagLink = schema.links.firstIndex { Set([$0.ownerRelationship, $0.memberRelationship]) == ["tags", "things"] } ?? 0

    /// Returns the pair of a thing and a tag.
    static func pair(_ thing: Int64, _ tag: Int64) -> LinkPair {
        schema.entities[schema.links[tagLink].owner].name == "Thing"
            ? LinkPair(owner: thing, member: tag) : LinkPair(owner: tag, member: thing)
    }
}
