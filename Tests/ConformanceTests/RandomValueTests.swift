import PolystoreQuery
import PolystoreSchema
import Testing

@testable import PolystoreConformance

/// Random programs draw every function, and the values of every type that they draw have all their forms.
@Suite struct RandomValueTests {
    @Test func valuesOfEveryTypeAreReadFromTheirOtherForms() throws {
        for type in ValueType.allCases {
            let values = ProgramValues(type).ordinary
            #expect(!values.isEmpty, "\(type)")
            for value in values {
                let natural = try #require(value.natural, "\(type)")
                #expect(Value(natural: natural) == value, "\(type): the natural value \(natural)")
                let json = ValueText.json(value)
                #expect(ValueText.value(json, as: type) == value, "\(type): JSON \(json)")
                let condition = QueryPredicate.compare(.path("a"), .equal, .value(value))
                #expect(try QueryPredicate(parsing: condition.description) == condition, "\(type): \(condition)")
            }
        }
    }

    @Test func programsDrawEveryFunction() {
        var drawn: Set<String> = []
        let names = Set(Function.named.map { "Function.\($0)" })
        for seed in 0..<3_000 as Range<UInt64> {
            guard let schema = try? ProgramModel.schema(seed: seed % 40) else { continue }
            var conditions = ProgramConditions(schema, SplitMix(seed: seed)), text = ""
            for entity in schema.entities { dump(conditions.predicate(entity.name, depth: 4), to: &text) }
            for name in names where text.contains(name) { drawn.insert(name) }
            if drawn == names { break }
        }
        #expect(names.subtracting(drawn) == [])
    }
}
