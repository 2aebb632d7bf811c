import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

/// The results of CoreStore's queries and the arguments of its conditions.
@Suite struct QueryAnswerTests {
    private let dataStack: DataStack
    private let people = From<MyPersonEntity>()

    init() throws {
        dataStack = try sampleStack()
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for (name, age) in [("Ann", 30), ("Ben", 25)] {
                let person = try transaction.create(Into<MyPersonEntity>())
                person.name = name
                person.age = age
            }
        })
    }

    @Test func numbersAreConvertedToTheTypeOfTheResult() throws {
        #expect(try dataStack.queryValue(people, Select<Int>(.average("age"))) == 27)
        #expect(try dataStack.queryValue(people, Select<Double>(.average("age"))) == 27.5)
        #expect(try dataStack.queryValue(people, Select<Int8>(.maximum("age"))) == 30)
        #expect(try dataStack.queryValue(people, Select<Double>(.sum("age"))) == 55)
        #expect(try dataStack.queryValue(people, Select<Decimal>(.minimum("age"))) == 25)
        #expect(try dataStack.queryValue(people, Select<Bool>(.count("age"))) == true)
        #expect(try dataStack.queryValue(people, Select<String>(.minimum("name"))) == "Ann")
    }

    @Test func aValueOfAnotherTypeIsNil() throws {
        #expect(try dataStack.queryValue(people, Select<String>(.count("age"))) == nil)
        #expect(try dataStack.queryValue(people, Select<Int>("name")) == nil)
        #expect(try dataStack.queryValue(people, Select<Int>(.average("age")), Where("age > 90")) == nil)
    }

    @Test func columnsHaveTheNamesOfCoreStore() throws {
        let terms: [SelectTerm] = [
            .maximum("age"), .minimum("age"), .average("age"), .sum("age"), .count("age"), .maximum("name", as: "last"),
        ]
        let row = try #require(try dataStack.queryAttributes(people, Select(terms)).first)
        #expect(row.keys.sorted() == ["average(age)", "count(age)", "last", "max(age)", "min(age)", "sum(age)"])
        #expect(row["max(age)"] as? Int == 30 && row["min(age)"] as? Int == 25 && row["last"] as? String == "Ben")
    }

    @Test func anOrderBesideAValueOverAllObjectsIsIgnored() throws {
        let order = OrderBy<MyPersonEntity>(.descending("name"))
        #expect(try dataStack.queryValue(people, Select<Int>(.maximum("age")), order) == 30)
        #expect(try dataStack.queryValue(people, Select<Int>("age"), order) == 25)
        let rows = try dataStack.queryAttributes(people, Select("name", .count("friends")), order)
        #expect(rows.map { $0["name"] as? String } == ["Ben", "Ann"])
        let groups = try dataStack.queryAttributes(people, Select("age", .count("name")), GroupBy("age"), OrderBy(.descending("age")))
        #expect(groups.map { $0["age"] as? Int } == [30, 25])
    }

    @Test func conditionsTakeNumbersOfAllTypes() throws {
        let numbers: [Any] = [
            Int8(30), Int16(30), UInt(30), UInt8(30), CGFloat(30), Float(30), NSNumber(value: 30), NSDecimalNumber(value: 30),
        ]
        for number in numbers {
            #expect(try dataStack.fetchAll(people, Where("age == %@", number)).map(\.name) == ["Ann"], "\(type(of: number))")
        }
        #expect(throws: StorageError.self) { try dataStack.fetchAll(people, Where("age == %@", UInt.max)) }
    }

    @Test func conditionsTakeObjectsOfFoundation() throws {
        #expect(try dataStack.fetchCount(people, Where("name == %@", NSString(string: "Ann"))) == 1)
        #expect(try dataStack.fetchCount(people, Where("age IN %@", NSArray(array: [25, 30]))) == 2)
        #expect(try dataStack.fetchCount(people, Where("name IN %@", NSSet(array: ["Ben", "Cid"]))) == 1)
        #expect(try dataStack.fetchCount(people, Where("location == %@", NSNull())) == 2)
        let date = NSDate(timeIntervalSinceReferenceDate: 1), id = UUID()
        let pairs: [(Any, Any)] = [
            (date, Date(timeIntervalSinceReferenceDate: 1)), (id as NSUUID, id), (NSNumber(value: true), true), (NSNumber(value: 1), 1),
            (NSNumber(value: 1.5), 1.5), (NSData(data: Data([1])), Data([1])),
        ]
        for (object, value) in pairs {
            let one = Where<MyPersonEntity>("a == %@", object), other = Where<MyPersonEntity>("a == %@", value)
            #expect(one == other && one.predicate != Where<MyPersonEntity>("a == nil").predicate)
        }
    }
}
