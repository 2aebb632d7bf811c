import Foundation
import PolystoreCatalog
import PolystoreCompatibility

/// A class in CoreStore's own declaration syntax, with the eight attributes of `Person`.
final class FieldPerson: CoreStoreObject {
    @Field.Stored("number") var number: Int64 = 0
    @Field.Stored("name") var name: String = ""
    @Field.Stored("email") var email: String = ""
    @Field.Stored("age") var age: Int64 = 0
    @Field.Stored("score") var score: Double = 0
    @Field.Stored("active") var active: Bool = false
    @Field.Stored("created") var created: Date = Date(timeIntervalSince1970: 0)
    @Field.Stored("note") var note: String?
}

/// A comparison of fetching objects of CoreStore's own declaration syntax with objects of a generated class, from the same kind of store.
struct FieldsBenchmark {
    let place: Places
    let count: Int
    let rounds: Int
    let report: (Measurement) -> Void

    func run() throws {
        let fields = try DataStack(
            CoreStoreSchema(modelVersion: "1", entities: [PolystoreCompatibility.Entity<FieldPerson>("FieldPerson")]))
        let plain = try DataStack(Person.self, Employee.self)
        for stack in [fields, plain] {
            try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(try place.url("sqlite")), configuration: nil))
        }
        defer { for stack in [fields, plain] { for store in stack.storages { try? stack.removeStorage(store) } } }
        let rows = PersonValues.rows(count)
        try fields.perform(synchronous: { transaction in
            for row in rows {
                let person = try transaction.create(FieldPerson.self)
                (person.number, person.name, person.email, person.age) = (row.number, row.name, row.email, row.age)
                (person.score, person.active, person.created, person.note) = (row.score, row.active, row.created, row.note)
            }
        })
        try plain.perform(synchronous: { transaction in
            for row in rows {
                let person = try transaction.create(Person.self)
                (person.number, person.name, person.email, person.age) = (Int(row.number), row.name, row.email, Int(row.age))
                (person.score, person.active, person.created, person.note) = (row.score, row.active, row.created, row.note)
            }
        })
        var measurement = Measurement("fetch-objects", store: "sqlite", against: "generated", count: count, form: "@Field")
        try measurement.run(
            rounds: rounds,
            ours: {
                try nanoseconds {
                    if try fields.fetchAll(From<FieldPerson>()).reduce(0, { $0 + $1.age }) == 0 { throw BenchmarkError.wrongAnswer }
                }
            },
            theirs: {
                try nanoseconds {
                    if try plain.fetchAll(From<Person>()).reduce(0, { $0 + $1.age }) == 0 { throw BenchmarkError.wrongAnswer }
                }
            })
        report(measurement)
    }
}
