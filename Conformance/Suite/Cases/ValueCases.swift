internal import Foundation
internal import PolystoreStorage

/// Cases of group V: a value that is read equals the value that was written, after a commit, after opening again, and when compared by
/// `==`.
enum ValueCases {
    static let all: [ConformanceCase] =
        roundTrips + [
            ConformanceCase("V025.empty-text-is-not-nil", clause: "V1") { harness, check in
                try harness.withStore { scratch in
                    let keys = try scratch.insert("Thing", [["text": .string("")], [:]])
                    check.equal(
                        try scratch.keys(ObjectRequest("Thing", where: .compare(.path("text"), .equal, .value(.null)))), [keys[1]],
                        "nil text")
                }
            },
            ConformanceCase("V032.empty-data-is-not-nil", clause: "V1") { harness, check in
                try harness.withStore { scratch in
                    let keys = try scratch.insert("Thing", [["bytes": .data(Data())], [:]])
                    check.equal(
                        try scratch.keys(ObjectRequest("Thing", where: .compare(.path("bytes"), .equal, .value(.null)))), [keys[1]],
                        "nil data")
                }
            },
            ConformanceCase("V046.writing-one-leaves-the-others", clause: "V1") { harness, check in
                try harness.withStore { scratch in
                    let key = try scratch.insert("Thing", [["text": .string("a"), "number": .int(1), "bytes": .data(Data([0, 1]))]])[0]
                    try scratch.update("Thing", key, ["number": .int(2)])
                    let row = try scratch.rows("Thing", keys: [key]).first
                    check.equal(row?.values["text"], .string("a"), "text")
                    check.equal(row?.values["bytes"], .data(Data([0, 1])), "bytes")
                    check.equal(row?.values["number"], .int(2), "number")
                }
            },
            ConformanceCase("V052.values-of-every-type", clause: "V1") { harness, check in
                let types = ValueType.allCases
                let every = Entity("Every", attributes: types.map { Attribute($0.rawValue, $0, isOptional: true) })
                try harness.withStore(Schema(entities: [every])) { scratch in
                    for type in types {
                        let values = (ProgramValues(type).ordinary + ProgramValues(type).extreme).map { NaiveGraph.stored($0, type) }
                        let keys = try scratch.insert("Every", values.map { [type.rawValue: $0] })
                        if harness.capabilities.contains(.persistent) { try scratch.reopen() }
                        let rows = try scratch.rows("Every", keys: keys)
                        check.equal(rows.map { $0.values[type.rawValue] ?? .null }, values, "values of type \(type)")
                        for value in values {
                            let equal = QueryPredicate.compare(.path(PropertyPath(type.rawValue)), .equal, .value(value))
                            let expected = zip(keys, values).filter { ReferenceStore.order($0.1, value) == 0 }.map(\.0)
                            check.equal(try scratch.keys(ObjectRequest("Every", where: equal)), expected, "\(type) found by its value")
                        }
                    }
                }
            },
            ConformanceCase("V044.wide-rows", clause: "V1") { harness, check in
                let wide = Entity("Wide", attributes: (0..<200).map { Attribute("a\($0)", .int64, isOptional: true) })
                try harness.withStore(Schema(entities: [wide])) { scratch in
                    let values = Dictionary(uniqueKeysWithValues: (0..<200).map { ("a\($0)", Value.int(Int64($0))) })
                    let key = try scratch.insert("Wide", [values])[0]
                    try scratch.update("Wide", key, ["a63": .int(-1), "a64": .int(-2), "a199": .null])
                    let row = try scratch.rows("Wide", keys: [key]).first?.values
                    check.equal([row?["a62"], row?["a63"], row?["a64"], row?["a199"]], [.int(62), .int(-1), .int(-2), .null], "values")
                }
            },
            ConformanceCase("V044.no-attributes", clause: "V1") { harness, check in
                try harness.withStore { scratch in
                    let key = try scratch.insert("Playlist", [[:]])[0]
                    check.equal(try scratch.keys(ObjectRequest("Playlist")), [key], "keys")
                }
            },
            ConformanceCase("V034.large-data", clause: "V5") { harness, check in
                try harness.withStore { scratch in
                    let large = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                    let key = try scratch.insert("Thing", [["bytes": .data(large)]])[0]
                    check.isTrue(try scratch.rows("Thing", keys: [key]).first?.values["bytes"] == .data(large), "4 MiB come back")
                }
            },
            ConformanceCase("V051.names-of-any-script", clause: "V6") { harness, check in
                let long = "a" + String(repeating: "ä", count: 40)
                let entity = Entity(
                    "Straße",
                    attributes: [
                        Attribute(long, .int64), Attribute("select", .int64), Attribute("order", .int64), Attribute(long + "x", .int64),
                    ])
                try harness.withStore(Schema(entities: [entity])) { scratch in
                    try scratch.insert("Straße", [[long: .int(1), "select": .int(2), "order": .int(3), long + "x": .int(4)]])
                    let row = try scratch.fetch(ObjectRequest("Straße", where: .compare(.path("select"), .equal, .value(.int(2))))).first
                    check.equal(row?.values[long], .int(1), "long name")
                    check.equal(row?.values[long + "x"], .int(4), "another long name")
                }
            },
        ]

    private static let roundTrips: [ConformanceCase] = values.map { id, attribute, list in
        ConformanceCase(id, clause: "V1") { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Thing", list.map { [attribute: $0] })
                for round in 0..<(harness.capabilities.contains(.persistent) ? 2 : 1) {
                    if round == 1 { try scratch.reopen() }
                    let rows = try scratch.rows("Thing", keys: keys)
                    check.equal(rows.map { $0.values[attribute] ?? .null }, list, round == 0 ? "values" : "values after opening again")
                }
                for (key, value) in zip(keys, list) {
                    let equal = QueryPredicate.compare(.path(PropertyPath(attribute)), .equal, .value(value))
                    let expected = zip(keys, list).filter { $0.1 == value }.map(\.0)
                    check.equal(try scratch.keys(ObjectRequest("Thing", where: equal)), expected, "found by its value, key \(key)")
                }
            }
        }
    }

    private static func decimals(_ texts: [String]) -> [Value] { texts.map { Decimal(string: $0).map(Value.decimal) ?? .null } }

    private static let values: [(String, String, [Value])] = [
        ("V001.bool", "flag", [.bool(true), .bool(false), .null]),
        ("V002.int64-extremes", "number", [.int(.min), .int(.max), .int(-1), .int(0), .int(1), .null]),
        (
            "V003.int64-around-two-to-the-53", "number",
            [.int(9_007_199_254_740_991), .int(9_007_199_254_740_992), .int(9_007_199_254_740_993)]
        ),
        ("V004.int16-extremes", "small", [.int(-32768), .int(32767), .int(0), .null]),
        ("V004.int32-extremes", "medium", [.int(-2_147_483_648), .int(2_147_483_647), .null]),
        (
            "V006.double-extremes", "real",
            [
                .double(.greatestFiniteMagnitude), .double(-.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude),
                .double(2.2250738585072014e-308), .double(0.1), .double(0.30000000000000004), .double(10.357019999999999), .double(0),
                .null,
            ]
        ),
        ("V007.double-infinities", "real", [.double(.infinity), .double(-.infinity)]),
        (
            "V011.float", "single",
            [.double(Double(Float(0.1))), .double(16_777_216), .double(Double(Float.greatestFiniteMagnitude)), .double(.infinity), .null]
        ),
        (
            "V012.decimal-38-digits", "price",
            decimals([
                "12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "0", "0.1", "-1",
                "99999999999999999999999999999999999999",
            ]) + [.null]
        ),
        ("V013.decimal-exponents", "price", decimals(["1e100", "-1e-100", "1.5e60", "123456789e-50"])),
        (
            "V013.decimal-greatest-exponents", "price",
            decimals(["10e127", "-123e127", "99999999999999999999999999999999999999e127", "1e-128"])
        ),
        ("V016.date-microseconds", "at", [.date(0), .date(1), .date(-1), .date(1_700_000_000_123_456), .date(946_684_799_999_999), .null]),
        ("V019.date-first-year", "at", [.date(-62_135_596_800_000_000), .date(-12_219_292_800_000_000), .date(-2_203_977_600_000_000)]),
        ("V020.date-last-year", "at", [.date(253_402_300_799_999_999), .date(64_092_211_200_000_000)]),
        (
            "V024.uuid", "uid",
            ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "0188b0a2-7c3e-7f00-8000-00000000abcd"].map {
                UUID(uuidString: $0).map(Value.uuid) ?? .null
            } + [.null]
        ),
        ("V025.text-empty-and-nil", "text", [.string(""), .null]),
        ("V027.text-spaces", "text", [" ", "  a ", "\r\n", "\t", "\u{85}", "\u{2028}", "a\\b", "%_'\"--;"].map(Value.string)),
        ("V028.text-normal-forms", "text", [.string("\u{e9}"), .string("e\u{301}")]),
        ("V029.text-astral", "text", ["👩‍👩‍👧‍👦", "🇩🇪", "\u{ffff}", "\u{feff}bom", "\u{202e}rtl", "\u{301}"].map(Value.string)),
        ("V030.text-one-mebibyte", "memo", [.string(String(repeating: "aé😀", count: 1 << 17))]),
        ("V032.data-empty-and-nil", "bytes", [.data(Data()), .null, .data(Data([0])), .data(Data([0, 0]))]),
        ("V033.data-every-byte", "bytes", [.data(Data((0...255).map { UInt8($0) })), .data(Data(repeating: 0xff, count: 65_536))]),
        ("V035.url", "link", [.string("https://example.com/ä?q=%20#f"), .string("file:///tmp/x"), .null]),
    ]
}
