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
    }

    let reports = Mutex<[Report]>([])

    private func add(_ kind: String, _ text: String, _ file: StaticString, _ function: StaticString) {
        let report = Report(
            kind: kind, text: text, file: "\(file)", function: "\(function)", thread: ObjectIdentifier(Thread.current))
        reports.withLock { $0.append(report) }
    }

    func log(level: StoreLogLevel, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        add("\(level)", message, fileName, functionName)
    }
    func log(error: StorageError, message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString) {
        add("error \(error.code)", message, fileName, functionName)
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
        let logger = RecordingLogger(), former = StoreLogging.logger
        StoreLogging.logger = logger
        defer { StoreLogging.logger = former }
        try body(logger)
    }

    @Test func everyThrownErrorIsReportedOnceOnItsThread() throws {
        try recording { logger in
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            #expect(throws: StorageError.self) { try stack.fetchAll(From<Person>()) }
            #expect(logger.own.map(\.kind) == ["error notFound"])
            #expect(logger.own.first?.function == "fetchAll(_:timeout:)")
            #expect(logger.own.first?.file.hasPrefix("Polystore/") == true)
            try stack.addStorageAndWait(InMemoryStore())
            #expect(throws: StorageError.self) {
                try stack.perform(synchronous: { try $0.fetchAll(From<Person>().where(Where(.compare(.path("x"), .equal, .value(.null))))) }
                )
            }
            #expect(logger.own.map(\.kind) == ["error notFound", "error invalidPredicate"], "once, although two levels throw it")
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
}
