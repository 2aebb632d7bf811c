#if Macros
import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of the guide for users of RCDataKit.
enum FromRCDataKit {
    @Model final class Student: ManagedObject {
        @Attribute(.unique) var id: Int
        var name: String = ""
        var age: Int = 0
        @Relationship var school: School?
    }

    @Model final class School: ManagedObject {
        @Attribute(.unique) var id: Int
        var name: String = ""
        @Relationship(inverse: \Student.school) var students: Set<Student>
    }
}

extension TransactionAuthor {
    fileprivate static var app: TransactionAuthor { "app" }
    fileprivate static var enrolment: TransactionAuthor { "enrolment" }
}

extension FromRCDataKit {
    struct ImportedStudent: Persistable, Identifiable {
        var id: Int
        var name: String
        var schoolID: Int

        static func generateImporterData(objects: [Self], context: BaseTransaction) throws -> [Int: School] {
            let schools = try context.fetchAll(From<School>().where((\School.id).isIn(objects.map(\.schoolID))))
            return Dictionary(uniqueKeysWithValues: schools.map { ($0.id, $0) })
        }

        func importIntoContext(_ context: BaseTransaction, importerData: inout [Int: School]) throws -> PersistenceResult {
            let known = try context.fetchOne(From<Student>().where(\.id == id))
            let student = try known ?? context.create(Student.self)
            student.id = id
            student.update(\.name, value: name)
            student.school = importerData[schoolID]
            return known == nil ? .insert(student.objectID) : .update(student.objectID)
        }
    }

    @Suite struct Samples {
        @MainActor @Test func contextsHaveAuthors() async throws {
            let path = temporaryPath()
            let myStack = try BasicDataStack(Student.self, School.self, path: path, mainAuthor: .app)
            let context = myStack.backgroundContext(author: .enrolment)
            let dan = try Student(context: context)
            dan.id = 1
            dan.name = "Dan"
            try context.saveIfNeeded()
            let danID = TypedObjectID(dan)
            let shown = try myStack.viewContext.existing(Student.self, withID: danID)
            defer { for store in myStack.dataStack.storages { try? store.erase() } }
            #expect(shown?.name == "Dan" && shown !== dan)
            #expect(try myStack.dataStack.history().transactions.map(\.author) == [.enrolment])
        }

        @Test func importsArePersistable() async throws {
            let stack = try filled()
            let received = [ImportedStudent(id: 1, name: "Ann", schoolID: 7), ImportedStudent(id: 2, name: "Ben", schoolID: 7)]
            let results = try await stack.perform(author: .enrolment) { transaction in
                let results: [PersistenceResult] = try transaction.importPersistableObjects(received)
                return results.count
            }
            #expect(results == 2)
            #expect(try stack.fetchOne(From<School>())?.students.count == 2)
        }

        @Test func conditionsOfKeyPathsSelectStudents() throws {
            let stack = try filled()
            try stack.perform(synchronous: { transaction in
                for (id, name, age) in [(1, "Ann", 15), (2, "Ben", 19), (3, "Cid", 20), (4, "Dan", 13)] {
                    let student = try transaction.create(Student.self)
                    (student.id, student.name, student.age) = (id, name, age)
                }
            })
            let isTeenager: Where<Student> = \.age >= 13 && \.age < 20
            let isAnn = (\Student.name).equal(to: "ann", options: .caseAndDiacriticInsensitive)
            let students = try stack.fetchAll(From<Student>().where(isTeenager && !isAnn).orderBy(.descending(\.age)))
            #expect(students.map(\.name) == ["Ben", "Dan"])
        }

        @Test func aTrackerFollowsOtherAuthors() async throws {
            let stack = try filled()
            let tracker = PersistentHistoryTracker(stack, currentAuthor: .app)
            tracker.startMonitoring()
            let events = tracker.events()
            try await stack.perform(author: .enrolment) { try $0.create(Student.self).id = 3 }
            for await event in events {
                guard case .transaction(let transaction) = event, transaction.author == .enrolment else { continue }
                let ids = transaction.changes.insertedObjectIDs(Student.self)
                #expect(try stack.fetchExisting(ids).map(\.id) == [3])
                break
            }
            tracker.stopMonitoring()
        }

        @Test func aTestHasAStackOfItsOwn() async throws {
            let stack = try TestingStack(Student.self, School.self).dataStack
            try await stack.perform { try $0.create(Student.self).id = 1 }
            #expect(try stack.fetchCount(From<Student>()) == 1)
        }

        private func filled() throws -> DataStack {
            let stack = try DataStack(Student.self, School.self)
            try stack.addStorageAndWait(InMemoryStore())
            try stack.perform(synchronous: { try $0.create(School.self).id = 7 })
            return stack
        }
    }
}
#endif
