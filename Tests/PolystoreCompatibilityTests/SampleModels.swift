import Foundation
import PolystoreCompatibility

/// The entity of the samples: what they assign is what it has.
class MyPersonEntity: CoreStoreObject {
    @Field.Stored("personID") var personID: Int = 0
    @Field.Stored("name") var name: String?
    @Field.Stored("age") var age: Int = 0
    @Field.Stored("location") var location: String?
    @Field.Relationship("friends") var friends: Set<MyPersonEntity>
    @Field.Relationship("friend") var friend: MyPersonEntity?
}

/// An entity that two configurations have.
class MyEntity: CoreStoreObject {
    @Field.Stored("entityID") var entityID: Int = 0
    @Field.Stored("name") var name: String = ""
}

enum Errors: Error { case InvalidNameError }

extension MyPersonEntity: ImportableUniqueObject {
    typealias ImportSource = [String: Any]

    class var uniqueIDKeyPath: String { return "personID" }

    var uniqueIDValue: Int {
        get { return self.personID }
        set { self.personID = newValue }
    }

    class func uniqueID(from source: ImportSource, in transaction: BaseDataTransaction) throws -> Int? {
        return source["id"] as? Int
    }

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        self.name = source["name"] as? String
        self.age = source["age"] as? Int ?? 0
        if self.name == nil {
            throw Errors.InvalidNameError
        }
    }
}

func sampleStack() throws -> DataStack {
    try DataStack(
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<MyPersonEntity>("Person", uniqueConstraints: []),
                Entity<MyEntity>("MyEntity"),
            ],
            entityConfigurations: ["Person": ["Config2"], "MyEntity": ["Config1", "Config2"]]))
}

/// Waits for what a sample does in the background.
final class Done: @unchecked Sendable {
    // Unchecked: the semaphore orders every access.
    private let semaphore = DispatchSemaphore(value: 0)
    private(set) var text = ""

    func callAsFunction(_ text: String = "") {
        self.text = text
        semaphore.signal()
    }

    func wait() -> String? { semaphore.wait(timeout: .now() + 10) == .success ? text : nil }
}
