#if Macros
import Foundation
import Polystore
import PolystoreInMemory
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of the guide for users of SwiftData.
enum FromSwiftData {
    @Model final class Trip: ManagedObject {
        @Attribute(.unique) var name: String
        var start: Date = .now
        var isPlanned: Bool = true
        @Transient var isSelected: Bool = false
        @Relationship(inverse: \Stop.trip, deleteRule: .cascade) var stops: [Stop]
    }

    @Model final class Stop: ManagedObject {
        var city: String = ""
        var nights: Int = 1
        @Relationship var trip: Trip?
    }
}

extension FromSwiftData {
    /// A model whose relationships do not name an inverse.
    enum Loose {
        @Model final class Hotel: ManagedObject {
            @Relationship var rooms: Set<Room>
        }

        @Model final class Room: ManagedObject {
            @Relationship var hotel: Hotel?
        }
    }

    /// Two versions of a model.
    enum V1 {
        @Model final class Guide: ManagedObject {
            var name: String = ""
        }
    }

    enum V2 {
        @Model final class Guide: ManagedObject {
            @Attribute(originalName: "name") var title: String = ""
        }
    }

    enum GuideVersions: String, ModelVersion {
        case v1, v2

        var models: [ManagedObject.Type] {
            switch self {
            case .v1: [V1.Guide.self]
            case .v2: [V2.Guide.self]
            }
        }

        var schema: Schema { get throws(StorageError) { try DataStack(models: models, version: rawValue).schema } }
    }

    @Suite struct Samples {
        @Test func aTripIsSaved() async throws {
            let path = temporaryPath()
            let stack = try DataStack(Trip.self, Stop.self)
            try await stack.addStorage(SQLiteStore(path: path))
            let id = try await stack.perform { transaction in
                let trip = try transaction.create(Trip.self)
                trip.name = "Around the Baltic"
                let stop = try transaction.create(Stop.self)
                stop.city = "Riga"
                trip.stops.append(stop)
                return trip.objectID
            }
            let trip = try stack.fetchExisting(id)
            defer { for store in stack.storages { try? store.erase() } }
            #expect(trip?.stops.map(\.city) == ["Riga"])
        }

        @Test func predicatesOfFoundationAreTranslated() throws {
            let stack = try filled()
            let city = "Oslo"
            let trips = try stack.fetchAll(
                From<Trip>()
                    .where(#Predicate { $0.isPlanned && $0.stops.contains { $0.city == city } })
                    .orderBy(.descending(\.start)).limit(10))
            let nights = try stack.queryValue(From<Stop>().select(Int.self, .sum(\.nights)))
            #expect(trips.map(\.name) == ["North"] && nights == 3)
        }

        @MainActor @Test func aPublishedListFollowsCommits() async throws {
            let stack = try filled()
            let trips = try stack.publishList(From<Trip>().where(\.isPlanned == true).orderBy(\.name))
            let id = try #require(trips.snapshot.itemIDs.first)
            try await stack.perform { try $0.edit(id)?.isPlanned = false }
            for await snapshot in trips.snapshots where snapshot.numberOfItems == 1 {
                #expect(try stack.fetchExisting(snapshot.itemIDs).map(\.name) == ["South"])
                break
            }
        }

        @Test func aRenamedAttributeKeepsItsValues() async throws {
            let path = temporaryPath()
            let first = try DataStack(V1.Guide.self, version: "v1"), store = SQLiteStore(path: path)
            try first.addStorageAndWait(store)
            try await first.perform { try $0.create(V1.Guide.self).name = "old town" }
            try first.removeStorage(store)

            let stack = try DataStack(schemaHistory: GuideVersions.history)
            try await stack.addStorage(SQLiteStore(path: path))
            let guides = try stack.fetchAll(From<V2.Guide>())
            #expect(guides.map(\.title) == ["old town"])
            for store in stack.storages { try store.erase() }
        }

        @MainActor @Test func aViewContextHasOneObjectAndUniqueValuesAreConstraints() async throws {
            let stack = try filled()
            let context = stack.viewContext
            let trip = try #require(try context.fetchOne(From<Trip>().where(\.name == "North")))
            #expect(try context.fetchOne(From<Trip>().where(\.name == "North")) === trip)
            try await stack.perform { try $0.fetchOne(From<Trip>().where(\.name == "North"))?.isPlanned = false }
            try context.merge()
            #expect(!trip.isPlanned)
            // A unique value is refused and not an upsert.
            await #expect {
                try await stack.perform { try $0.create(Trip.self).name = "South" }
            } throws: { ($0 as? StorageError)?.code == .uniqueConstraintViolated }
        }

        @Test func noInverseIsInferred() async throws {
            let stack = try DataStack(Loose.Hotel.self, Loose.Room.self)
            try stack.addStorageAndWait(InMemoryStore())
            try await stack.perform { transaction in
                try transaction.create(Loose.Room.self).hotel = try transaction.create(Loose.Hotel.self)
            }
            #expect(try stack.fetchOne(From<Loose.Hotel>())?.rooms == [])
        }

        private func filled() throws -> DataStack {
            let stack = try DataStack(Trip.self, Stop.self)
            try stack.addStorageAndWait(InMemoryStore())
            try stack.perform(synchronous: { transaction in
                for (name, cities) in [("North", ["Oslo", "Bergen"]), ("South", ["Rome"])] {
                    let trip = try transaction.create(Trip.self)
                    trip.name = name
                    for city in cities {
                        let stop = try transaction.create(Stop.self)
                        (stop.city, stop.trip) = (city, trip)
                    }
                }
            })
            return stack
        }
    }
}
#endif
