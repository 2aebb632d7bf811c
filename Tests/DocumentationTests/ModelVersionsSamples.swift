#if Macros
import Polystore
import PolystoreMacros
import Testing

/// The samples of "Model Versions".
@Suite(.scratch) struct ModelVersionsSamples {
    enum V1 {
        @Model final class Note: ManagedObject {
            var text: String = ""
            var stars: String = ""
        }
    }
    enum V2 {
        @Model final class Note: ManagedObject {
            @Attribute(originalName: "text") var body: String = ""
            var stars: String = ""
        }
    }
    enum V3 {
        @Model final class Note: ManagedObject {
            var body: String = ""
            var stars: Int = 0
        }
    }

    @Test func aHistoryHasAPath() throws {
        let v1 = try DataStack(V1.Note.self, version: "V1").schema
        let v2 = try DataStack(V2.Note.self, version: "V2").schema
        let v3 = try DataStack(V3.Note.self, version: "V3").schema
        let history = try SchemaHistory(v1, v2, v3, migrationChain: ["V1", "V2", "V3"])
        let stack = try DataStack(schemaHistory: history)
        print(try history.path(from: "V1"))  // ["V1", "V2", "V3"]
        print(try history.migrations(from: v1))  // ["V1" → "V2" (lightweight), "V2" → "V3" (heavyweight)]
        #expect(stack.schema.version == "V3")
        #expect(printed == [#"["V1", "V2", "V3"]"#, #"["V1" → "V2" (lightweight), "V2" → "V3" (heavyweight)]"#])
    }

    @Test func aLockNotesAReleasedVersion() throws {
        let note = Entity("Note", attributes: [Attribute("text", .string)])
        let v1 = try Schema(
            version: "V1", entities: [note],
            versionLock: ["Note": [0x579819b4e7d019eb, 0x92e423c64bf6cecd, 0xd0ed599f07660b85, 0x4aebe3e68cc06822]])
        #expect(v1.versionLock == VersionLock(of: v1))
    }
}
#endif
