import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Repairs of versions and positions that leave no room for later ones, and of objects that cannot exist without others.
extension RepairTests {
    @Test(arguments: TestStore.all) func versionsAndPositionsLeaveRoomForLaterOnes(_ kind: TestStore) throws {
        let store = try store(
            kind.make(),
            [
                Row(key: 1, values: ["text": .string("a"), "twin": .int(77)], version: .max),
                Row(key: 2, values: ["text": .string("b"), "twin": .int(78)], version: 0),
                Row(key: 3, values: ["text": .string("c")], version: -7),
                note(4), Row(entity: "Part", key: 1, values: ["whole": .int(4)]), Row(entity: "Part", key: 2, values: ["whole": .int(4)]),
                Row(entity: "Part", key: 3, values: ["whole": .int(4)]), Row(entity: "Part", key: 4, values: ["whole": .int(4)]),
            ],
            links: [
                "Note.parts": [
                    LinkPair(owner: 4, rank: 5, member: 3), LinkPair(owner: 4, rank: 6, member: 1),
                    LinkPair(owner: 4, rank: .max, member: 2),
                ]
            ])
        defer { try? store.erase() }
        let found = try findings(store)
        for text in [
            "Note of object 1: the version of the object is the last one, so it cannot change",
            "Note of object 2: the version of the object is not positive", "Note of object 3: the version of the object is not positive",
            "Note.parts of object 4: object 2 has the last possible position, so that no member can follow it",
        ] { #expect(found.contains(text), "\(found)") }
        let plan = try TransferEngine().planRepair(of: store) { _ in }
        #expect(plan.findings == 7 && plan.unmended == 0, "\(found)")
        #expect(try TransferEngine().repair(store, plan).remaining == 0)
        #expect(try findings(store).isEmpty)
        #expect(try value(store, "Note", 1, "twin") == (.null, (1 << 62) + 1))
        #expect(try value(store, "Note", 2, "twin") == (.null, 2) && value(store, "Note", 3, "twin") == (.null, 1))
        #expect(try members(store, "Note.parts") == ["4-3", "4-1", "4-2", "4-4"])
        let changed = try entries(store).flatMap(\.changes).filter { if case .update = $0.kind { true } else { false } }.map(\.key)
        #expect(Set(changed) == [1, 2, 3])
    }

    @Test(arguments: TestStore.all) func anObjectWithAnInvalidVersionCanBeDeleted(_ kind: TestStore) throws {
        let store = try store(kind.make(), [Row(key: 1, version: .max), Row(key: 2, version: 0), note(3)])
        defer { try? store.erase() }
        #expect(try repair(store, RepairOptions(deletesBroken: true)).remaining == 0)
        #expect(try keys(store, "Note") == [3])
    }

    /// Each object requires the next one, and the last one requires an object that does not exist.
    @Test(.timeLimit(.minutes(4)), arguments: TestStore.all) func aLongChainOfRequiredReferencesIsFollowedOnce(_ kind: TestStore) throws {
        let length: Int64 = 4000
        var rows = (1...length).map { Row(entity: "Chain", key: $0, values: ["next": .int($0 + 1)]) }
        rows.append(Row(entity: "Chain", key: 9000, values: ["next": .int(9000)]))
        let store = try store(kind.make(), rows)
        defer { try? store.erase() }
        let plan = try TransferEngine().planRepair(of: store, RepairOptions(deletesBroken: true)) { _ in }
        #expect(plan.findings == Int(length) && plan.unmended == 0 && plan.changes == Int(length))
        #expect(try TransferEngine().repair(store, plan).remaining == 0)
        #expect(try keys(store, "Chain") == [9000])
    }

    /// Which of the two pairs is right is not known.
    @Test(arguments: TestStore.all) func anObjectWhosePartnerHasAnotherPartnerIsOnlyReported(_ kind: TestStore) throws {
        let store = try store(
            kind.make(),
            [
                Row(entity: "Key", key: 1, values: ["lock": .int(1)]), Row(entity: "Key", key: 2, values: ["lock": .int(1)]),
                Row(entity: "Lock", key: 1, values: ["key": .int(2)]),
            ])
        defer { try? store.erase() }
        let options = RepairOptions(deletesBroken: true), plan = try TransferEngine().planRepair(of: store, options) { _ in }
        #expect(plan.findings == 1 && plan.unmended == 1 && plan.changes == 0)
        #expect(try TransferEngine().repair(store, plan).remaining == 1)
        #expect(try findings(store) == ["Key.lock of object 1: object 1 does not refer back to this object"])
        #expect(try keys(store, "Key") == [1, 2])
    }
}
