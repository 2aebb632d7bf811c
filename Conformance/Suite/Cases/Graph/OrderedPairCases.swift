internal import Polystore
internal import PolystoreStorage

/// Cases about many-to-many relationships of which one side is ordered.
enum OrderedPairCases {
    static let all: [ConformanceCase] = [
        pairs("R036.what-the-unordered-side-adds-comes-last", appended),
        pairs("R036.the-order-of-assignment-is-that-of-the-list", inOrder),
    ]

    private static func pairs(
        _ id: String, _ body: @escaping @Sendable (DataStack, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: "R5") { harness, check in
            let schema = try Schema(
                version: "1",
                entities: [
                    Entity(
                        "Playlist", attributes: [Attribute("name", .string, defaultValue: .string(""))],
                        relationships: [Relationship("tracks", to: "Track", .toManyOrdered, inverse: "playlists")]),
                    Entity(
                        "Track", attributes: [Attribute("name", .string, defaultValue: .string(""))],
                        relationships: [Relationship("playlists", to: "Playlist", .toMany, inverse: "tracks")]),
                ])
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            try body(stack, check)
        }
    }

    private static func make(_ entity: String, _ name: String, _ transaction: BaseTransaction) throws -> DynamicObject {
        let object = try transaction.create(Into<DynamicObject>(entity: entity))
        try object.setValue(.string(name), for: "name")
        return object
    }

    private static func find(_ entity: String, _ name: String, _ source: some FetchSource) throws -> DynamicObject {
        let found = try source.fetchAll(From<DynamicObject>(entity: entity)).first { try $0.value("name") == .string(name) }
        guard let found else { throw StorageError(.notFound, "no \(entity) \(name)") }
        return found
    }

    private static func tracks(_ name: String, _ source: some FetchSource) throws -> [String] {
        try find("Playlist", name, source).objects("tracks").map { track in
            guard case .string(let name)? = try (track as? DynamicObject)?.value("name") else { return "-" }
            return name
        }
    }

    @Sendable private static func appended(_ stack: DataStack, _ check: Check) throws {
        try stack.write { transaction in
            let list = try make("Playlist", "p", transaction), other = try make("Playlist", "q", transaction)
            let tracks = try ["c", "a", "b"].map { try make("Track", $0, transaction) }
            try list.setObjects(tracks, for: "tracks")
            try tracks[2].setObjects([list, other], for: "playlists")
        }
        check.equal(try stack.read(synchronous: { try tracks("p", $0) }), ["c", "a", "b"], "unchanged")
        try stack.write { transaction in
            let list = try find("Playlist", "p", transaction), new = try make("Track", "0", transaction)
            try new.setObjects([list], for: "playlists")
            check.equal(try tracks("p", transaction), ["c", "a", "b", "0"], "before the commit")
        }
        check.equal(try stack.read(synchronous: { try tracks("p", $0) }), ["c", "a", "b", "0"], "of a list that was not loaded")
        let work = stack.beginUnsafe(), playlists = try ["p", "q"].map { try find("Playlist", $0, work) }
        try find("Track", "a", work).setObjects(playlists, for: "playlists")
        try find("Track", "c", work).setObjects([playlists[1]], for: "playlists")
        check.equal(try tracks("p", work), ["a", "b", "0"], "the first list of a detached transaction")
        check.equal(try tracks("q", work), ["b", "a", "c"], "the second")
        try work.commit()
        check.equal(try stack.read(synchronous: { try tracks("p", $0) }), ["a", "b", "0"], "the first list")
        check.equal(try stack.read(synchronous: { try tracks("q", $0) }), ["b", "a", "c"], "the second list")
    }

    /// Creates tracks in one order and adds them to the list in another.
    @Sendable private static func inOrder(_ stack: DataStack, _ check: Check) throws {
        let order = ["d", "b", "e", "a", "c"]
        for isDetached in [false, true] {
            let name = isDetached ? "detached" : "in a closure"
            func fill(_ transaction: BaseTransaction) throws {
                let list = try make("Playlist", name, transaction)
                let tracks = try ["a", "b", "c", "d", "e"].map { try make("Track", "\($0) \(name)", transaction) }
                for letter in order {
                    for track in tracks where try track.value("name") == .string("\(letter) \(name)") {
                        try track.setObjects([list], for: "playlists")
                    }
                }
            }
            if isDetached {
                let work = stack.beginUnsafe()
                try fill(work)
                try work.commit()
            } else {
                try stack.write { try fill($0) }
            }
            check.equal(try stack.read(synchronous: { try tracks(name, $0) }), order.map { "\($0) \(name)" }, name)
        }
    }
}
