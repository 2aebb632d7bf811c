internal import Foundation
internal import PolystoreStorage

/// Cases of group T: stores that are closed and opened again.
enum ClosingCases {
    static let all: [ConformanceCase] = [
        ConformanceCase("T001.commit-survives-closing", clause: "W11", needs: [.persistent]) { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Thing", [["text": .string("kept")]])
                try scratch.reopen()
                check.equal(try scratch.keys(ObjectRequest("Thing")), keys, "keys")
            }
        },
        ConformanceCase("T001.changes-of-every-kind-survive-closing", clause: "W11", needs: [.persistent]) { harness, check in
            try harness.withStore { scratch in
                try change(scratch)
                for opening in ["opened again", "opened twice"] {
                    try scratch.reopen()
                    try compare(scratch, check, opening)
                }
            }
        },
        ConformanceCase("T001.memory-starts-empty", clause: "S9", needsAbsent: [.persistent]) { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [[:]])
                try scratch.reopen()
                check.equal(try scratch.keys(ObjectRequest("Thing")), [], "keys")
            }
        },
    ]

    /// Updates, deletions, and changes of pairs and notes, after bulk loads, in commits of their own and in common ones.
    private static func change(_ scratch: Scratch) throws {
        func deletion(_ entity: String, _ key: Int64) throws -> EntityChanges {
            EntityChanges(entity: try scratch.entity(entity), deletes: [RowDeletion(key: key)])
        }
        try Fixture.fill(scratch)
        try scratch.write { writer in
            try writer.setNote("kept", Data([1]))
            try writer.setNote("removed", Data([2]))
        }
        try scratch.update("Thing", 1, ["text": .string("changed"), "number": .null])
        try scratch.delete("Holder", [101])
        try scratch.write { writer in
            let pairs = LinkChanges(link: Fixture.tagLink, removed: [Fixture.pair(1, 201)], added: [Fixture.pair(2, 201)])
            let update = try scratch.updates("Thing", [(2, 0, ["text": .string("apple")])])
            try writer.apply(ChangeSet(entities: [update, deletion("Holder", 109)], links: [pairs]))
            try writer.setNote("kept", Data([3]))
            try writer.setNote("removed", nil)
        }
        try scratch.write { writer in
            try writer.setNote("late", Data([4]))
            try writer.apply(ChangeSet(entities: [deletion("Thing", 8)]))
        }
    }

    private static func compare(_ scratch: Scratch, _ check: Check, _ opening: String) throws {
        check.equal(try scratch.keys(ObjectRequest("Thing")), [1, 2, 3, 4, 5, 6, 7], "\(opening): things")
        check.equal(try scratch.keys(ObjectRequest("Holder")), [102, 103, 104, 105, 106, 107, 108], "\(opening): holders")
        let first = try scratch.row("Thing", key: 1)[0]
        check.equal(first.values["text"], .string("changed"), "\(opening): the updated text")
        check.equal(first.values["number"], .null, "\(opening): the removed number")
        check.equal(first.values["real"], .double(1.5), "\(opening): what was not updated")
        check.equal(first.version, 2, "\(opening): the version")
        for (text, keys) in [("changed", [1]), ("apple", [2]), ("Banana", []), ("apple pie", [])] as [(String, [Int64])] {
            let found = try scratch.keys(ObjectRequest("Thing", where: .compare(.path("text"), .equal, .value(.string(text)))))
            check.equal(found, keys, "\(opening): things with the text \(text), by the index")
        }
        let tags = try scratch.members("Thing", "tags").filter { $0.key != 8 }
        check.equal(tags, [1: [202], 2: [201, 202], 4: [203]], "\(opening): tags")
        let notes = try scratch.read { reader in try ["kept", "removed", "late"].map { try reader.note($0) } }
        check.equal(notes, [Data([3]), nil, Data([4])], "\(opening): notes")
    }
}
