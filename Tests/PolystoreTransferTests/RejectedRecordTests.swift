import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Loads that leave out the records that cannot be loaded.
@Suite struct RejectedRecordTests {
    private let schema: Schema
    private let store: OpenStore

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Part",
                attributes: [
                    Attribute("code", .string), Attribute("size", .int64, isOptional: true, rules: AttributeRules(maximum: .int(100))),
                ],
                relationships: [Relationship("whole", to: "Part", isOptional: false)], uniqueConstraints: [UniqueConstraint(["code"])])
        ])
        store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
    }

    private func mapping(on: [String]? = nil, _ name: String = "parts.csv") -> LoadMapping {
        var file = LoadMapping.file(name, entity: "Part")
        file.relationships = ["whole": ["code": "whole"]]
        file.on = on
        return LoadMapping(files: [file])
    }

    private func load(
        _ text: String, _ rejects: LoadRejects?, on: [String]? = nil, name: String = "parts.csv"
    ) throws -> LoadReport {
        try FileLoader.load(mapping(on: on, name), into: store, rejects: rejects) { _ in FileBlocks(Data(text.utf8)) }
    }

    private func codes() throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(schema, 0)), batch = RowBatch()
        var found: [String] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                if case .string(let code)? = Value(batch.row(index)[0], as: .string) { found.append(code) }
            }
        }
        return found
    }

    /// `a` is its own whole. What refers to a rejected record, directly or not, is rejected too.
    private let csv = """
        code,size,whole
        a,1,a
        b,large,a
        c,101,a
        "d,e",2,b
        f,3,"d,e"
        g,4
        a,5,a
        h,6,nowhere
        i,7,

        """
    private var good: String { "j,8,a\nk,9,j\n" }

    /// The friend of the first record has another one in the store, as only the end of a load shows.
    @Test(arguments: TestStore.all) func aRecordThatTheStoreContradictsIsRejected(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Person", attributes: [Attribute("name", .string)], relationships: [Relationship("friend", to: "Person", inverse: "friend")]
            )
        ])
        let store = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
        defer { try? store.erase() }
        var file = LoadMapping.file("people.csv", entity: "Person")
        file.relationships = ["friend": ["name": "friend"]]
        let mapping = LoadMapping(files: [file])
        func load(_ text: String, _ rejects: LoadRejects? = nil) throws -> LoadReport {
            try FileLoader.load(mapping, into: store, rejects: rejects) { _ in FileBlocks(Data("name,friend\n\(text)".utf8)) }
        }
        _ = try load("a,b\nb,\n")
        let error = #expect(throws: StorageError.self) { try load("c,b\nd,e\ne,\n") }
        #expect(
            error?.message
                == "people.csv, line 2: Person.friend of object 2, to which the record refers, already refers to another object; nothing was loaded"
        )
        let rejects = LoadRejects()
        #expect(try load("c,b\nd,e\ne,\nf,c\n", rejects).loaded.map(\.count) == [3])
        let rejected = rejects.records(ofFile: 0)
        #expect(rejected.map(\.line) == [2])
        #expect(rejected.allSatisfy { $0.reason.hasSuffix("already refers to another object") })
        var findings: [String] = []
        try TransferEngine().check(store) { findings.append($0.description) }
        #expect(findings.isEmpty, "\(findings)")
        let reader = try store.beginRead(), batch = RowBatch()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(schema, 0))
        var friends: [String] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                friends.append("\(Value(row[0], as: .string) ?? .null) \(row[1].isNull ? 0 : row[1].int - row.key)")
            }
        }
        #expect(friends.map { $0.suffix(2) } == [" 1", "-1", " 1", "-1", " 0"])
    }

    /// Records of people with a friend and a unique name.
    private func loadFriends(_ text: String, on: [String]? = nil, _ store: OpenStore) throws -> [Int] {
        var file = LoadMapping.file("people.csv", entity: "Person")
        file.relationships = ["friend": ["name": "friend"]]
        file.on = on
        let rejects = LoadRejects()
        _ = try FileLoader.load(LoadMapping(files: [file]), into: store, rejects: rejects) { _ in
            FileBlocks(Data("name,friend\n\(text)".utf8))
        }
        return rejects.records(ofFile: 0).map(\.line)
    }

    /// Of a chain every other record is left out, and only for a reason that holds at the end.
    @Test func recordsThatContradictEachOtherAreRejectedUntilNoneDoes() throws {
        let schema = try Schema(entities: [
            Entity(
                "Person", attributes: [Attribute("name", .string)],
                relationships: [Relationship("friend", to: "Person", inverse: "friend")],
                uniqueConstraints: [UniqueConstraint(["name"])])
        ])
        func store() throws -> OpenStore { try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema)) }
        #expect(try loadFriends("a,b\nb,c\nc,d\nd,\n", store()) == [3])
        #expect(try loadFriends("a,b\nb,c\nc,d\nd,e\ne,\n", store()) == [4])
        // The duplicate of a record that is left out is none.
        let known = try store()
        #expect(try loadFriends("a,b\nb,a\n", known).isEmpty)
        #expect(try loadFriends("c,b\nc,\n", known) == [2])
        // An object that is not updated stays as it is, and may be referred to.
        let updated = try store()
        #expect(try loadFriends("b,\nx,y\ny,x\n", updated).isEmpty)
        #expect(try loadFriends("c,b\nb,x\n", on: ["name"], updated) == [3])
        // Two updates that claim the same object; and the record with the reference is rejected, not the later one of the same object.
        let claimed = try store()
        #expect(try loadFriends("x,\ny,\nz,\n", claimed).isEmpty)
        #expect(try loadFriends("x,z\ny,z\n", on: ["name"], claimed) == [3])
        #expect(try loadFriends("y,x\ny,\n", on: ["name"], claimed).isEmpty)
        var findings: [String] = []
        for store in [known, updated, claimed] { try TransferEngine().check(store) { findings.append($0.description) } }
        #expect(findings.isEmpty)
    }

    /// Employees `e0` and so on with a locker of their number, and parking spots.
    private struct Lockers {
        let store: OpenStore
        private(set) var reads = 0

        init(_ count: Int, _ kind: TestStore = .memory) throws {
            let schema = try Schema(entities: [
                Entity(
                    "Employee", attributes: [Attribute("code", .string), Attribute("age", .int64, isOptional: true)],
                    relationships: [
                        Relationship("locker", to: "Locker", inverse: "owner"), Relationship("spot", to: "Spot", inverse: "owner"),
                    ], uniqueConstraints: [UniqueConstraint(["code"])]),
                Entity(
                    "Locker", attributes: [Attribute("number", .int64)],
                    relationships: [Relationship("owner", to: "Employee", inverse: "locker")]),
                Entity(
                    "Spot", attributes: [Attribute("number", .int64)],
                    relationships: [Relationship("owner", to: "Employee", inverse: "spot")]),
            ])
            store = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
            let numbers = "number\n" + (0..<count).map { "\($0)\n" }.joined()
            var employees = LoadMapping.file("2", entity: "Employee")
            employees.relationships = ["locker": ["number": "locker"], "spot": ["number": "spot"]]
            let files = [LoadMapping.file("0", entity: "Locker"), LoadMapping.file("1", entity: "Spot"), employees]
            let texts = [numbers, numbers, (0..<count).map { "{\"code\": \"e\($0)\", \"locker\": \($0)}\n" }.joined()]
            _ = try FileLoader.load(LoadMapping(files: files), into: store) { name in FileBlocks(Data(texts[Int(name) ?? 0].utf8)) }
        }

        /// Updates employees by files of their code and a reference. Returns the lines of the rejected records of each file, or nil without
        /// rejects.
        mutating func update(_ files: [(reference: String, text: String)], rejecting: Bool = true) throws -> [[Int]] {
            let rejects = rejecting ? LoadRejects() : nil,
                mapped = files.enumerated().map { index, item in
                    var file = LoadMapping.file("\(index)", entity: "Employee")
                    file.relationships = [item.reference: ["number": item.reference]]
                    file.on = ["code"]
                    return file
                }
            var reads = 0
            _ = try FileLoader.load(LoadMapping(files: mapped), into: store, rejects: rejects) { name in
                reads += 1
                return FileBlocks(Data(files[Int(name) ?? 0].text.utf8))
            }
            self.reads = reads
            var findings: [String] = []
            try TransferEngine().check(store) { findings.append($0.description) }
            #expect(findings.isEmpty, "\(findings)")
            return files.indices.map { rejects?.records(ofFile: $0).map(\.line) ?? [] }
        }

        /// Returns the number of a property, or of the object that it refers to, of an employee.
        func number(_ property: String, of code: String) throws -> Int? {
            let reader = try store.beginRead()
            defer { reader.end() }
            let path = property == "age" ? PropertyPath("age") : PropertyPath("\(property).number")
            let request = QueryRequest(
                ObjectRequest("Employee", where: .compare(.path(PropertyPath("code")), .equal, .value(.string(code)))),
                outputs: [QueryOutput(.path(path))])
            guard case .int(let number)? = try reader.values(for: request.plan(in: store.schema)).first?.first else { return nil }
            return Int(number)
        }
    }

    /// Each locker passes to the next employee; the last one is taken, so that all of them stay as they are, found in few passes.
    @Test(arguments: TestStore.all) func claimsThatDependOnEachOtherAreRejectedTogether(_ kind: TestStore) throws {
        var lockers = try Lockers(41, kind)
        defer { try? lockers.store.erase() }
        // A later record without a locker adds an age, which is kept.
        let text = (0..<40).map { "{\"code\": \"e\($0)\", \"locker\": \($0 + 1)}\n" }.joined() + "{\"code\": \"e0\", \"age\": 30}\n"
        #expect(try lockers.update([("locker", text)]) == [Array(1...40)])
        #expect(lockers.reads < 12)
        #expect(try lockers.number("age", of: "e0") == 30 && lockers.number("locker", of: "e7") == 7)
        // Without the one that is taken all move.
        let ring = (0..<41).map { "{\"code\": \"e\($0)\", \"locker\": \(($0 + 1) % 41)}\n" }.joined()
        #expect(try lockers.update([("locker", ring)]) == [[]])
        #expect(try lockers.number("locker", of: "e40") == 0)
    }

    @Test func aRecordIsRejectedOnlyForItsOwnReference() throws {
        var lockers = try Lockers(4)
        _ = try lockers.update([("spot", "{\"code\": \"e3\", \"spot\": 3}\n")])
        let first = "{\"code\": \"e0\", \"locker\": null}\n{\"code\": \"e1\", \"locker\": 0}\n"
        #expect(try lockers.update([("locker", first), ("spot", "{\"code\": \"e0\", \"spot\": 3}\n")]) == [[], [1]])
        #expect(try lockers.number("locker", of: "e1") == 0 && lockers.number("locker", of: "e0") == nil)
    }

    /// The first file says what the store has already.
    @Test(arguments: TestStore.all, [true, false])
    func aReferenceThatALaterFileChangesIsReleased(_ kind: TestStore, _ rejecting: Bool) throws {
        var lockers = try Lockers(3, kind)
        defer { try? lockers.store.erase() }
        _ = try lockers.update([("locker", "{\"code\": \"e1\", \"locker\": null}\n")])
        let files = [
            ("locker", "{\"code\": \"e0\", \"locker\": 0}\n"),
            ("locker", "{\"code\": \"e0\", \"locker\": 1}\n{\"code\": \"e1\", \"locker\": 0}\n"),
        ]
        #expect(try lockers.update(files, rejecting: rejecting) == [[], []])
        #expect(try lockers.number("locker", of: "e0") == 1 && lockers.number("locker", of: "e1") == 0)
    }

    /// `e0` takes the locker of `e1` and leaves it again, before `e1` leaves it.
    @Test(arguments: TestStore.all, [true, false]) func everyReleaseOfAnObjectCounts(_ kind: TestStore, _ rejecting: Bool) throws {
        var lockers = try Lockers(3, kind)
        defer { try? lockers.store.erase() }
        let files = [
            ("locker", "{\"code\": \"e0\", \"locker\": 1}\n"),
            ("locker", "{\"code\": \"e0\", \"locker\": 0}\n{\"code\": \"e1\", \"locker\": null}\n{\"code\": \"e2\", \"locker\": 1}\n"),
        ]
        #expect(try lockers.update(files, rejecting: rejecting) == [[], []])
        #expect(try lockers.number("locker", of: "e1") == nil && lockers.number("locker", of: "e2") == 1)
    }

    /// People with cards and buddies. Only the record whose own reference is taken is left out.
    @Test func aRecordIsJudgedByWhatItsOwnReferencesMeet() throws {
        let schema = try Schema(entities: [
            Entity("Card", attributes: [Attribute("name", .string)], relationships: [Relationship("owner", to: "Person", inverse: "card")]),
            Entity("Country", attributes: [Attribute("name", .string)]),
            Entity(
                "Person", attributes: [Attribute("name", .string)],
                relationships: [
                    Relationship("card", to: "Card", inverse: "owner"), Relationship("buddy", to: "Person", inverse: "buddy"),
                    Relationship("country", to: "Country", isOptional: false),
                ], uniqueConstraints: [UniqueConstraint(["name"])]),
        ])
        func rejected(_ stored: String, _ text: String) throws -> [Int] {
            let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
            var people = LoadMapping.file("people", entity: "Person")
            people.relationships = ["card": ["name": "card"], "buddy": ["name": "buddy"], "country": ["name": "country"]]
            let others = [LoadMapping.file("cards", entity: "Card"), LoadMapping.file("countries", entity: "Country")]
            var texts = ["cards": "name\nK\nP\n", "countries": "name\nDE\n", "people": "name,country,card,buddy\n" + stored]
            let read = { (name: String) in FileBlocks(Data((texts[name] ?? "").utf8)) }
            _ = try FileLoader.load(LoadMapping(files: others + [people]), into: store, read: read)
            people.on = ["name"]
            texts["people"] = text
            let rejects = LoadRejects()
            _ = try FileLoader.load(
                LoadMapping(files: [people]), into: store, rejects: rejects,
                read: { name in
                    FileBlocks(Data((texts[name] ?? "").utf8))
                })
            var findings: [String] = []
            try TransferEngine().check(store) { findings.append($0.description) }
            #expect(findings.isEmpty, "\(findings)")
            return rejects.records(ofFile: 0).map(\.line)
        }
        // `c` has a buddy that is taken, so `a` gets the card that `d` gives up, and no buddy.
        let pairs = "d,DE,K,\ne,DE,,f\nf,DE,,e\na,DE,,\nc,DE,,\nb,DE,,\n"
        #expect(
            try rejected(
                pairs,
                "{\"name\": \"c\", \"buddy\": \"e\"}\n{\"name\": \"a\", \"card\": \"K\", \"buddy\": \"c\"}\n{\"name\": \"d\", \"card\": null}\n"
            ) == [1])
        // `c` cannot have the card, so it does not get its buddy either, and is free for `a`.
        #expect(
            try rejected(
                pairs, "{\"name\": \"c\", \"buddy\": \"b\", \"card\": \"K\"}\n{\"name\": \"a\", \"buddy\": \"c\"}\n") == [1])
        // Of two records with the same card the first is left out for its buddy, so the second gets the card.
        #expect(
            try rejected(pairs, "{\"name\": \"a\", \"card\": \"P\", \"buddy\": \"e\"}\n{\"name\": \"c\", \"card\": \"P\"}\n") == [1])
        // What an object's own record says stays, whatever another one gives up.
        #expect(
            try rejected(
                pairs, "{\"name\": \"e\", \"buddy\": null}\n{\"name\": \"f\", \"buddy\": \"e\"}\n{\"name\": \"a\", \"buddy\": \"f\"}\n")
                == [3])
        #expect(
            try rejected(
                "a,DE,,\n",
                "{\"name\": \"y\", \"buddy\": \"x\", \"country\": \"DE\"}\n{\"name\": \"x\", \"buddy\": \"y\", \"country\": \"DE\"}\n{\"name\": \"y\", \"buddy\": null}\n"
            ) == [])
        // A card that a record without its locker does not get is another's.
        #expect(
            try rejected(
                pairs,
                "{\"name\": \"x\", \"buddy\": \"a\", \"country\": \"DE\"}\n{\"name\": \"y\", \"buddy\": \"a\", \"card\": \"P\", \"country\": \"DE\"}\n"
                    + "{\"name\": \"z\", \"card\": \"P\", \"country\": \"DE\"}\n") == [2])
        // The card of a new record that is left out for its country.
        #expect(
            try rejected(
                "bob,DE,,\n",
                "{\"name\": \"anna\", \"card\": \"P\", \"country\": \"XX\"}\n{\"name\": \"bob\", \"card\": \"P\", \"country\": \"DE\"}\n")
                == [1])
    }

    /// The first record is ambiguous only by a later one that is left out.
    @Test func aReasonThatIsLeftOutItselfIsNone() throws {
        let schema = try Schema(entities: [
            Entity(
                "Department", attributes: [Attribute("code", .int64), Attribute("name", .string)],
                relationships: [Relationship("locker", to: "Locker", inverse: "owner")], uniqueConstraints: [UniqueConstraint(["code"])]),
            Entity("Employee", relationships: [Relationship("department", to: "Department", isOptional: false)]),
            Entity(
                "Locker", attributes: [Attribute("number", .int64)],
                relationships: [Relationship("owner", to: "Department", inverse: "locker")]),
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        var departments = LoadMapping.file("departments", entity: "Department"),
            employees = LoadMapping.file("employees", entity: "Employee")
        departments.relationships = ["locker": ["number": "locker"]]
        employees.relationships = ["department": ["name": "department"]]
        var texts = [
            "lockers": "number\n7\n", "departments": "code,name,locker\n1,D,\n2,E,\n", "employees": "department\nD\n",
        ]
        func load(_ files: [LoadMapping.File], _ rejects: LoadRejects?) throws {
            _ = try FileLoader.load(LoadMapping(files: files), into: store, rejects: rejects) { name in
                FileBlocks(Data((texts[name] ?? "").utf8))
            }
        }
        try load([LoadMapping.file("lockers", entity: "Locker"), departments], nil)
        departments.on = ["code"]
        texts["departments"] = "code,name,locker\n1,D,7\n2,D,7\n"
        let rejects = LoadRejects()
        try load([employees, departments], rejects)
        #expect(rejects.records(ofFile: 0).isEmpty && rejects.records(ofFile: 1).map(\.line) == [3])
    }

    /// The first record has the mail of a stored person, so the second one may have the passport; what needs it is loaded too.
    @Test func aRecordWaitsForWhatOthersAreRejectedFor() throws {
        let schema = try Schema(entities: [
            Entity(
                "Person", attributes: [Attribute("mail", .string)],
                relationships: [Relationship("passport", to: "Passport", inverse: "holder")],
                uniqueConstraints: [UniqueConstraint(["mail"])]),
            Entity(
                "Passport", attributes: [Attribute("number", .int64)],
                relationships: [Relationship("holder", to: "Person", inverse: "passport")]),
            Entity("Visit", relationships: [Relationship("person", to: "Person", isOptional: false)]),
        ])
        for withVisit in [false, true] {
            let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
            var people = LoadMapping.file("people", entity: "Person"), visits = LoadMapping.file("visits", entity: "Visit")
            people.relationships = ["passport": ["number": "passport"]]
            visits.relationships = ["person": ["mail": "mail"]]
            var texts = ["passports": "number\n7\n", "people": "mail,passport\na,\n", "visits": "mail\np\n"]
            func load(_ files: [LoadMapping.File], _ rejects: LoadRejects?) throws {
                _ = try FileLoader.load(LoadMapping(files: files), into: store, rejects: rejects) { name in
                    FileBlocks(Data((texts[name] ?? "").utf8))
                }
            }
            try load([LoadMapping.file("passports", entity: "Passport"), people], nil)
            texts["people"] = "mail,passport\na,7\np,7\n"
            let rejects = LoadRejects()
            try load([people] + (withVisit ? [visits] : []), rejects)
            #expect(rejects.records(ofFile: 0).map(\.line) == [2] && rejects.records(ofFile: 1).isEmpty)
        }
    }

    /// Conflicts far apart are found in one pass.
    @Test func conflictsOfUpdatesAreFoundTogether() throws {
        var lockers = try Lockers(4_000)
        let text = (0..<4_000).map { "{\"code\": \"e\($0)\", \"spot\": \($0 % 1_000 == 1 ? $0 - 1 : $0)}\n" }.joined()
        #expect(try lockers.update([("spot", text)]) == [[2, 1_002, 2_002, 3_002]])
        #expect(lockers.reads < 12)
    }

    /// The separator is found by the first line, in which names may have others.
    @Test(arguments: [",", ";", "\t", "|"]) func namesWithSeparatorsAreReadAgain(_ separator: String) throws {
        var mapping = mapping()
        mapping.ignoresUnknown = true
        let rejects = LoadRejects(), header = ["code", "whole", "size", "\",,;;\t\t||\""].joined(separator: separator)
        let row = ["a", "b", "1", "x"].joined(separator: separator)
        _ = try FileLoader.load(mapping, into: store, rejects: rejects) { _ in FileBlocks(Data("\(header)\n\(row)\n".utf8)) }
        let text = try #require(try rejects.text(ofFile: 0, named: "r.csv").map { String(decoding: $0, as: UTF8.self) })
        #expect(text.hasPrefix(header + separator) && text.contains("\n\(row)\(separator)"), "\(text)")
    }

    @Test func theRestIsLoadedAndTheRejectedRecordsCanBeLoadedAfterCorrections() throws {
        let rejects = LoadRejects()
        let report = try load(csv + good, rejects)
        #expect(report.loaded.map(\.count) == [3])
        #expect(try codes() == ["a", "j", "k"])
        let text = try #require(rejects.text(ofFile: 0, named: "r.csv").map { String(decoding: $0, as: UTF8.self) })
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count == 9 && lines[0] == "code,size,whole,polystore_reason")
        #expect(
            lines[1]
                == #"b,large,a,"parts.csv, line 3, column ""size"": ""large"" is no value of type int64; expected digits within its range""#
        )
        #expect(lines[2].hasPrefix(#"c,101,a,"parts.csv, line 4, column ""size"": "#))
        #expect(lines[3].hasPrefix(#""d,e",2,b,"parts.csv, line 5, column ""whole"": Part.whole is required, but no object"#))
        #expect(lines[4].hasPrefix(#"f,3,"d,e","parts.csv, line 6"#))
        #expect(lines[5] == "g,4")
        #expect(lines[6].hasPrefix(#"a,5,a,"parts.csv, line 8: an earlier object in the files has the same code"#))
        #expect(lines[7].hasPrefix("h,6,nowhere,") && lines[8].hasPrefix("i,7,,"))
        // The same again, without corrections: nothing more can be loaded, and the form does not grow.
        let again = LoadRejects()
        #expect(try load(text, again).loaded.map(\.count) == [0])
        let second = try #require(again.text(ofFile: 0, named: "r.csv").map { String(decoding: $0, as: UTF8.self) })
        #expect(second.split(separator: "\n").count == 9 && second.hasPrefix("code,size,whole,polystore_reason\n"))
        let corrected = text.replacingOccurrences(of: "b,large", with: "b,3").replacingOccurrences(of: "g,4\n", with: "")
            .replacingOccurrences(of: "nowhere", with: "k")
        let last = LoadRejects()
        #expect(try load(corrected, last).loaded.map(\.count) == [4])
        #expect(try codes().sorted() == ["a", "b", "d,e", "f", "h", "j", "k"])
        #expect(last.records(ofFile: 0).map(\.line) == [3, 6, 8])
    }

    @Test func withoutAListTheFirstRecordEndsTheLoad() throws {
        let error = #expect(throws: StorageError.self) { try load(csv + good, nil) }
        #expect(error?.message.hasPrefix("parts.csv, line 7: expected 3 fields, but found 2") == true)
        #expect(try codes().isEmpty)
    }

    @Test func tooManyRejectedRecordsEndTheLoad() throws {
        let error = #expect(throws: StorageError.self) { try load(csv + good, LoadRejects(most: 7)) }
        #expect(error?.code == .limitExceeded && error?.message.hasPrefix("more than 7 records were rejected") == true)
        #expect(try codes().isEmpty)
        #expect(throws: Never.self) { try load(csv + good, LoadRejects(most: 8)) }
    }

    @Test func objectsOfJSONAreRejectedInTheirForm() throws {
        let rejects = LoadRejects()
        let text = """
            {"code": "a", "whole": "a"}
            {"code": "b", "size": "x", "whole": "a"}
            {"code": "c", "whole": "a"
            {"code": "d", "extra": 1, "whole": "a"}
            """
        #expect(try load(text, rejects, name: "parts.ndjson").loaded.map(\.count) == [1])
        let lines = try #require(rejects.text(ofFile: 0, named: "r.ndjson").map { String(decoding: $0, as: UTF8.self) }).split(
            separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix(#"{"code":"b","size":"x","whole":"a","polystore_reason":"parts.ndjson, line 2, column \"size\""#))
        #expect(lines[1].hasPrefix(#"{"polystore_record":"{\"code\": \"c\", \"whole\": \"a\"","polystore_reason":"parts.ndjson, line 3"#))
        #expect(lines[2].hasPrefix(#"{"code":"d","extra":1,"whole":"a","polystore_reason":"parts.ndjson, line 4: Part has no property"#))
        let array = LoadRejects()
        #expect(
            try load(#"[{"code": "e", "whole": "a"}, {"code": 5}, {"code": "f", "whole": "e"}]"#, array, name: "p.json").loaded[0].count
                == 2)
        #expect(array.count == 1)
    }

    /// The record of a text that is no object has to be corrected; it is no object without values.
    @Test func aTextThatWasNotCorrectedIsRejectedAgain() throws {
        let schema = try Schema(entities: [Entity("Log", attributes: [Attribute("text", .string, isOptional: true)])])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        var mapping = LoadMapping(files: [LoadMapping.file("log.ndjson", entity: "Log")])
        mapping.ignoresUnknown = true
        var text = "{\"text\": \"a\"}\n{\"text\": \"b\"\n", count = 1
        for _ in 0..<3 {
            let rejects = LoadRejects(), bytes = Array(text.utf8)
            let report = try FileLoader.load(mapping, into: store, rejects: rejects) { _ in FileBlocks(Data(bytes)) }
            #expect(report.loaded.map(\.count) == [count] && rejects.count == 1)
            text = String(decoding: try #require(try rejects.text(ofFile: 0, named: "r.ndjson")), as: UTF8.self)
            #expect(text.hasPrefix(#"{"polystore_record":"{\"text\": \"b\"","polystore_reason":"log.ndjson, line "#), "\(text)")
            count = 0
        }
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data(text.utf8)) }
        }
        #expect(error?.message.contains("replace the line with the corrected text") == true)
    }

    @Test func aRecordWithAWrongQuoteIsRejectedWithItsBytes() throws {
        let rejects = LoadRejects()
        #expect(try load("code,size,whole\na,1,a\n\"b \"\"x\"\"\"y,1,a\r\nc,2,\"a\"x\nd,3,a\n", rejects).loaded.map(\.count) == [2])
        let text = String(decoding: try #require(try rejects.text(ofFile: 0, named: "r.csv")), as: UTF8.self)
        #expect(text == "code,size,whole,polystore_reason\n\"b \"\"x\"\"\"y,1,a\nc,2,\"a\"x\n")
        let again = LoadRejects()
        #expect(try load(text, again).loaded.map(\.count) == [0])
        #expect(try again.text(ofFile: 0, named: "r.csv") == Array(text.utf8))
        #expect(
            again.records(ofFile: 0)[0].reason.hasSuffix(
                "line 2, column 10: expected a separator or the end of the line after a closing quote"))
        #expect(try codes() == ["a", "d"])
    }

    @Test(arguments: [
        ("size", "1.0", "\"1.0\" is no value of type int64; expected digits within its range"),
        (
            "day", "2024-01-02T10:00:00",
            "\"2024-01-02T10:00:00\" is no value of type date; add the time zone: Z, or an offset such as +02:00"
        ),
        ("day", "2024-02-30", "\"2024-02-30\" is no value of type date; expected a day of the calendar, such as 2013-01-31"),
        ("flag", "maybe", "\"maybe\" is no value of type bool; expected true, false, yes, no, t, f, 1 or 0"),
    ]) func aValueIsNamedWithWhatWouldBeRight(_ column: String, _ value: String, _ sentence: String) throws {
        let schema = try Schema(entities: [
            Entity(
                "Part",
                attributes: [
                    Attribute("size", .int64, isOptional: true), Attribute("day", .date, isOptional: true),
                    Attribute("flag", .bool, isOptional: true), Attribute("kind", .string, defaultValue: .string("plain")),
                ])
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let mapping = LoadMapping(files: [LoadMapping.file("p.csv", entity: "Part")])
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data("\(column)\n\(value)\n".utf8)) }
        }
        #expect(error?.message.contains("p.csv, line 2, column \"\(column)\": \(sentence)") == true, "\(String(describing: error))")
        // No column is needed for an attribute with a default.
        #expect(try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data("\(column)\n\n".utf8)) }.loaded.map(\.count) == [1])
    }

    @Test func updatesAreRejectedToo() throws {
        _ = try load("code,size,whole\na,1,a\nb,2,a\n", nil)
        let rejects = LoadRejects()
        let report = try load("code,size,whole\na,5,a\nb,x,a\n,3,a\nc,3,d\nd,200,a\ne,4,b\n", rejects, on: ["code"])
        #expect(report.loaded.map(\.count) == [1] && report.loaded.map(\.updated) == [1])
        #expect(try codes() == ["a", "b", "e"])
        #expect(rejects.records(ofFile: 0).map(\.line) == [3, 4, 5, 6])
    }

    @Test func valuesOfTheStoreAreTakenOnce() throws {
        _ = try load("code,size,whole\na,1,a\n", nil)
        let rejects = LoadRejects()
        #expect(try load("code,size,whole\na,2,a\nb,2,a\nb,3,a\nc,4,a\n", rejects).loaded.map(\.count) == [2])
        #expect(try codes().sorted() == ["a", "b", "c"])
        #expect(rejects.records(ofFile: 0).map(\.line) == [2, 4])
    }

    @Test func aRejectedRecordDoesNotStandInTheWayOfOthers() throws {
        // The first `a` is rejected for its own whole, so the second one is no duplicate.
        let rejects = LoadRejects()
        #expect(try load("code,size,whole\na,1,nowhere\na,2,a\nc,3,a\n", rejects).loaded.map(\.count) == [2])
        #expect(try codes() == ["a", "c"])
        #expect(rejects.records(ofFile: 0).map(\.line) == [2])
    }

    @Test func oneToOneReferencesOfRejectedRecordsAreFree() throws {
        let schema = try Schema(entities: [
            Entity(
                "Key", attributes: [Attribute("code", .string)],
                relationships: [
                    Relationship("door", to: "Door", inverse: "key"), Relationship("second", to: "Door", isOptional: false),
                ]),
            Entity("Door", attributes: [Attribute("code", .string)], relationships: [Relationship("key", to: "Key", inverse: "door")]),
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema)), rejects = LoadRejects()
        var keys = LoadMapping.file("keys", entity: "Key")
        keys.relationships = ["door": ["code": "door"], "second": ["code": "second"]]
        let files = ["doors": "code\np\nq\n", "keys": "code,door,second\na,p,nowhere\nb,p,q\nc,p,q\n"]
        let report = try FileLoader.load(
            LoadMapping(files: [LoadMapping.file("doors", entity: "Door"), keys]), into: store, rejects: rejects
        ) { FileBlocks(Data((files[$0] ?? "").utf8)) }
        #expect(report.loaded.map(\.count) == [2, 1])
        #expect(rejects.records(ofFile: 1).map(\.line) == [2, 4])
    }

    @Test func recordsOfOneLineAreDifferentRecords() throws {
        let rejects = LoadRejects()
        let text = #"[{"code":"a","whole":"a"},{"code":"b","whole":"a"},{"code":"b","whole":"a"},{"code":"c","whole":"a"}]"#
        #expect(try load(text, rejects, name: "p.json").loaded.map(\.count) == [3])
        #expect(rejects.count == 1)
    }

    @Test(arguments: [("code,size,whole\nx,y,z\n", "r.ndjson"), (#"{"code": 1}"#, "r.csv"), ("code;size;whole\nx;y;z\n", "r.tsv")])
    func aNameOfAnotherFormIsRefused(_ text: String, _ name: String) throws {
        let rejects = LoadRejects()
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(
                mapping(on: nil, "parts"), into: store, rejects: rejects,
                willCommit: { () throws(StorageError) in
                    _ = try rejects.text(ofFile: 0, named: name)
                }
            ) { _ in FileBlocks(Data((text + "\n").utf8)) }
        }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("end the name with") == true)
        #expect(try codes().isEmpty)
    }
}
