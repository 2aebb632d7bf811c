import Polystore
import Testing

/// Chains of versions as users write them, and what is wrong with some.
@Suite struct MigrationChainTests {
    private static let tree: MigrationChain = ["V1": "V3", "V2": "V4", "V3": "V4"]

    @Test func aListMigratesEachVersionToTheNext() {
        let chain: MigrationChain = ["V1", "V2", "V3"]
        #expect(chain.versions == ["V1", "V2", "V3"])
        #expect(chain.nextVersion(from: "V1") == "V2" && chain.nextVersion(from: "V2") == "V3")
        #expect(chain.nextVersion(from: "V3") == nil && chain.nextVersion(from: "V4") == nil)
        #expect(chain.rootVersions == ["V1"] && chain.leafVersions == ["V3"])
        #expect(chain.contains("V2") && !chain.contains("V4"))
        #expect(chain.hasSteps && !chain.isEmpty && chain.defect == nil)
        #expect(chain.path(from: "V1", to: "V3") == ["V1", "V2", "V3"])
        #expect(chain.path(from: "V2", to: "V2") == ["V2"])
        #expect(chain.path(from: "V3", to: "V1") == nil && chain.path(from: "V0", to: "V0") == nil)
        #expect(chain.description == #""V1" → "V2" → "V3""#)
    }

    @Test func aTreeMigratesEachKeyToItsValue() {
        #expect(Self.tree.rootVersions == ["V1", "V2"] && Self.tree.leafVersions == ["V4"])
        #expect(Self.tree.path(from: "V1", to: "V4") == ["V1", "V3", "V4"])
        #expect(Self.tree.path(from: "V2", to: "V4") == ["V2", "V4"])
        #expect(Self.tree.path(from: "V2", to: "V3") == nil)
        #expect(Self.tree.description == #""V1" → "V3" → "V4", "V2" → "V4""#)
    }

    @Test func anEmptyChainHasNoSteps() {
        let chains: [MigrationChain] = [nil, [], [:], MigrationChain()]
        for chain in chains {
            #expect(chain == MigrationChain() && chain.isEmpty && !chain.hasSteps && chain.versions.isEmpty)
            #expect(chain.nextVersion(from: "V1") == nil && chain.path(from: "V1", to: "V1") == nil)
            #expect(chain.description == "directly to the current version")
        }
    }

    @Test func aSingleVersionIsFirstAndLast() {
        let chain: MigrationChain = "V1"
        #expect(chain == ["V1"] && chain.rootVersions == ["V1"] && chain.leafVersions == ["V1"])
        #expect(chain.contains("V1") && !chain.hasSteps && !chain.isEmpty)
        #expect(chain.description == #""V1""#)
    }

    @Test func chainsWithEqualStepsAreEqual() {
        let list: MigrationChain = ["V1", "V2", "V3"]
        #expect(list == ["V2": "V3", "V1": "V2"] && list.hashValue == MigrationChain(["V2": "V3", "V1": "V2"]).hashValue)
        #expect(list != ["V1", "V2"] && list != ["V1", "V3", "V2"])
        #expect(MigrationChain("V1") != MigrationChain("V2"))
        let stored = ["V1": "V3", "V2": "V4", "V3": "V4"]
        #expect(MigrationChain(stored) == Self.tree)
        let versions = ["V1", "V2", "V3"]
        #expect(MigrationChain(versions) == list)
    }

    @Test(
        arguments: [
            (["V1", "V2", "V1"], #"version "V1" is listed twice: "V1" → "V2" → "V1""#),
            (["V1", "V2", "V2"], #"version "V2" is listed twice: "V2" → "V2""#),
            (["V0", "V1", "V2", "V3", "V1", "V2"], #"version "V1" is listed twice: "V1" → "V2" → "V3" → "V1""#),
            (
                ["V1": "V2", "V1": "V3"] as MigrationChain, #"version "V1" has two next versions: "V1" → "V2" and "V1" → "V3""#
            ),
            (["V1": "V3", "V3": "V1"], #"the versions form a cycle: "V1" → "V3" → "V1""#),
            (["V1": "V2", "V2": "V3", "V3": "V2"], #"the versions form a cycle: "V2" → "V3" → "V2""#),
            (["V0": "V9", "V1": "V1"], #"the versions form a cycle: "V1" → "V1""#),
        ] as [(MigrationChain, String)])
    func aDefectIsKeptAndThrownWithItsPath(_ chain: MigrationChain, _ defect: String) throws {
        #expect(chain.defect == defect && chain.description == defect)
        let message = "the migration chain is invalid: \(defect)"
        #expect { try chain.check() } throws: { error in
            (error as? StorageError)?.code == .invalidConfiguration && (error as? StorageError)?.message == message
        }
        let schema = try Schema(version: "V1", entities: [])
        #expect { try SchemaHistory(schema, migrationChain: chain) } throws: { ($0 as? StorageError)?.message == message }
    }

    @Test func pathsInACycleEnd() {
        let chain: MigrationChain = ["V1": "V2", "V2": "V3", "V3": "V2"]
        #expect(chain.path(from: "V1", to: "V3") == ["V1", "V2", "V3"])
        #expect(chain.path(from: "V1", to: "V4") == nil)
        #expect(chain.leafVersions == [] && chain.rootVersions == ["V1"])
    }

    @Test func manyVersionsAreFollowed() throws {
        let versions = (0..<2_000).map { "V\($0)" }
        let chain = MigrationChain(versions)
        try chain.check()
        #expect(chain.path(from: "V0", to: "V1999") == versions)
    }
}
