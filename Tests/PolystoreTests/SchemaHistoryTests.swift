import Polystore
import TestStores
import Testing

/// Versions of a model together: which one is current, how each gets there, and what keeps a version as it was.
@Suite struct SchemaHistoryTests {
    private static func schema(_ version: String, _ attributes: [Attribute] = []) throws -> Schema {
        try Schema(version: version, entities: [Entity("Note", attributes: [Attribute("title", .string)] + attributes)])
    }

    /// Three versions, each with one attribute more; the third is required and has no default.
    private static func versions() throws -> [Schema] {
        [
            try schema("V1"), try schema("V2", [Attribute("stars", .int16, isOptional: true)]),
            try schema("V3", [Attribute("stars", .int16, isOptional: true), Attribute("at", .date)]),
        ]
    }

    private func failure(_ body: () throws -> Void) -> StorageError? {
        do { try body() } catch { return error as? StorageError }
        return nil
    }

    // MARK: The current version

    @Test func theCurrentVersionIsTheExactOneTheLeafOrTheLast() throws {
        let all = try Self.versions()
        #expect(try SchemaHistory(schemas: all).currentVersion == "V3")
        #expect(try SchemaHistory(schemas: all, migrationChain: ["V1", "V2"]).currentVersion == "V2")
        #expect(try SchemaHistory(schemas: all, migrationChain: "V1").currentVersion == "V1")
        #expect(try SchemaHistory(schemas: all, migrationChain: ["V1", "V2", "V3"], exactCurrentVersion: "V2").currentVersion == "V2")
        #expect(try SchemaHistory(schemas: all, exactCurrentVersion: "V1").currentSchema == all[0])
        let history = try SchemaHistory(all[2], all[0], all[1], migrationChain: ["V1": "V3", "V2": "V3"])
        #expect(history.currentSchema == all[2] && history.map(\.version) == ["V3", "V1", "V2"])
        #expect(history.schema(for: "V2") == all[1] && history.schema(for: "V4") == nil)
    }

    @Test func ofTwoLeavesTheOneWithASchemaIsCurrent() throws {
        let all = try Self.versions()
        #expect(try SchemaHistory(schemas: all, migrationChain: ["V1": "V2", "V0": "W"]).currentVersion == "V2")
    }

    @Test func anInvalidHistoryIsRefusedWithTheReason() throws {
        let all = try Self.versions()
        func message(_ schemas: [Schema], _ chain: MigrationChain = nil, exactly version: String? = nil) -> String? {
            let error = failure { _ = try SchemaHistory(schemas: schemas, migrationChain: chain, exactCurrentVersion: version) }
            #expect(error?.code == .invalidConfiguration)
            return error?.message
        }
        #expect(message([]) == "a history needs at least one schema")
        #expect(message([all[0], all[1], all[0]]) == #"version "V1" of the model is in the history twice"#)
        #expect(
            message(all, ["V1": "V3", "V0": "V2"])
                == #"the migration chain ends in 2 versions: "V1" → "V3", "V0" → "V2"; specify the current one with exactCurrentVersion"#)
        #expect(message(all, ["V1", "Version4"]) == #"the history has no schema of version "Version4"; it has "V1", "V2", "V3""#)
        #expect(message(all, exactly: "v33") == #"the history has no schema of version "v33"; did you mean "V3"?"#)
        #expect(
            message(all, ["V1", "V2"], exactly: "V3")
                == #"the current version "V3" is not part of the migration chain "V1" → "V2"; did you mean "V1"?"#)
        #expect(message([all[0], all[2]], ["V1", "V2", "V3"]) == #"the history has no schema of version "V2"; did you mean "V1"?"#)
    }

    @Test func theFirstVersionsOfAChainNeedNoSchema() throws {
        let all = try Self.versions()
        let history = try SchemaHistory(all[2], migrationChain: ["V1": "V3", "V2": "V3"])
        #expect(try history.path(from: "V1") == ["V1", "V3"])
    }

    // MARK: Ways

    @Test func eachVersionHasAPathToTheCurrentOne() throws {
        let all = try Self.versions()
        let list = try SchemaHistory(schemas: all, migrationChain: ["V1", "V2", "V3"])
        #expect(try list.path(from: "V1") == ["V1", "V2", "V3"])
        #expect(try list.path(from: "V2") == ["V2", "V3"] && list.path(from: "V3") == ["V3"])
        let straight = try SchemaHistory(schemas: all)
        #expect(try straight.path(from: "V1") == ["V1", "V3"] && straight.path(from: "V3") == ["V3"])
    }

    @Test func aMissingPathNamesBothVersionsAndTheNearest() throws {
        let all = try Self.versions()
        func message(_ history: SchemaHistory, from version: String) -> String? {
            let error = failure { _ = try history.path(from: version) }
            #expect(error?.code == .noMigrationPath)
            return error?.message
        }
        let list = try SchemaHistory(schemas: all, migrationChain: ["V1", "V2", "V3"], exactCurrentVersion: "V2")
        #expect(
            message(list, from: "V3")
                == #"there is no migration path from version "V3" of the model to "V2": the migration chain goes from it to "V3""#)
        #expect(
            message(list, from: "v33")
                == #"there is no migration path from version "v33" of the model to "V2": it is not part of the migration chain; did you mean "V3"?"#
        )
        let straight = try SchemaHistory(schemas: all)
        #expect(
            message(straight, from: "Release")
                == #"there is no migration path from version "Release" of the model to "V3": it is not part of the history, which has "V1", "V2", "V3""#
        )
    }

    @Test func theStepsFromAStoredSchemaAreClassified() throws {
        let all = try Self.versions()
        let list = try SchemaHistory(schemas: all, migrationChain: ["V1", "V2", "V3"])
        let first = MigrationType.lightweight(sourceVersion: "V1", destinationVersion: "V2")
        let second = MigrationType.heavyweight(sourceVersion: "V2", destinationVersion: "V3")
        #expect(try list.migrations(from: all[0]) == [first, second])
        #expect(try list.migrations(from: all[1]) == [second] && list.migrations(from: all[2]) == [])
        #expect(first.isLightweightMigration && second.isHeavyweightMigration && !first.isHeavyweightMigration)
        #expect("\(first)" == #""V1" → "V2" (lightweight)"# && second.sourceVersion == "V2" && second.destinationVersion == "V3")
        // A version under another name is known by its hash.
        #expect(try list.migrations(from: Self.schema("One")) == [first, second])
        #expect(MigrationType(from: try Self.schema("One"), to: all[0]) == .none(version: "V1"))
        let changed = failure { _ = try list.migrations(from: Self.schema("V1", [Attribute("x", .bool)])) }
        #expect(changed?.code == .noMigrationPath)
        #expect(
            changed?.message
                == #"version "V1" of the model differs from version "V1" in the store: attribute Note.x was removed; "#
                + "restore the schema of this version and give the changed schema a new version, or name the version of the store otherwise with "
                + "polystore schema stamp and list its schema under that name")
    }

    // MARK: Stacks

    @Test(arguments: TestStore.all) func aStackUsesTheCurrentVersionAndRefusesStoresOfOtherVersions(_ kind: TestStore) throws {
        let all = try Self.versions()
        let stack = try DataStack(all[0], all[1], migrationChain: ["V1", "V2"])
        #expect(stack.schema == all[1] && stack.schemaHistory.migrationChain == ["V1", "V2"])
        let store = try stack.addStorageAndWait(kind.make())
        try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.string("x"), for: "title") })
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Note")) == 1)
        try stack.removeStorage(store)
        if kind == .memory { return }
        let newer = try DataStack(schemaHistory: SchemaHistory(schemas: all, migrationChain: ["V1", "V2", "V3"]))
        #expect(failure { _ = try newer.addStorageAndWait(store) }?.code == .schemaMismatch)
        try stack.addStorageAndWait(store)
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Note")) == 1)
        try stack.removeStorage(store)
    }

    @Test func everyStackHasAHistory() throws {
        #expect(DataStack.withoutEntities.schemaHistory.currentVersion == "")
        let stack = try DataStack(Person.self, Animal.self, Dog.self, version: "7")
        #expect(stack.schemaHistory.currentVersion == "7" && stack.schemaHistory.count == 1 && stack.schemaHistory.models.count == 3)
    }

    // MARK: Locks

    private static let note = Entity("Note", attributes: [Attribute("title", .string)])
    /// SHA-256 of `[{"name":"Note","attributes":[{"name":"title","type":"string"}]}]`.
    private static let lock: VersionLock = [
        "Note": [0x467cf366e69cf823, 0xfeffa25f6482bb0d, 0x063d28114fbbe9b7, 0x99152cb8abd016ce]
    ]

    @Test func aLockHoldsForTheSchemaThatItWasPrintedFor() throws {
        let schema = try Schema(entities: [Self.note], versionLock: Self.lock)
        #expect(schema.versionLock == Self.lock)
        #expect(
            schema.versionLock.description == """
                [
                    "Note": [0x467cf366e69cf823, 0xfeffa25f6482bb0d, 0x063d28114fbbe9b7, 0x99152cb8abd016ce],
                ]
                """)
        // What is not stored differently can change.
        var other = Self.note
        other.attributes[0].defaultValue = .string("new")
        other.originalName = "Memo"
        _ = try Schema(entities: [other], versionLock: Self.lock)
    }

    @Test func aLockNamesWhatChangedAndPrintsThePresentOne() throws {
        var changed = Self.note
        changed.attributes[0].isOptional = true
        let added = Entity("Tag", attributes: [Attribute("name", .string)])
        let present = try Schema(entities: [changed, added]).versionLock
        let pins = Self.lock.hashes.merging(["Gone": [1, 2, 3, 4]]) { a, _ in a }
        let error = failure { _ = try Schema(version: "V1", entities: [changed, added], versionLock: VersionLock(pins)) }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.message
                == "version \"V1\" of the model is locked, but was changed (changed: Note; new: Tag; gone: Gone); its lock would now be:\n\(present)"
        )
        _ = try Schema(version: "V1", entities: [changed, added], versionLock: present)
    }

    @Test func alteredPinsAreRefused() {
        let short: VersionLock = ["Note": [1, 2, 3]], twice: VersionLock = ["Note": [1, 2, 3, 4], "Note": [1, 2, 3, 4]]
        #expect(failure { _ = try Schema(entities: [Self.note], versionLock: short) }?.message.contains("changed: Note") == true)
        #expect(
            failure { _ = try Schema(version: "V1", entities: [Self.note], versionLock: twice) }?.message
                == "the version lock of \"V1\" pins Note twice")
        #expect(failure { _ = try Schema(entities: [Entity("1")], versionLock: [:]) }?.cause is SchemaError)
    }
}
