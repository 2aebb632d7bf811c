import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Loads that leave out records whose references contradict the store or each other.
@Suite struct RejectedReferenceTests {
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
}
