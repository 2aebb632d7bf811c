import Foundation
import PolystoreStorage
import PolystoreTransfer
import Testing

/// Requests in JSON.
@Suite struct RequestDescriptionTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Person",
                attributes: [
                    Attribute("name", .string), Attribute("age", .int64), Attribute("born", .date, isOptional: true),
                    Attribute("saldo", .decimal, isOptional: true), Attribute("photo", .data, isOptional: true),
                    Attribute("tag", .uuid, isOptional: true),
                ])
        ])
    }

    /// Returns the message of the error that a request causes, when it is read or made.
    private func refusal(_ json: String) -> String? {
        do throws(StorageError) {
            let description = try RequestDescription(json: json), values = try description.valueRequest()
            let objects = try description.objectRequest()
            do throws(QueryError) {
                if let values { _ = try values.plan(in: schema) } else { _ = try objects.plan(in: schema) }
            } catch {
                throw StorageError(error)
            }
            return nil
        } catch {
            #expect(error.code == .invalidPredicate)
            return error.message
        }
    }

    @Test func everyPartOfARequestForObjectsIsRead() throws {
        let description = try RequestDescription(
            json: """
                {"entity": "Person", "where": "age >= $min AND name IN $names", "arguments": {"min": 18, "names": ["Ann", "Bob"]},
                 "orderBy": ["-age", "length(name)"], "limit": 10, "offset": 2, "prefetch": ["dogs"]}
                """)
        let expected = ObjectRequest(
            "Person", where: try QueryPredicate(parsing: "age >= 18 AND name IN {\"Ann\", \"Bob\"}"),
            orderBy: [OrderTerm("age", ascending: false), OrderTerm(try QueryExpression(parsing: "length(name)"))], limit: 10, offset: 2)
        #expect(try description.objectRequest() == expected)
        #expect(try description.valueRequest() == nil)
        #expect(description.prefetched == ["dogs"])
    }

    @Test func everyPartOfARequestForValuesIsRead() throws {
        let description = try RequestDescription(
            json: """
                {"entity": "Person", "select": ["name", "@sum(age) + $more AS years"], "groupBy": ["name"],
                 "having": "@count() > $least", "distinct": true, "arguments": {"more": 1, "least": 2}}
                """)
        let expected = QueryRequest(
            ObjectRequest("Person"),
            outputs: [
                QueryOutput(try QueryExpression(parsing: "name")), QueryOutput(try QueryExpression(parsing: "@sum(age) + 1"), as: "years"),
            ],
            groupBy: [try QueryExpression(parsing: "name")], having: try QueryPredicate(parsing: "@count() > 2"), isDistinct: true)
        #expect(try description.valueRequest() == expected)
        #expect(!description.isSingleValue)
        let count = try RequestDescription(json: #"{"entity": "Person", "count": true}"#)
        #expect(try count.valueRequest() == QueryRequest(ObjectRequest("Person"), outputs: [.aggregate(Aggregate(.count))]))
        #expect(count.isSingleValue)
        let both = try RequestDescription(json: #"{"entity": "Person", "minimum": "age", "maximum": "age"}"#)
        #expect(try both.valueRequest()?.outputs.map(\.alias) == ["minimum(age)", "maximum(age)"])
        #expect(!both.isSingleValue)
    }

    @Test(arguments: [
        (#"{"date": "2026-01-31T12:00:00Z"}"#, Value.date(1_769_860_800_000_000)),
        (#"{"decimal": "9.99"}"#, .decimal(Decimal(999) / 100)),
        (#"{"data": "AAEC"}"#, .data(Data([0, 1, 2]))), (#"{"double": "inf"}"#, .double(.infinity)), ("-3", .int(-3)),
        ("1.5", .double(1.5)),
        (#""x""#, .string("x")), ("true", .bool(true)), ("null", .null),
        (#"{"uuid": "c0ffee00-0000-4000-8000-000000000001"}"#, .uuid(UUID(uuidString: "C0FFEE00-0000-4000-8000-000000000001")!)),
    ])
    func argumentsHaveEveryType(_ json: String, _ value: Value) throws {
        let description = try RequestDescription(json: #"{"entity": "Person", "arguments": {"x": \#(json), "list": [\#(json)]}}"#)
        #expect(description.arguments == ["x": .value(value), "list": .list([value])])
        // The text that is written is read as the same request.
        #expect(try RequestDescription(json: description.json) == description)
    }

    @Test func whatIsWrittenIsReadAsTheSame() throws {
        for json in [
            #"{"entity":"A"}"#,
            #"{"entity":"A","where":"x > $y","arguments":{"y":1},"orderBy":["-x"],"limit":1,"offset":0,"prefetch":["b.c"]}"#,
            #"{"entity":"A","select":["x AS y"],"groupBy":["x"],"having":"y > 1","distinct":true}"#,
            #"{"entity":"A","count":true,"sum":"x","average":"x","minimum":"x","maximum":"x"}"#,
        ] {
            #expect(try RequestDescription(json: json).json == json)
        }
    }

    @Test(arguments: [
        ("[]", "a request must be a JSON object"),
        ("{", "a request is no JSON: line 1, column 2: a name in quotes is expected"),
        (#"{"where": "age > 1"}"#, "\"entity\" must be the name of an entity"),
        (#"{"entity": "Person", "ordrBy": []}"#, "\"ordrBy\" is no member of a request; did you mean \"orderBy\"?"),
        (#"{"entity": "Person", "orderBy": "age"}"#, "\"orderBy\" must be an array of strings"),
        (#"{"entity": "Person", "limit": -1}"#, "\"limit\" must be an integer of at least 0"),
        (#"{"entity": "Person", "count": 1}"#, "\"count\" must be true or false"),
        (#"{"entity": "Person", "distinct": true}"#, "\"distinct\" needs \"select\""),
        (#"{"entity": "Person", "select": ["age"], "prefetch": ["x"]}"#, "\"prefetch\" is for objects, not for values"),
        (#"{"entity": "Person", "where": "agee > 1"}"#, "agee: Person has no property \"agee\""),
        (#"{"entity": "Person", "where": "age >"}"#, "\"where\" 'age >': "),
        (#"{"entity": "Person", "where": "age > $mn", "arguments": {"min": 1}}"#, "the variable $mn has no value; did you mean \"min\"?"),
        (#"{"entity": "Person", "arguments": {"x": {"dates": ""}}}"#, "the argument \"x\" has no type \"dates\"; did you mean \"date\"?"),
        (#"{"entity": "Person", "arguments": {"x": {"date": "soon"}}}"#, "the argument \"x\" is no value of type date"),
        (#"{"entity": "Person", "arguments": {"x": {}}}"#, "the argument \"x\" must have one member"),
        (#"{"entity": "Person", "arguments": {"x": [[1]]}}"#, "the argument \"x\" is a list in a list"),
        (#"{"entity": "Person", "where": "born > $d", "arguments": {"d": "2026-01-01"}}"#, "a value of type date is expected"),
    ])
    func requestsOfAnotherFormAreRefused(_ json: String, _ message: String) throws {
        let found = try #require(refusal(json))
        #expect(found.contains(message), "\(found)")
    }
}
