import Foundation
import GRDB
import Polystore

/// The model of every workload: 8 attributes in a hierarchy of two entities, like the model of a user with subentities.
enum BenchmarkModel {
    static let json = """
        {"version":"1","entities":[
          {"name":"Person","attributes":[
            {"name":"number","type":"int64"},{"name":"name","type":"string"},{"name":"email","type":"string"},
            {"name":"age","type":"int64"},{"name":"score","type":"double"},{"name":"active","type":"bool"},
            {"name":"created","type":"date"},{"name":"note","type":"string","optional":true}]},
          {"name":"Employee","parent":"Person","attributes":[{"name":"salary","type":"int64"}]}]}
        """
}

/// The values of one row, created before any measurement starts.
struct PersonValues {
    let key: Int64
    let number: Int64
    let name: String
    let email: String
    let age: Int64
    let score: Double
    let active: Bool
    let created: Date
    let note: String?

    /// Creates values: names of 9 to 15 bytes, emails of 22 to 27, a note of 16 to 31 bytes in half of the rows.
    init(_ index: Int) {
        key = Int64(index)
        number = Int64(index) * 7
        name = "Pers " + String(10_000 + index % 9_000_000)
        email = "user" + String(1_000_000 + index) + "@example.com"
        age = Int64(index * 31 % 100)
        score = Double(index % 10_000) / 7
        active = index % 3 == 0
        created = Date(timeIntervalSince1970: 1_700_000_000 + Double(index) / 4)
        note = index % 2 == 0 ? nil : "a note on person " + String(index)
    }

    static func rows(_ count: Int) -> [PersonValues] { (1...count).map(PersonValues.init) }
}

/// GRDB's record: a struct with a hand-written initializer and encoder, the fastest documented form.
struct PersonRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "person"
    var id: Int64
    var number: Int64
    var name: String
    var email: String
    var age: Int64
    var score: Double
    var active: Bool
    var created: Int64
    var note: String?

    init(_ values: PersonValues) {
        id = values.key
        number = values.number
        name = values.name
        email = values.email
        age = values.age
        score = values.score
        active = values.active
        created = Int64(values.created.timeIntervalSince1970 * 1_000_000)
        note = values.note
    }

    init(row: Row) {
        id = row[0]
        number = row[1]
        name = row[2]
        email = row[3]
        age = row[4]
        score = row[5]
        active = row[6]
        created = row[7]
        note = row[8]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["number"] = number
        container["name"] = name
        container["email"] = email
        container["age"] = age
        container["score"] = score
        container["active"] = active
        container["created"] = created
        container["note"] = note
    }
}
