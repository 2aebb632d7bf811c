#if Macros
import Foundation
import Polystore
import PolystoreInMemory
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of the guide for users of SQLAlchemy.
enum FromSQLAlchemy {
    @Model final class Department: ManagedObject {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Employee.department, deleteRule: .cascade) var employees: Set<Employee>
    }

    @Model final class Employee: ManagedObject {
        @Attribute(.indexed) var name: String
        var salary: Decimal = 0
        var hired: Date?
        @Relationship var department: Department?
        var isNew: Bool { computed(as: \.hired == nil) { hired == nil } }
    }
}

extension FromSQLAlchemy {
    @Suite struct Samples {
        @Test func aTransactionSavesObjects() async throws {
            let path = temporaryPath()
            let stack = try DataStack(Department.self, Employee.self)
            try stack.addStorageAndWait(SQLiteStore(path: path))
            try await stack.perform { transaction in
                let sales = try transaction.create(Department.self)
                sales.name = "Sales"
                let ann = try transaction.create(Employee.self)
                ann.name = "Ann"
                ann.department = sales
            }
            let names = try stack.fetchAll(From<Employee>().orderBy(\.name)).map(\.name)
            defer { for store in stack.storages { try? store.erase() } }
            #expect(names == ["Ann"])
        }

        @Test func requestsFindCountAndGroup() throws {
            let stack = try filled()
            let rich = try stack.fetchAll(
                From<Employee>().where(\.department?.name == "Research" && \.salary > 250)
                    .orderBy(.descending(\.salary)).prefetch(\.department).limit(10))
            let large = try stack.fetchAll(
                From<Department>().where((\Department.employees).count(where: \.salary >= 300) > 1))
            let totals = try stack.queryAttributes(
                From<Employee>()
                    .select(.attribute(\.department?.name, as: "name"), .count(as: "n"), .sum(\.salary, as: "total"))
                    .groupBy(\.department?.name).having(.count() > 2))
            let newest = try stack.fetchCount(From<Employee>().where(\.isNew == true))
            #expect(rich.map(\.salary) == [600, 400] && large.map(\.name) == ["Research"] && newest == 5)
            #expect(try totals.map { try $0.value("total", as: Decimal.self) } == [1200])
        }

        @Test func aDetachedSessionRepeatsItsChangeAfterAConflict() async throws {
            let stack = try filled()
            let session = stack.beginUnsafe(author: "payroll")
            let employee = try session.fetchOne(From<Employee>().where(\.name == "Sales 100"))
            employee?.salary += 50
            try await stack.perform { transaction in
                try transaction.fetchOne(From<Employee>().where(\.name == "Sales 100"))?.salary = 500
            }
            do {
                try session.commit()
            } catch {
                guard error.code == .staleObject else { throw error }
                try session.rollback()
                employee?.salary += 50
                try session.commit()
            }
            #expect(try stack.fetchOne(From<Employee>().where(\.name == "Sales 100"))?.salary == 550)
        }

        @Test func batchesInsertAndUpdateRows() async throws {
            let stack = try filled()
            let raised = try await stack.perform { transaction in
                try transaction.insertAll(Into<Employee>(), sources: 1...100) { employee, number in
                    employee.name = "Temp \(number)"
                    employee.salary = 10
                }
                return try transaction.updateAll(
                    From<Employee>().where(\.salary < 200), .set(\.salary, to: \.salary * 2))
            }
            #expect(raised == 101)
        }

        @Test func errorsUndoATransactionOrAPart() async throws {
            let stack = try filled()
            do {
                try await stack.perform { transaction in
                    try transaction.deleteAll(From<Employee>())
                    throw CancellationError()
                }
            } catch is CancellationError {}
            try await stack.perform { transaction in
                try? transaction.nested {
                    try transaction.create(Employee.self).name = "Nobody"
                    throw CancellationError()
                }
                try transaction.create(Employee.self).name = "Cid"
            }
            let names = try stack.fetchAll(From<Employee>().where(\.salary == 0)).map(\.name)
            #expect(names == ["Cid"])
            #expect(try stack.fetchCount(From<Employee>()) == 6)
        }

        @Test func loadingCanBeStrict() async throws {
            let stack = try filled()
            stack.relationships = .strict
            let department = try #require(try stack.fetchOne(From<Department>()))
            #expect {
                _ = try department.load(\.employees)
            } throws: { ($0 as? StorageError)?.code == .unplannedLoad }
            let prefetched = try stack.fetchOne(From<Department>().prefetch(\.employees))
            #expect(try prefetched?.load(\.employees).count == 2)
        }

        private func filled() throws -> DataStack {
            let stack = try DataStack(Department.self, Employee.self)
            try stack.addStorageAndWait(InMemoryStore())
            try stack.perform(synchronous: { transaction in
                for (name, salaries) in [("Sales", [100, 300]), ("Research", [400, 200, 600])] {
                    let department = try transaction.create(Department.self)
                    department.name = name
                    for salary in salaries {
                        let employee = try transaction.create(Employee.self)
                        (employee.name, employee.salary, employee.department) = ("\(name) \(salary)", Decimal(salary), department)
                    }
                }
            })
            return stack
        }
    }
}
#endif
