import Foundation
import Polystore
import PolystoreInMemory
import Synchronization
import TestStores
import Testing

/// Remembers what is reported on the thread that asks for it.
private final class RecordingLogger: StoreLogger {
    struct Report {
        let kind: String
        let text: String
        let file: String
        let function: String
        let thread: ObjectIdentifier
        /// The entity and the property of an error.
        var place = ""
    }

    let reports = Mutex<[Report]>([])

    private func add(_ kind: String, _ text: String, _ file: StaticString, _ function: StaticString, _ place: String = "") {
        let report = Report(
            kind: kind, text: text, file: "\(file)", function: "\(function)", thread: ObjectIdentifier(Thread.current), place: place)
        reports.withLock { $0.append(report) }
    }

    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        add("\(level)", message, fileName, functionName)
    }
    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        add("error \(error.code)", message, fileName, functionName, "\(error.details.entity ?? "-").\(error.details.property ?? "-")")
    }
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        if !condition() { add("assert", message(), fileName, functionName) }
    }

    /// What was reported on this thread.
    var own: [Report] {
        reports.withLock { $0.filter { $0.thread == ObjectIdentifier(Thread.current) } }
    }
}

@Suite(.serialized) struct LoggingTests {
    private func recording(_ body: (RecordingLogger) throws -> Void) rethrows {
        let logger = RecordingLogger()
        try ProcessLogger.replaced(by: logger) { try body(logger) }
    }

    @Test func everyThrownErrorIsReportedOnceOnItsThread() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            #expect(throws: StorageError.self) { try stack.fetchAll(From<Person>()) }
            #expect(logger.own.map(\.kind) == ["error notFound"])
            #expect(logger.own.first?.function == "fetchAll(_:timeout:)")
            #expect(logger.own.first?.file.hasPrefix("PolystoreObjects/") == true)
            try stack.addStorageAndWait(InMemoryStore())
            #expect(throws: StorageError.self) {
                try stack.perform(synchronous: { try $0.fetchAll(From<Person>().where(Where(.compare(.path("x"), .equal, .value(.null))))) }
                )
            }
            #expect(logger.own.map(\.kind) == ["error notFound", "error invalidPredicate"], "once, although two levels throw it")
        }
    }

    @Test func eachPropertyThatCannotBeLoadedIsReportedOnce() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(InMemoryStore())
            try stack.perform(synchronous: { transaction in
                for _ in 0..<2 { try transaction.create(Dog.self).owner = transaction.create(Person.self) }
            })
            let people = try stack.fetchAll(From<Person>().properties(\.age)), dogs = try stack.makeViewContext().fetchAll(From<Dog>())
            try stack.removeStorage(stack.storages[0])
            for person in people { _ = (person.pets, person.name) }
            for dog in dogs { _ = dog.owner }
            let places = logger.own.map(\.place).filter { !$0.isEmpty }
            #expect(places == ["Person.pets", "Person.name", "Dog.owner"])
        }
    }

    @Test func anErrorThatALoadThrowsIsNotReported() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(InMemoryStore())
            try stack.perform(synchronous: { try $0.create(Dog.self).owner = $0.create(Person.self) })
            stack.relationships = .strict
            let view = stack.makeViewContext()
            let objects = [try stack.fetchAll(From<Dog>())[0], try view.fetchAll(From<Dog>())[0]]
            for dog in objects { #expect(throws: StorageError.self) { try dog.load(\.owner) } }
            #expect(logger.own.map(\.text) == [])
            #expect(view.loadError == nil)
            // A getter of the same property does report it: nothing else does.
            for dog in objects { #expect(dog.owner == nil) }
            #expect(logger.own.map(\.place).filter { !$0.isEmpty } == ["Dog.owner", "Dog.owner"])
        }
    }

    @Test func aCancelledTransactionIsNotReported() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(InMemoryStore())
            #expect {
                try stack.perform(synchronous: { transaction in
                    try transaction.create(Person.self).name = "Ann"
                    try transaction.cancel()
                })
            } throws: { ($0 as? StorageError)?.code == .cancelled }
            #expect(try logger.own.map(\.text) == [] && stack.fetchCount(From<Person>()) == 0)
        }
    }

    @Test func aMistakeOfTheProgramIsAsserted() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(InMemoryStore())
            #expect(throws: StorageError.self) { try stack.perform(synchronous: { _ in try stack.perform(synchronous: { _ in }) }) }
            #expect(logger.own.map(\.kind) == ["error reentrantCall", "assert"])
        }
    }

    @Test func anAssignmentOutsideItsTransactionIsReportedAndNotMade() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(InMemoryStore())
            try stack.perform(synchronous: { try $0.create(Person.self).name = "Ann" })
            let ann = try stack.fetchAll(From<Person>())[0]
            ann.name = "Bob"
            #expect(ann.name == "Ann")
            #expect(!ann.hasChanges)
            #expect(logger.own.map(\.kind) == ["error readOnly", "assert"])
            #expect(logger.own.first?.text.hasPrefix("Person.name was assigned outside its transaction") == true)
        }
    }

    /// A logger is called on the thread of the error, in the middle of a getter that cannot throw.
    @Test func aLoggerMayUseTheObjectsOfTheErrorThatItGets() throws {
        final class LookingLogger: StoreLogger {
            // Only the thread of the test calls it.
            nonisolated(unsafe) var look: (() -> Void)?
            let errors = Mutex(0)

            func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {}
            func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
                guard error.code == .unplannedLoad else { return }
                errors.withLock { $0 += 1 }
                look?()
            }
            func assert(
                _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String, fileName: StaticString, lineNumber: Int,
                functionName: StaticString
            ) {}
        }
        let stack = try DataStack(Person.self, Animal.self, Dog.self), logger = LookingLogger()
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in for _ in 0..<2 { _ = try transaction.create(Person.self) } })
        stack.relationships = .strict
        let people = try stack.makeViewContext().fetchAll(From<Person>())
        // Another object has the same error, which is recorded and not reported again.
        logger.look = { #expect(people[1].pets.isEmpty) }
        ProcessLogger.replaced(by: logger) { #expect(people[0].pets.isEmpty) }
        #expect(logger.errors.withLock { $0 } == 1)
    }

    @Test func errorsOfTheProgramAreNotLogged() throws {
        struct Own: Error {}
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(InMemoryStore())
            #expect(throws: Own.self) { try stack.perform(synchronous: { _ in throw Own() }) }
            #expect(logger.own.isEmpty)
        }
    }

    @Test(arguments: TestStore.all) func rowsThatAreReadAboveAStoreAreReported(_ kind: TestStore) throws {
        try recording { logger in
            let stack = try kind.stack()
            try stack.perform(synchronous: { transaction in
                for age in 0..<50 { try transaction.create(Person.self).age = age }
            })
            let condition = Where<Person>(format: "TERNARY(lowercase(name) == 'x', 0, age) >= 45")
            func notices() throws -> [String] {
                let before = logger.own.count
                #expect(try stack.fetchAll(From<Person>().where(condition)).count == 5)
                #expect(try stack.fetchCount(From<Person>().where(condition)) == 5)
                return logger.own.dropFirst(before).filter { $0.kind == "notice" }.map(\.text)
            }
            #expect(try notices().isEmpty)
            stack.reportedRows = 50
            let isAnswered = try stack.explain(From<Person>().where(condition)).stores[0].conditions[0].pushdown == .exact
            let reports = try notices()
            #expect(reports.count == (isAnswered ? 0 : 2))
            #expect(reports.allSatisfy { $0.hasPrefix("50 rows of Person were read for 5, ") })
        }
    }

    @Test func rowsAndRelatedRowsThatAreReadAboveAPlainStoreAreReported() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(PlainStore())
            try stack.perform(synchronous: { transaction in
                for age in 0..<50 {
                    let person = try transaction.create(Person.self)
                    person.age = age
                    for number in 0..<10 {
                        let dog = try transaction.create(Dog.self)
                        (dog.name, dog.owner) = ("Dog \(number) of \(age)", person)
                    }
                }
            })
            func notices(_ format: String) throws -> [String] {
                let before = logger.own.count, condition = Where<Person>(format: format)
                #expect(try stack.fetchAll(From<Person>().where(condition)).count == 5)
                #expect(try stack.fetchCount(From<Person>().where(condition)) == 5)
                return logger.own.dropFirst(before).filter { $0.kind == "notice" }.map(\.text)
            }
            stack.reportedRows = 50
            #expect(try notices("age >= 45").map { $0.prefix(36) } == Array(repeating: "50 rows of Person were read for 5, b", count: 2))
            stack.reportedRows = 100
            #expect(try notices("age >= 45").isEmpty)
            let related = try notices("ANY pets.name IN[c] {'dog 3 of 7', 'dog 1 of 8', 'dog 9 of 9', 'DOG 0 OF 0', 'dog 0 of 49'}")
            #expect(related.count == 2)
            #expect(related.allSatisfy { $0.hasPrefix("50 rows of Person and 500 related rows were read for 5, because the plain store") })
        }
    }
}

/// A store that answers nothing but whole tables and lists of values.
private final class PlainStore: ForwardingStore {
    static let storeType = "plain"
    let base: any StorageInterface = InMemoryStore()

    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { PlainReader(reader: try base.beginRead(options)) }
}

private final class PlainReader: ForwardingReader, ValueQueryReader {
    let reader: any StorageReader

    init(reader: any StorageReader) { self.reader = reader }

    func pushdown(of plan: FetchPlan) -> Pushdown {
        guard plan.sort.isEmpty, plan.limit == nil, plan.offset == 0 else { return .unsupported }
        return switch plan.predicate {
        case .constant(true), .isIn(.path, _): .exact
        case .constant, .isNil, .compare, .isIn, .text, .related, .isEntity, .and,
            .or,
            .not:
            .unsupported
        }
    }

    func pushdown(of plan: QueryPlan) -> Pushdown { .unsupported }

    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? { nil }
}
