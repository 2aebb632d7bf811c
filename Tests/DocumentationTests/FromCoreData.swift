#if Macros
import Foundation
import Polystore
import PolystoreInMemory
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of the guide for users of Core Data.
enum FromCoreData {
    @Model(indexes: [Index(["released"])]) final class Album: ManagedObject {
        @Attribute(.unique) var code: String
        var title: String = ""
        var released: Date?
        var rating: Int16 = 0
        @Relationship(inverse: \Track.album, deleteRule: .cascade) var tracks: [Track]
    }

    @Model final class Track: ManagedObject {
        @Attribute(.minLength(1)) var name: String
        var seconds: Double = 0
        @Relationship(required: true) var album: Album?
    }
}

extension FromCoreData {
    @MainActor final class AlbumTitles: @MainActor ListObserver {
        typealias ListEntityType = Album
        private(set) var titles: [String] = []

        func listMonitorDidChange(_ monitor: ListMonitor<Album>) {
            titles = (0..<monitor.numberOfObjects).map { monitor[$0].title }
        }

        func listMonitorDidRefetch(_ monitor: ListMonitor<Album>) { listMonitorDidChange(monitor) }
    }

    @Suite struct Samples {
        @Test func albumsAreSavedInATransaction() async throws {
            let path = temporaryPath()
            let stack = try DataStack(Album.self, Track.self)
            try await stack.addStorage(SQLiteStore(path: path))
            let id = try await stack.perform(author: "editor") { transaction in
                let album = try transaction.create(Album.self)
                album.code = "K622"
                album.title = "Clarinet Concerto"
                let track = try transaction.create(Track.self)
                track.name = "Allegro"
                album.tracks.append(track)
                return album.objectID
            }
            defer { for store in stack.storages { try? store.erase() } }
            let album = try #require(try stack.fetchExisting(id))
            #expect(album.tracks.map(\.name) == ["Allegro"])
            #expect(album.tracks.allSatisfy { $0.album == album })
            #expect(try stack.history().transactions.map(\.author) == ["editor"])
        }

        @Test func requestsAreValues() throws {
            let stack = try filled()
            let request = From<Album>()
                .where(\.rating >= 3 && (\Album.tracks).any(\.seconds > 300))
                .orderBy(.descending(\.rating), .ascending(\.title)).prefetch(\.tracks).limit(20)
            let albums = try stack.fetchAll(request)
            let best = try stack.queryValue(From<Album>().select(Int16.self, .maximum(\.rating)))
            #expect(albums.map(\.title) == ["Ballades", "Preludes"])
            let format = Where<Album>(format: "rating >= %d AND ANY tracks.seconds > %f", 3, 300.0)
            #expect(try stack.fetchCount(From<Album>().where(format)) == 2 && best == 5)
        }

        @MainActor @Test func aMonitorReportsChanges() async throws {
            let stack = try filled()
            let monitor = try stack.monitorList(From<Album>().where(\.rating >= 4).orderBy(.ascending(\.title)))
            let observer = AlbumTitles()
            monitor.addObserver(observer)
            try await stack.perform { transaction in
                try transaction.fetchOne(From<Album>().where(\.title == "Etudes"))?.rating = 5
            }
            try stack.viewContext.merge()
            #expect(observer.titles == ["Ballades", "Etudes", "Preludes"])
        }

        @Test func anEditorHasUndoAndAMergePolicy() throws {
            let stack = try filled()
            let id = try #require(try stack.fetchIDs(From<Album>().where(\.code == "A")).first)
            let editor = stack.beginUnsafe(author: "editor", supportsUndo: true)
            let draft = try editor.edit(id)
            try editor.markUndoPoint()
            draft?.title = "Studies"
            try editor.undo()
            draft?.rating = 1
            try editor.commit(merging: .mine)
            let album = try #require(try stack.fetchExisting(id))
            #expect(album.title == "Etudes" && album.rating == 1)
        }

        @Test func batchesWorkOnRows() async throws {
            let stack = try filled()
            try await stack.perform(author: "import") { transaction in
                try transaction.insertAll(Into<Album>(), sources: 1...1000) { album, number in
                    album.code = "N\(number)"
                }
                try transaction.updateAll(From<Album>().where(\.rating == 0), .set(\.rating, to: 2))
                try transaction.deleteAll(From<Album>().where(\.code == "N7"))
            }
            #expect(try stack.fetchCount(From<Album>().where(\.rating == 2)) == 999)
        }

        @Test func fetchedObjectsAreSeparateAndRequiredRelationshipsAreChecked() throws {
            let stack = try filled()
            let one = try #require(try stack.fetchOne(From<Album>())), other = try #require(try stack.fetchOne(From<Album>()))
            #expect(one != other && one.objectID == other.objectID)
            try stack.perform(synchronous: { try $0.edit(one)?.title = "new" })
            #expect(one.title == "Etudes")
            // A required relationship, at the commit.
            #expect {
                try stack.perform(synchronous: { try $0.create(Track.self).name = "x" })
            } throws: { error in
                (error as? StorageError)?.code == .validationFailed
                    && (error as? StorageError)?.details.failures.map(\.property) == ["album"]
            }
            // Nil: first in ascending orders, and different from every value.
            #expect(try stack.fetchCount(From<Album>().where(\.released != Date())) == 3)
        }

        private func filled() throws -> DataStack {
            let stack = try DataStack(Album.self, Track.self)
            try stack.addStorageAndWait(InMemoryStore())
            try stack.perform(synchronous: { transaction in
                for (code, title, rating, seconds) in [("A", "Etudes", 3, 100.0), ("B", "Ballades", 5, 400), ("C", "Preludes", 4, 500)] {
                    let album = try transaction.create(Album.self)
                    (album.code, album.title, album.rating) = (code, title, Int16(rating))
                    let track = try transaction.create(Track.self)
                    (track.name, track.seconds, track.album) = ("1", seconds, album)
                }
            })
            return stack
        }
    }
}
#endif
