import Foundation
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Transfers of a part of the objects, and into targets with objects.
///
/// The source: authors 1 to 3; books 1 to 4 of the authors 1, 1, 2 and none, with genres; a comic, 1025, of author 3 which continues book 4.
@Suite struct TransferSelectionTests {
    private let schema: Schema
    private let source: OpenStore

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Author", attributes: [Attribute("name", .string)],
                relationships: [Relationship("books", to: "Book", .toMany, inverse: "author")]),
            Entity(
                "Book", attributes: [Attribute("title", .string), Attribute("pages", .int64, isOptional: true)],
                relationships: [
                    Relationship("author", to: "Author", inverse: "books"), Relationship("before", to: "Book"),
                    Relationship("genres", to: "Genre", .toManyOrdered, inverse: "books"),
                ], uniqueConstraints: [UniqueConstraint(["title"])]),
            Entity("Comic", parent: "Book", attributes: [Attribute("ink", .string, isOptional: true)]),
            Entity(
                "Genre", attributes: [Attribute("name", .string)],
                relationships: [Relationship("books", to: "Book", .toMany, inverse: "genres")]),
        ])
        source = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        try load(
            source,
            """
            {"files": [{"file": "authors", "entity": "Author"}, {"file": "genres", "entity": "Genre"},
              {"file": "books", "entity": "Book", "relationships": {"author": {"name": "author"}, "genres": {"name": "genres"}}, "separator": "|"},
              {"file": "comics", "entity": "Comic", "relationships": {"author": {"name": "author"}, "before": {"title": "before"}}}]}
            """,
            [
                "authors": "name\nann\nbob\ncid\n", "genres": "name\nfun\nwar\nart\n",
                "books": "title,pages,author,genres\none,10,ann,fun|war\ntwo,20,ann,war\nthree,30,bob,\nfour,,,art|fun\n",
                "comics": "title,pages,author,before\nfive,50,cid,four\n",
            ])
    }

    private func load(_ store: OpenStore, _ mapping: String, _ files: [String: String]) throws {
        _ = try FileLoader.load(LoadMapping(json: Data(mapping.utf8)), into: store) { name in
            FileBlocks(Data((files[name] ?? "").utf8))
        }
    }

    private func target() throws -> OpenStore { try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema)) }

    private func options(_ change: (inout TransferOptions) throws -> Void) rethrows -> TransferOptions {
        var options = TransferOptions()
        try change(&options)
        return options
    }

    /// Returns a line for each object, and for each pair of books and genres.
    private func contents(_ store: OpenStore) throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        var lines: [String] = []
        for root in schema.roots {
            let cursor = try reader.cursor(for: FetchPlan(schema, root)), batch = RowBatch()
            while try cursor.next(into: batch) {
                for index in 0..<batch.count {
                    let row = batch.row(index), slots = schema[row.entity].slots
                    let values = slots.indices.map { Value(row[$0], as: slots[$0].type).map(Self.text) ?? "?" }
                    lines.append("\(schema.entities[row.entity].name) \(row.key): \(values.joined(separator: " "))")
                }
            }
        }
        try reader.links(0, side: .owner, keys: nil) { pairs in lines += pairs.map { "\($0.owner)-\($0.member)" } }
        return lines
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "-"
        case .int(let number): "\(number)"
        case .string(let text): text
        default: "\(value)"
        }
    }

    private func check(_ store: OpenStore) throws {
        var findings: [CheckFinding] = []
        try TransferEngine().check(store) { findings.append($0) }
        #expect(findings.isEmpty)
    }

    @Test func aPartIsCopiedWithTheObjectsItRefersTo() throws {
        let target = try target()
        let report = try TransferEngine().transfer(
            from: source, to: target,
            try options {
                $0.selection.only = ["Book", "Genre"]
                $0.selection.conditions = [
                    "Book": try QueryPredicate(parsing: "pages >= 20"), "Genre": try QueryPredicate(parsing: "name == 'war'"),
                ]
                $0.selection.followsReferences = true
            })
        // Books two, three and five; their authors; four, which five continues, and which has no author.
        #expect(
            try contents(target) == [
                "Author 1: ann", "Author 2: bob", "Author 3: cid", "Book 2: two 20 1 -", "Book 3: three 30 2 -", "Book 4: four - - -",
                "Comic 1025: five 50 3 4 -", "Genre 2: war", "2-2",
            ])
        // Four has two genres, and war has another book. So has ann.
        #expect(report.omittedMembers == ["Book.genres": 3, "Author.books": 1] && report.removedReferences.isEmpty)
        try check(target)
    }

    @Test func membersThatAreNotCopiedAreCounted() throws {
        let options = options { $0.selection.only = ["Author"] }, target = try target()
        let reader = try source.beginRead()
        defer { reader.end() }
        let plan = try TransferPlan(reader, to: nil, options, nil) { _ in }
        let report = try TransferEngine().transfer(from: source, to: target, options)
        #expect(report.omittedMembers == ["Author.books": 4] && plan.omittedMembers == report.omittedMembers)
        // In a target that has them they remain members.
        var merging = options
        merging.existing = .merge
        let whole = try self.target()
        _ = try TransferEngine().transfer(from: source, to: whole, TransferOptions())
        #expect(try TransferEngine().transfer(from: source, to: whole, merging).omittedMembers.isEmpty)
    }

    @Test func referencesToWhatIsNotCopiedAreRefusedOrRemoved() throws {
        let target = try target(), selection = options { $0.selection.except = ["Author"] }
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, selection) }
        #expect(error?.code == .dataLossRefused)
        #expect(error?.message.hasPrefix("Book.author of 3 objects, Comic.author of 1 objects would become nil") == true)
        #expect(try contents(target).isEmpty)
        var accepting = selection
        accepting.acceptedLosses = ["Book.author", "Comic.author"]
        let report = try TransferEngine().transfer(from: source, to: target, accepting)
        #expect(report.removedReferences == ["Book.author": 3, "Comic.author": 1])
        #expect(
            try contents(target).prefix(5) == [
                "Book 1: one 10 - -", "Book 2: two 20 - -", "Book 3: three 30 - -", "Book 4: four - - -", "Comic 1025: five 50 - 4 -",
            ])
        try check(target)
    }

    /// Orders with their items and with codes, of which each order needs two.
    @Test(arguments: TestStore.all) func tooFewMembersAreRefusedOrAccepted(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Order", attributes: [Attribute("number", .int64)],
                relationships: [
                    Relationship("items", to: "Item", .toManyOrdered, inverse: "order", minCount: 2),
                    Relationship("codes", to: "Code", .toMany, isOptional: false, inverse: "orders"),
                ]),
            Entity("Item", attributes: [Attribute("size", .int64)], relationships: [Relationship("order", to: "Order", inverse: "items")]),
            Entity(
                "Code", attributes: [Attribute("name", .string)],
                relationships: [Relationship("orders", to: "Order", .toMany, inverse: "codes")]),
        ])
        let source = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let mapping = """
            {"files": [{"file": "orders", "entity": "Order", "relationships": {"codes": {"name": "codes"}}, "separator": "|"},
              {"file": "items", "entity": "Item", "relationships": {"order": {"number": "order"}}}, {"file": "codes", "entity": "Code"}]}
            """
        try load(
            source, mapping,
            [
                "orders": "number,codes\n1,a\n2,a|b\n3,b\n", "items": "size,order\n1,1\n1,1\n9,1\n1,2\n9,2\n1,3\n1,3\n9,\n",
                "codes": "name\na\nb\n",
            ])
        func target() throws -> OpenStore { try OpenStore(opening: kind.make(), OpenRequest(schema: schema)) }
        func refusal(_ options: TransferOptions) throws -> String? {
            let target = try target()
            defer { try? target.erase() }
            do throws(StorageError) { _ = try TransferEngine().transfer(from: source, to: target, options) } catch {
                #expect(error.code == .dataLossRefused)
                return error.message
            }
            return nil
        }
        // Order 1 keeps two of its three items, order 2 one of two.
        let small = try options { $0.selection.conditions["Item"] = try QueryPredicate(parsing: "size < 9") }
        #expect(
            try refusal(small)
                == "1 objects would have fewer than the 2 members that Order.items must have, because the others are not copied; copy these as well, or accept the loss with --accept-loss 'Order.items'"
        )
        let code = try options { $0.selection.conditions["Code"] = try QueryPredicate(parsing: "name == 'a'") }
        #expect(try refusal(code)?.hasPrefix("1 objects would have fewer than the 1 members that Order.codes must have") == true)
        // Objects that are not copied need no members.
        let one = try options {
            $0.selection.conditions["Item"] = try QueryPredicate(parsing: "order.number == 1 AND size < 9")
            $0.selection.conditions["Order"] = try QueryPredicate(parsing: "number == 1")
        }
        #expect(try refusal(one) == nil)
        var accepted = small
        accepted.acceptedLosses = ["Order.items"]
        let copy = try target()
        defer { try? copy.erase() }
        _ = try TransferEngine().transfer(from: source, to: copy, accepted)
        var findings: [String] = []
        try TransferEngine().check(copy) { findings.append($0.description) }
        #expect(findings == ["Order.items of object 2: must have at least 2 objects"])
        // A merge is refused by what it would leave, apart from what the target had before.
        var merging = options { $0.selection.only = ["Order"] }
        merging.existing = .merge
        _ = try TransferEngine().transfer(from: source, to: copy, merging)
        for renames in [[:], ["Order": "Purchase"]] {
            merging.mapping = TransferMapping(renames: renames)
            merging.acceptedLosses = []
            let other = try OpenStore(opening: kind.make(), OpenRequest(schema: merging.mapping.schema(for: schema)))
            defer { try? other.erase() }
            var first = options { $0.selection.only = ["Code"] }
            first.mapping = merging.mapping
            _ = try TransferEngine().transfer(from: source, to: other, first)
            let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: other, merging) }
            #expect(
                error?.code == .validationFailed
                    && error?.message.hasSuffix("\(renames["Order"] ?? "Order").items of object 1 must have at least 2 objects") == true)
            merging.acceptedLosses = ["Order.items"]
            _ = try TransferEngine().transfer(from: source, to: other, merging)
        }
    }

    @Test func aSubentityIsChosenAlone() throws {
        let target = try target()
        _ = try TransferEngine().transfer(
            from: source, to: target,
            options {
                $0.selection.only = ["Comic"]
                $0.selection.followsReferences = true
            })
        #expect(try contents(target) == ["Author 3: cid", "Book 4: four - - -", "Comic 1025: five 50 3 4 -"])
    }

    @Test func unknownNamesAndUselessConditionsAreRefused() throws {
        let target = try target()
        func message(_ change: (inout TransferOptions) throws -> Void) rethrows -> String? {
            let chosen = try options(change)
            return #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, chosen) }?.message
        }
        #expect(message { $0.selection.only = ["Bok"] } == "the source has no entity \"Bok\"; did you mean \"Book\"?")
        let unused = try message {
            $0.selection.except = ["Genre"]
            $0.selection.conditions = ["Genre": try QueryPredicate(parsing: "name == 'x'")]
        }
        #expect(unused == "there is a condition for Genre, whose objects are not copied")
        let unknown = try message { $0.selection.conditions = ["Book": try QueryPredicate(parsing: "page == 1")] }
        #expect(unknown?.hasPrefix("the condition for Book: ") == true && unknown?.contains("pages") == true, "\(unknown ?? "")")
    }

    /// Objects that exist in the target: author 1 with another name, author 9, book 4 with other genres, book 9 of author 9.
    private func filled() throws -> OpenStore {
        let store = try target(), writer = try store.beginWrite()
        let all = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        try load(
            all,
            """
            {"files": [{"file": "authors", "entity": "Author"}, {"file": "genres", "entity": "Genre"},
              {"file": "books", "entity": "Book", "relationships": {"author": {"name": "author"}, "genres": {"name": "genres"}}, "separator": "|"}]}
            """,
            [
                "authors": "name\nold\n2\n3\n4\n5\n6\n7\n8\nnew\n", "genres": "name\nfun\nwar\n",
                "books": "title,pages,author,genres\n1,,,\n2,,,\n3,,,\nfour,4,old,war|fun\n5,,,\n6,,,\n7,,,\n8,,,\nnine,9,new,fun\n",
            ])
        writer.end()
        _ = try TransferEngine().transfer(
            from: all, to: store,
            try options {
                $0.selection.conditions = [
                    "Author": try QueryPredicate(parsing: "name IN {'old', 'new'}"), "Book": try QueryPredicate(parsing: "pages > 0"),
                ]
            })
        return store
    }

    @Test func mergingUpdatesAddsAndKeeps() throws {
        let target = try filled()
        #expect(
            try contents(target) == [
                "Author 1: old", "Author 9: new", "Book 4: four 4 1 -", "Book 9: nine 9 9 -", "Genre 1: fun", "Genre 2: war", "4-2", "4-1",
                "9-1",
            ])
        _ = try TransferEngine().transfer(from: source, to: target, options { $0.existing = .merge })
        #expect(
            try contents(target) == [
                "Author 1: ann", "Author 2: bob", "Author 3: cid", "Author 9: new", "Book 1: one 10 1 -", "Book 2: two 20 1 -",
                "Book 3: three 30 2 -", "Book 4: four - - -", "Book 9: nine 9 9 -", "Comic 1025: five 50 3 4 -", "Genre 1: fun",
                "Genre 2: war",
                "Genre 3: art", "1-1", "1-2", "2-2", "4-3", "4-1", "9-1",
            ])
        try check(target)
        // The history tells the changes, and a new object gets a key of its own.
        let reader = try target.beginRead()
        let entry = try #require(try reader.history(since: nil, limit: 10).last)
        reader.end()
        let authors = entry.changes.filter { $0.entity == 0 }
        #expect(authors.map(\.key).sorted() == [1, 2, 3])
        let writer = try target.beginWrite()
        defer { writer.end() }
        #expect(try writer.reserveKeys(0, count: 1).lowerBound > 9)
    }

    @Test func replacingLeavesExactlyTheSource() throws {
        let target = try filled()
        _ = try TransferEngine().transfer(from: source, to: target, options { $0.existing = .replace })
        #expect(try contents(target) == contents(source))
        #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
        try check(target)
        // Nothing is left to do, so the history has no further entry.
        func position() throws -> Int64? {
            let reader = try target.beginRead()
            defer { reader.end() }
            return try reader.currentToken()?.position
        }
        let before = try position()
        _ = try TransferEngine().transfer(from: source, to: target, options { $0.existing = .replace })
        #expect(try position() == before)
        let part = options {
            $0.existing = .replace
            $0.selection.only = ["Author"]
        }
        #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, part) }
    }

    @Test func appendingRefusesAnObjectThatExists() throws {
        let target = try filled(), before = try contents(target)
        let error = #expect(throws: StorageError.self) {
            try TransferEngine().transfer(from: source, to: target, options { $0.existing = .append })
        }
        #expect(error?.code == .alreadyExists && error?.details.keys == [1])
        #expect(try contents(target) == before)
        // Books 1 to 3 are new; author 2 is as well, and author 1 is in the target.
        let some = try options {
            $0.existing = .append
            $0.selection.only = ["Book", "Author"]
            $0.selection.conditions = [
                "Book": try QueryPredicate(parsing: "pages < 40"), "Author": try QueryPredicate(parsing: "name == 'bob'"),
            ]
        }
        _ = try TransferEngine().transfer(from: source, to: target, some)
        #expect(
            try contents(target) == [
                "Author 1: old", "Author 2: bob", "Author 9: new", "Book 1: one 10 1 -", "Book 2: two 20 1 -", "Book 3: three 30 2 -",
                "Book 4: four 4 1 -", "Book 9: nine 9 9 -", "Genre 1: fun", "Genre 2: war", "1-1", "1-2", "2-2", "4-2", "4-1", "9-1",
            ])
        try check(target)
    }

    @Test func aMergeThatViolatesAUniqueConstraintChangesNothing() throws {
        let target = try target()
        try load(target, #"{"files": [{"file": "books", "entity": "Book"}]}"#, ["books": "title,pages\na,1\nb,1\nc,1\nd,1\ne,1\none,1\n"])
        let before = try contents(target)
        let error = #expect(throws: StorageError.self) {
            try TransferEngine().transfer(from: source, to: target, options { $0.existing = .merge })
        }
        #expect(error?.code == .alreadyExists || error?.code == .uniqueConstraintViolated)
        #expect(try contents(target) == before)
    }
}
