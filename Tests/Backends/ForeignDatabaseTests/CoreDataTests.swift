import Foundation
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

@Suite struct CoreDataTests {
    private func file(_ more: String = "") throws -> String {
        try ForeignDatabases.sqlite(CoreDataScript.tables + CoreDataScript.rows + more)
    }

    private func open(_ more: String = "", model: String = CoreDataScript.model) throws -> OpenDatabase {
        try OpenDatabase("sqlite:\(file(more))?catalog=coredata&model=\(CoreDataScript.model(model))")
    }

    private func refusal(_ more: String = "", model: String = CoreDataScript.model) -> StorageError? {
        failure { _ = try open(more, model: model).digests() }
    }

    @Test func everyValueIsReadExactly() throws {
        let store = try open()
        #expect(try store.lines() == CoreDataScript.lines)
        #expect(store.id == UUID(uuidString: "5E1F0C3A-0000-4000-8000-00000000000A"))
        #expect(store.remarks.isEmpty)
    }

    @Test(arguments: TestStore.all) func itMovesIntoEveryStore(_ target: TestStore) throws {
        let store = try open()
        let copy = try store.transferred(to: target.make())
        defer { try? copy.store.erase() }
        #expect(try copy.lines() == CoreDataScript.lines)
        #expect(try copy.digests() == store.digests())
    }

    @Test func requestsSeeHierarchiesAndRelationships() throws {
        let store = try open()
        #expect(try store.keys("Person", "name != nil") == [1, 2])
        #expect(try store.keys("Author", "bestFriend.name == 'Ada'") == [2])
        #expect(try store.keys("Book", "author.born > DATE '2001-01-01T00:00:00Z' AND ANY tags.name == 'y'") == [1])
        #expect(try store.keys("Book", "price == DECIMAL '19.99'") == [1])
    }

    @Test func withoutAModelTheTablesAreRead() throws {
        let store = try OpenDatabase("sqlite:\(file())?catalog=coredata")
        let person = store.schema.entity("Person")
        #expect(
            person?.attributes.map { "\($0.name) \($0.type.rawValue)" } == [
                "AGE int64", "BESTFRIEND int64", "BORN date", "FAVOURITE int64", "NAME string", "PENNAME string",
            ])
        #expect(store.schema.entity("Author")?.parent == "Person")
        #expect(store.schema.relationshipLines == ["Book.TAGS ** Tag.BOOKS nullify", "Tag.BOOKS * Book.TAGS nullify"])
        let lines = try store.lines()
        #expect(
            lines.contains(
                #"{"entity":"Author","key":2,"version":1,"BESTFRIEND":1,"BORN":"2001-01-01T00:00:00.000001Z","NAME":"Bo","PENNAME":"B."}"#))
        #expect(lines.contains(#"{"link":"Book.TAGS","owner":1,"rank":1024,"member":2}"#))
        #expect(store.remarks.count == 1 && store.remarks[0].contains("model=X.xcdatamodeld"))
    }

    @Test func aModelOfAnotherVersionIsRefusedByName() throws {
        let more = CoreDataScript.model.replacing(
            "<attribute name=\"title\" attributeType", with: "<attribute name=\"heading\" attributeType")
        let missing = refusal(model: more)
        #expect(missing?.code == .schemaMismatch)
        #expect(missing?.message.contains("Book.heading has no column ZHEADING") == true)
        let renamed = refusal(model: CoreDataScript.model.replacing("\"Tag\"", with: "\"Tab\""))
        #expect(renamed?.code == .schemaMismatch)
        #expect(renamed?.message.contains("no entity Tab; did you mean \"Tag\"?") == true)
    }

    @Test func siblingsWithOneNameAreRefused() throws {
        let model = CoreDataScript.model.replacing(
            "</model>",
            with: "<entity name=\"Reader\" parentEntity=\"Person\"><attribute name=\"penName\" attributeType=\"String\"/></entity></model>")
        let error = refusal("INSERT INTO Z_PRIMARYKEY VALUES(6, 'Reader', 4, 0);", model: model)
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("Author.penName and Reader.penName") == true)
    }

    @Test func anEntityThatTheModelLacksIsARemark() throws {
        let store = try open(
            "INSERT INTO Z_PRIMARYKEY VALUES(6, 'Draft', 0, 0); CREATE TABLE ZDRAFT(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);"
        )
        #expect(store.remarks == ["the entity Draft is left out: the model has no entity of this name"])
        #expect(try store.lines() == CoreDataScript.lines)
    }

    @Test(arguments: [
        ("UPDATE ZPERSON SET ZAGE = 40000 WHERE Z_PK = 1;", "Person.age"), ("UPDATE ZBOOK SET ZCODE = x'00' WHERE Z_PK = 1;", "Book.code"),
        ("UPDATE ZBOOK SET ZPRINTED = 'soon' WHERE Z_PK = 1;", "Book.printed"),
        ("UPDATE ZBOOK SET ZISNEW = 2 WHERE Z_PK = 1;", "Book.isNew"),
    ])
    func aValueThatDoesNotFitIsAnErrorThatNamesIt(_ change: String, _ place: String) throws {
        let error = refusal(change)
        #expect(error?.code == .valueNotStorable)
        #expect(error?.message.hasPrefix("\(place) holds a value") == true)
    }

    @Test func bytesInFilesBesideTheDatabaseAreRead() throws {
        let name = "0A1B2C3D-0000-4000-8000-000000000001"
        let path = try file("UPDATE ZBOOK SET ZSCAN = x'02' || CAST('\(name)' AS BLOB) || x'00' WHERE Z_PK = 1;")
        let model = try CoreDataScript.model()
        func opened() throws -> OpenDatabase { try OpenDatabase("sqlite:\(path)?catalog=coredata&model=\(model)") }
        #expect(try opened().readingFailure?.code == .valueNotStorable)
        let file = URL(fileURLWithPath: path)
        let folder = file.deletingLastPathComponent().appendingPathComponent(
            ".\(file.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: folder.appendingPathComponent(name))
        #expect(try opened().lines()[0].contains(#""scan":"AQID""#))
    }

    @Test func aFileNameOutsideOfTheFolderIsRefused() throws {
        #expect(
            refusal("UPDATE ZBOOK SET ZSCAN = x'02' || CAST('../../../etc/passwd' AS BLOB) || x'00' WHERE Z_PK = 1;")?.code
                == .valueNotStorable)
    }

    @Test func aFileThatIsNotACoreDataStoreIsRefused() throws {
        let path = try ForeignDatabases.sqlite("CREATE TABLE a(b);")
        let refused = failure { _ = try OpenDatabase("sqlite:\(path)?catalog=coredata") }
        #expect(refused?.code == .notADatabase)
        #expect(refused?.message.contains("catalog=foreign") == true)
    }

    @Test func aRelationshipThatIsItsOwnInverseAndUnorderedPairsAreRead() throws {
        let model = """
            <model><entity name="Person">
            <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
            <relationship name="fans" optional="YES" toMany="YES" destinationEntity="Person" inverseName="idols" inverseEntity="Person"/>
            <relationship name="idols" optional="YES" toMany="YES" destinationEntity="Person" inverseName="fans" inverseEntity="Person"/>
            </entity></model>
            """
        let path = try ForeignDatabases.sqlite(
            CoreDataScript.tables + """
                CREATE TABLE Z_4FRIENDS(Z_4FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY(Z_4FRIENDS, REFLEXIVE));
                CREATE TABLE Z_4IDOLS(Z_4FANS INTEGER, Z_4IDOLS INTEGER, PRIMARY KEY(Z_4FANS, Z_4IDOLS));
                INSERT INTO ZPERSON(Z_PK, Z_ENT, Z_OPT) VALUES(1, 4, 1), (2, 4, 1);
                INSERT INTO Z_4FRIENDS VALUES(1, 2), (2, 1);
                INSERT INTO Z_4IDOLS VALUES(1, 2);
                """)
        let store = try OpenDatabase("sqlite:\(path)?catalog=coredata&model=\(CoreDataScript.model(model))")
        // The fan is 1 and the idol 2: the owner of the pairs of fans is the idol.
        #expect(
            try store.lines() == [
                #"{"entity":"Person","key":1,"version":1}"#, #"{"entity":"Person","key":2,"version":1}"#,
                #"{"link":"Person.friends","owner":1,"rank":0,"member":2}"#, #"{"link":"Person.friends","owner":2,"rank":0,"member":1}"#,
                #"{"link":"Person.fans","owner":2,"rank":0,"member":1}"#,
            ])
    }

    @Test func primaryKeysThatCoreDataDoesNotAssignAreRefused() throws {
        #expect(refusal("INSERT INTO ZTAG VALUES(9223372036854775807, 5, 1, 'z');")?.code == .corrupted)
    }
}
