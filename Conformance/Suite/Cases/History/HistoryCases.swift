internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group H: the history entries of transactions.
enum HistoryCases {
    static let all: [ConformanceCase] = tokens + coalescing + tombstones

    private static let tokens: [ConformanceCase] = [
        HistoryScene.historyCase("H001.tokens-rise-and-are-values", "H1") { scratch, check in
            var tokens: [HistoryToken] = []
            for number in 0..<5 {
                if let token = try scratch.write({ try scratch.insert("Tag", [["size": .int(Int64(number))]], $0) }) {
                    tokens.append(token)
                }
            }
            check.equal(tokens.count, 5, "a token after each commit")
            check.equal(try scratch.history().map(\.token), tokens, "tokens of the entries, oldest first")
            check.equal(tokens.map(\.position), Array(Set(tokens.map(\.position))).sorted(), "positions rise")
            let data = try JSONEncoder().encode(tokens)
            check.equal(try JSONDecoder().decode([HistoryToken].self, from: data), tokens, "tokens from their coded form")
            check.equal(try scratch.history(since: tokens[2]).map(\.token), Array(tokens[3...]), "after the third")
        },
        HistoryScene.historyCase("H003.undone-work-leaves-nothing", "H3", [.savepoints]) { scratch, check in
            let key = try scratch.insert("Tag", [[:]])[0]
            let token = try scratch.token()
            let writer = try scratch.store.beginWrite(WriteOptions())
            try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(key, 0, ["size": .int(1)])])]))
            writer.end()
            let none = try scratch.write { writer in
                let mark = try writer.savepoint()
                try writer.apply(ChangeSet(entities: [scratch.deletes("Tag", [key])]))
                try writer.rollback(to: mark)
            }
            check.equal(none, nil, "the token of an undone change")
            check.equal(try scratch.history(since: token).count, 0, "entries")
            try scratch.write { writer in
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(key, 0, ["size": .int(1)])])]))
                let mark = try writer.savepoint()
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(key, 0, ["name": .string("x")])])]))
                try writer.rollback(to: mark)
            }
            check.equal(try scratch.lastChanges(), [try scratch.change("Tag", key, .update(try scratch.mask("Tag", "size")))], "changes")
        },
        HistoryScene.historyCase("H006.the-author-is-kept", "H2") { scratch, check in
            try scratch.write(author: "J\u{f6}rg \u{1f600}") { try scratch.insert("Tag", [[:]], $0) }
            try scratch.write { try scratch.insert("Tag", [[:]], $0) }
            check.equal(try scratch.history().map(\.author), ["J\u{f6}rg \u{1f600}", ""], "authors")
        },
        HistoryScene.historyCase("H007.a-token-of-another-store", "H1") { scratch, check in
            let foreign = HistoryToken(store: UUID(), position: 0)
            check.throwing(.tokenExpired, "history") { _ = try scratch.history(since: foreign) }
            check.throwing(.tokenExpired, "purge") { try scratch.write { try $0.purgeHistory(through: foreign) } }
        },
        HistoryScene.historyCase("H015.pages", "H5") { scratch, check in
            for _ in 0..<7 { try scratch.insert("Tag", [[:]]) }
            var token: HistoryToken?, sizes: [Int] = [], seen: [HistoryToken] = []
            let all = try scratch.history().map(\.token)
            while true {
                let page = try scratch.history(since: token, limit: 3)
                sizes.append(page.count)
                guard let last = page.last else { break }
                seen += page.map(\.token)
                token = last.token
            }
            check.equal(sizes, [3, 3, 1, 0], "sizes of pages")
            check.equal(seen, all, "all entries, each once")
        },
    ]

    private static let coalescing: [ConformanceCase] = [
        HistoryScene.historyCase("H004.one-change-for-each-object", "H2") { scratch, check in
            let old = try scratch.insert("Tag", [[:], [:]])
            var new: Int64 = 0
            try scratch.write { writer in
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(old[0], 0, ["name": .string("a")])])]))
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(old[0], 0, ["size": .int(1)])])]))
                new = try scratch.insert("Tag", [[:]], writer)[0]
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(new, 0, ["size": .int(2)])])]))
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(old[1], 0, ["size": .int(3)])])]))
                try writer.apply(ChangeSet(entities: [scratch.deletes("Tag", [old[1]])]))
            }
            check.equal(
                try scratch.lastChanges(),
                [
                    try scratch.change("Tag", old[0], .update(try scratch.mask("Tag", "name", "size"))),
                    try scratch.change("Tag", new, .insert), try scratch.change("Tag", old[1], .delete),
                ], "changes")
        },
        HistoryScene.historyCase("H004.one-change-for-each-owner-of-pairs", "H2") { scratch, check in
            let item = try scratch.insert("Item", [[:]])[0], tags = try scratch.insert("Tag", [[:], [:]])
            guard let link = scratch.schema.links.indices.first else { return check.isTrue(false, "a link table") }
            let owner = scratch.schema.entities[scratch.schema.links[link].owner].name
            func pair(_ tag: Int64) -> LinkPair {
                owner == "Item" ? LinkPair(owner: item, member: tag) : LinkPair(owner: tag, member: item)
            }
            try scratch.write { writer in
                try writer.apply(ChangeSet(links: [LinkChanges(link: link, removed: [], added: [pair(tags[0])])]))
                try writer.apply(ChangeSet(links: [LinkChanges(link: link, removed: [pair(tags[0])], added: [pair(tags[1])])]))
            }
            let owners = owner == "Item" ? [item] : tags
            check.equal(try scratch.lastChanges().map(\.key).sorted(), owners.sorted(), "owners")
            check.isTrue(try scratch.lastChanges().allSatisfy { $0.kind == .links(link) }, "changes of pairs")
        },
        HistoryScene.historyCase("H004.a-key-that-comes-back-was-changed", "H2") { scratch, check in
            let key = try scratch.insert("Item", [["number": .int(1), "name": .string("a")]])[0]
            try scratch.write { writer in
                try writer.apply(ChangeSet(entities: [scratch.deletes("Item", [key])]))
                let rows = scratch.source(try scratch.entity("Item"), [(key, 1, ["number": .int(2)])])
                try writer.apply(ChangeSet(entities: [EntityChanges(entity: try scratch.entity("Item"), inserts: rows)]))
            }
            // Every attribute may differ, and the history never contains the secret.
            check.equal(
                try scratch.lastChanges(), [try scratch.change("Item", key, .update(try scratch.mask("Item", "number", "name")))], "changes"
            )
        },
        HistoryScene.historyCase("H005.objects-created-and-deleted-in-one-transaction-are-not-recorded", "H2") { scratch, check in
            let token = try scratch.write { try scratch.insert("Tag", [[:]], $0) }
            let none = try scratch.write { writer in
                let keys = try scratch.insert("Tag", [[:], [:]], writer)
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(keys[0], 0, ["size": .int(1)])])]))
                try writer.apply(ChangeSet(entities: [scratch.deletes("Tag", keys)]))
            }
            check.equal(none, nil, "the token of a transaction that came to nothing")
            check.equal(try scratch.history(since: token).count, 0, "entries")
            var kept: Int64 = 0
            try scratch.write { writer in
                let keys = try scratch.insert("Tag", [[:], [:], [:]], writer)
                kept = keys[1]
                try writer.apply(ChangeSet(entities: [scratch.deletes("Tag", [keys[0], keys[2]])]))
            }
            check.equal(try scratch.lastChanges(), [try scratch.change("Tag", kept, .insert)], "changes")
        },
        HistoryScene.historyCase("H004.a-random-transaction-is-recorded-as-its-net-changes", "H2", [.savepoints]) { scratch, check in
            var transactions = RandomTransactions(scratch, check, seed: RandomCases.seed)
            try transactions.run(40)
        },
        HistoryScene.historyCase("H004.many-changes-of-many-objects", "H2") { scratch, check in
            let keys = try scratch.insert("Tag", (0..<3000).map { _ in [:] })
            try scratch.write { writer in
                for (name, value) in [("size", Value.int(1)), ("name", .string("n"))] {
                    try writer.apply(ChangeSet(entities: [scratch.updates("Tag", keys.map { ($0, 0, [name: value]) })]))
                }
                try writer.apply(ChangeSet(entities: [scratch.deletes("Tag", keys.filter { $0 % 3 == 0 })]))
            }
            let both = HistoryChange.Kind.update(try scratch.mask("Tag", "size", "name"))
            let expected = try keys.map { try scratch.change("Tag", $0, $0 % 3 == 0 ? .delete : both) }
            check.isTrue(try scratch.lastChanges() == expected, "changes by key")
        },
    ]

    private static let tombstones: [ConformanceCase] = [
        HistoryScene.historyCase("H002.a-deletion-keeps-what-the-model-preserves", "H2") { scratch, check in
            let id = UUID()
            let item = try scratch.insert("Item", [["number": .int(1), "name": .string("a"), "secret": .string("s")], [:]])
            let gadget = try scratch.insert("Gadget", [["name": .string("g"), "serial": .uuid(id)]])[0]
            let tag = try scratch.insert("Tag", [["name": .string("t")]])[0]
            try scratch.write { writer in
                try writer.apply(
                    ChangeSet(entities: [
                        scratch.deletes("Item", item), scratch.deletes("Gadget", [gadget]), scratch.deletes("Tag", [tag]),
                    ]))
            }
            check.equal(
                Set(try scratch.lastChanges()),
                [
                    try scratch.change("Item", item[0], .delete, tombstone: ["name": .string("a")]),
                    try scratch.change("Item", item[1], .delete, tombstone: ["name": .null]),
                    try scratch.change("Gadget", gadget, .delete, tombstone: ["name": .string("g"), "serial": .uuid(id)]),
                    try scratch.change("Tag", tag, .delete),
                ], "deletions")
        },
        HistoryScene.historyCase("H013.deleting-all-keeps-it-too", "H2") { scratch, check in
            try scratch.insert("Item", [["name": .string("a")], ["name": .string("b"), "number": .int(7)]])
            let gadget = try scratch.insert("Gadget", [["name": .string("c"), "number": .int(7)]])[0]
            let seven = QueryPredicate.compare(.path("number"), .equal, .value(.int(7)))
            var keys: [EntityIndex: [Int64]]?
            try scratch.write { keys = try $0.deleteAll(ObjectRequest("Item", where: seven).plan(in: scratch.schema)) }
            // A store that leaves batch deletions to the layer above returns nil.
            guard let keys else { return check.equal(try scratch.history().count, 2, "entries") }
            check.equal(keys[try scratch.entity("Gadget")], [gadget], "the gadget")
            let names = try scratch.lastChanges().map { $0.tombstone[scratch.schema[$0.entity].slot("name") ?? -1] }
            check.equal(Set(names), [.string("b"), .string("c")], "names")
        },
        ConformanceCase("H002.values-of-every-type", clause: "H2", needs: [.history]) { harness, check in
            let types = ValueType.allCases
            let attributes = types.map { Attribute($0.rawValue, $0, isOptional: true, history: .preserved) }
            let schema = try Schema(version: "V1", entities: [Entity("Every", attributes: attributes)])
            let values = types.map { type in
                (ProgramValues(type).extreme + ProgramValues(type).ordinary).map { NaiveGraph.stored($0, type) }
            }
            // The last object has no values, and others lack those of types that have fewer.
            let objects = (0...(values.map(\.count).max() ?? 0)).map { number in
                Dictionary(
                    uniqueKeysWithValues: zip(types, values).map { ($0.rawValue, $1.indices.contains(number) ? $1[number] : .null) })
            }
            try harness.withStore(schema) { scratch in
                let keys = try scratch.insert("Every", objects)
                try scratch.delete("Every", keys)
                let expected = try zip(keys, objects).map { try scratch.change("Every", $0, .delete, tombstone: $1) }
                check.equal(try scratch.lastChanges(), expected, "deletions")
            }
        },
        HistoryScene.historyCase("H002.the-last-values-count", "H2") { scratch, check in
            let key = try scratch.insert("Item", [["name": .string("before")]])[0]
            try scratch.write { writer in
                try writer.apply(ChangeSet(entities: [scratch.updates("Item", [(key, 0, ["name": .string("after")])])]))
                try writer.apply(ChangeSet(entities: [scratch.deletes("Item", [key])]))
            }
            check.equal(
                try scratch.lastChanges(), [try scratch.change("Item", key, .delete, tombstone: ["name": .string("after")])], "changes")
        },
        ConformanceCase("H014.tombstones-go-through-a-migration", clause: "M9", needs: [.history, .migrations]) { harness, check in
            let b = Attribute("b", .string, isOptional: true, history: .preserved)
            let scene = try MigrationScene(
                [Attribute("a", .int64, isOptional: true, history: .preserved), b],
                [Attribute("z", .int64, isOptional: true), Attribute("c", .string, isOptional: true, originalName: "b")])
            var losing = scene
            losing.losses = ["Note.a"]
            try losing.run(
                harness,
                fill: { scratch in
                    let key = try scratch.insert("Note", [["a": .int(1), "b": .string("kept")]])[0]
                    try scratch.delete("Note", [key])
                }
            ) { scratch in
                let deletions = try scratch.history().flatMap { Array($0.changes) }.filter { $0.kind == .delete }
                check.equal(deletions.map(\.tombstone), [[scratch.schema[0].slot("c") ?? -1: .string("kept")]], "by the new names")
            }
        },
        HistoryScene.historyCase("H016.what-the-model-excludes-is-never-named", "H2") { scratch, check in
            let key = try scratch.insert("Item", [["secret": .string("s")]])[0]
            try scratch.update("Item", key, ["secret": .string("t")])
            check.equal(try scratch.lastChanges(), [try scratch.change("Item", key, .update(SlotMask()))], "an update of it alone")
            try scratch.update("Item", key, ["secret": .string("u"), "number": .int(1)])
            check.equal(
                try scratch.lastChanges(), [try scratch.change("Item", key, .update(try scratch.mask("Item", "number")))], "beside another")
            try scratch.delete("Item", [key])
            check.equal(try scratch.lastChanges(), [try scratch.change("Item", key, .delete, tombstone: ["name": .null])], "a deletion")
        },
        .graph("H017.pairs-added-and-removed-in-one-transaction-are-not-recorded", "H2", needs: [.history]) { stack, check in
            try stack.write { transaction in
                try transaction.create(Person.self).name = "Ann"
                try transaction.create(Club.self).name = "Chess"
                try transaction.create(Song.self).title = "Waltz"
            }
            func change(_ transaction: BaseTransaction) throws {
                let ann = try person("Ann", in: transaction)
                check.equal(ann.songs, [], "songs")
                guard let club = try transaction.fetchOne(From<Club>()), let waltz = try transaction.fetchOne(From<Song>()) else {
                    return check.isTrue(false, "a club and a song")
                }
                try transaction.create(Note.self).text = "kept"
                let bob = try transaction.create(Person.self), polka = try transaction.create(Song.self)
                let squad = try transaction.create(Squad.self)
                (bob.clubs, bob.songs, ann.songs) = ([club], [waltz, polka], [polka])
                squad.players = [try transaction.create(Player.self)]
                try transaction.delete(bob, polka, squad)
            }
            try stack.perform(author: "closure", synchronous: { try change($0) })
            let work = stack.beginUnsafe(author: TransactionAuthor("detached"))
            try change(work)
            try work.commit()
            for author in ["closure", "detached"] {
                let changes = Array(try stack.storages[0].entry(by: author)?.changes ?? HistoryChanges())
                check.equal(changes.map(\.kind), [.insert], "changes of \(author)")
                check.equal(changes.map { stack.schema.entities[$0.entity].name }, ["Note"], "what changed by \(author)")
            }
        },
    ]
}
