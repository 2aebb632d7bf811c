internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases in which a merge by the policy `mine` must give what this transaction gives after the other one.
extension DetachedCases {
    static let serial: [ConformanceCase] = [
        ConformanceCase("L040.a-partner-is-taken-from-what-is-deleted", clause: "W20") { harness, check in
            for rule in [DeleteRule.cascade, .nullify] {
                let pair = Relationship("pair", to: "Seat", .toOne, inverse: "pair", deleteRule: rule)
                try scene(
                    harness, check, "reached by a delete rule; \(rule)",
                    rooms: [pair, Relationship("seats", to: "Seat", .toMany, inverse: "hall")],
                    seats: [pairOfSeat, Relationship("hall", to: "Room", .toOne, inverse: "seats", deleteRule: .cascade)]
                ) { _ in
                } there: { objects in
                    try objects.set("Seat0", "pair", "Room2")
                    try objects.set("Seat2", "hall", "Room1")
                } here: { objects in
                    try objects.set("Room0", "pair", "Seat0")
                    try objects.set("Seat2", "hall", "Room2")
                    try objects.delete("Seat2")
                }
                try scene(
                    harness, check, "of an ordered list; \(rule)",
                    rooms: [pair, Relationship("list", to: "Seat", .toManyOrdered, inverse: "row", deleteRule: .cascade)],
                    seats: [pairOfSeat, Relationship("row", to: "Room", .toOne, inverse: "list")]
                ) { _ in
                } there: { objects in
                    try objects.set("Seat0", "pair", "Room2")
                } here: { objects in
                    try objects.set("Room0", "pair", "Seat0")
                    try objects.set("Seat2", "row", "Room2")
                    try objects.delete("Room2")
                }
                try scene(
                    harness, check, "two deletions; \(rule)",
                    rooms: [
                        pair, Relationship("next", to: "Room", .toOne, inverse: "former"),
                        Relationship("former", to: "Room", .toOne, inverse: "next"),
                    ], seats: [pairOfSeat]
                ) { _ in
                } there: { objects in
                    try objects.set("Seat0", "pair", "Room2")
                    try objects.set("Room1", "next", "Room2")
                } here: { objects in
                    try objects.set("Room0", "pair", "Seat0")
                    try objects.delete("Room2")
                    try objects.delete("Room1")
                }
            }
        },
        ConformanceCase("L041.what-a-change-only-entails-gives-way", clause: "W20") { harness, check in
            func moves(_ name: String, _ rooms: [Relationship], _ seats: [Relationship], _ property: String) throws {
                try scene(harness, check, name, rooms: rooms, seats: seats) { objects in
                    try objects.set("Seat0", property, "Room2")
                } there: { objects in
                    try objects.set("Seat0", property, "Room1")
                } here: { objects in
                    try objects.delete("Room2")
                }
            }
            try moves(
                "a deletion of the former owner", [Relationship("seats", to: "Seat", .toMany, inverse: "hall")],
                [Relationship("hall", to: "Room", .toOne, inverse: "seats")], "hall")
            try moves(
                "in an ordered list", [Relationship("list", to: "Seat", .toManyOrdered, inverse: "row")],
                [Relationship("row", to: "Room", .toOne, inverse: "list")], "row")
            try moves("of the former partner", [pairOfRoom], [pairOfSeat], "pair")
            try moves("of the former destination", [], [Relationship("room", to: "Room", .toOne)], "room")
            try scene(harness, check, "a new partner of the former partner", rooms: [pairOfRoom], seats: [pairOfSeat]) { objects in
                try objects.set("Seat1", "pair", "Room2")
            } there: { objects in
                try objects.set("Room2", "pair", "Seat2")
            } here: { objects in
                try objects.set("Room0", "pair", "Seat1")
            }
            for other in ["Seat2", "Room2"] {
                let partner = Relationship("next", to: "Seat", .toOne, inverse: "former")
                let former = Relationship("former", to: "Seat", .toOne, inverse: "next")
                try scene(
                    harness, check, "a partner that is deleted there; \(other)", rooms: [pairOfRoom], seats: [pairOfSeat, partner, former]
                ) { _ in
                } there: { objects in
                    try objects.set("Seat1", "pair", "Room1")
                    try objects.set("Seat1", "next", "Seat0")
                    try objects.delete(other)
                } here: { objects in
                    if other == "Seat2" {
                        try objects.set("Seat2", "pair", "Room1")
                        try objects.set("Seat2", "next", "Seat0")
                    } else {
                        try objects.set("Room2", "pair", "Seat1")
                    }
                }
            }
            try scene(harness, check, "what is assigned remains", rooms: [pairOfRoom], seats: [pairOfSeat]) { objects in
                try objects.set("Seat1", "pair", "Room2")
            } there: { objects in
                try objects.set("Room2", "pair", "Seat2")
            } here: { objects in
                try objects.set("Room2", "pair", nil)
            }
        },
        ConformanceCase("L043.what-a-delete-rule-no-longer-reaches-remains", clause: "W20") { harness, check in
            let seats = Relationship("seats", to: "Seat", .toMany, inverse: "hall", deleteRule: .cascade)
            let hall = Relationship("hall", to: "Room", .toOne, inverse: "seats")
            func moves(_ name: String, here: (SerialObjects) throws -> Void) throws {
                try scene(
                    harness, check, name, rooms: [seats],
                    seats: [hall, Relationship("parts", to: "Seat", .toMany, inverse: "whole", deleteRule: .cascade), whole]
                ) { objects in
                    try objects.set("Seat0", "hall", "Room0")
                    try objects.set("Seat1", "hall", "Room0")
                    try objects.set("Seat2", "whole", "Seat0")
                } there: { objects in
                    try objects.set("Seat0", "hall", "Room1")
                } here: { objects in
                    try here(objects)
                }
            }
            try moves("a member that moved, with its parts") { try $0.delete("Room0") }
            try moves("a value that was assigned before the deletion") { objects in
                try objects.rename("Seat0", 5)
                try objects.rename("Seat2", 6)
                try objects.delete("Room0")
            }
            try moves("a member that is deleted by name too") { objects in
                try objects.delete("Room0")
                try objects.delete("Seat0")
            }
            try moves("a member that both have moved") { objects in
                try objects.set("Seat0", "hall", "Room2")
                try objects.delete("Room2")
            }
            try scene(
                harness, check, "a member that left a set",
                rooms: [Relationship("visited", to: "Seat", .toMany, inverse: "visitors", deleteRule: .cascade)],
                seats: [Relationship("visitors", to: "Room", .toMany, inverse: "visited")]
            ) { objects in
                try objects.include("Room0", "visited", "Seat0")
                try objects.include("Room0", "visited", "Seat1")
            } there: { objects in
                try objects.exclude("Room0", "visited", "Seat0")
            } here: { objects in
                try objects.delete("Room0")
            }
            try scene(
                harness, check, "members that were added to what the other transaction has deleted",
                rooms: [seats, Relationship("visited", to: "Seat", .toMany, inverse: "visitors", deleteRule: .cascade)],
                seats: [hall, Relationship("visitors", to: "Room", .toMany, inverse: "visited")]
            ) { objects in
                try objects.include("Room0", "visited", "Seat2")
            } there: { objects in
                try objects.delete("Room0")
            } here: { objects in
                try objects.include("Room0", "visited", "Seat0")
                try objects.set("Seat1", "hall", "Room0")
                try objects.delete("Room0")
            }
            try scene(
                harness, check, "another destination of what is deleted",
                rooms: [Relationship("best", to: "Seat", .toOne, deleteRule: .cascade)], seats: []
            ) { objects in
                try objects.set("Room0", "best", "Seat0")
            } there: { objects in
                try objects.set("Room0", "best", "Seat1")
            } here: { objects in
                try objects.delete("Room0")
            }
            try scene(
                harness, check, "a reference that the deletion had removed",
                rooms: [seats], seats: [hall, Relationship("neighbour", to: "Seat", .toOne)]
            ) { objects in
                try objects.set("Seat0", "hall", "Room0")
                try objects.set("Seat1", "neighbour", "Seat0")
                try objects.set("Seat2", "neighbour", "Seat0")
            } there: { objects in
                try objects.set("Seat0", "hall", "Room1")
                try objects.rename("Seat1", 3)
            } here: { objects in
                try objects.delete("Room0")
            }
        },
        ConformanceCase("L044.members-follow-those-that-were-added-meanwhile", clause: "W20") { harness, check in
            let list = Relationship("list", to: "Seat", .toManyOrdered, inverse: "row")
            let row = Relationship("row", to: "Room", .toOne, inverse: "list")
            let tour = Relationship("tour", to: "Seat", .toManyOrdered, inverse: "tours")
            let tours = Relationship("tours", to: "Room", .toMany, inverse: "tour")
            for (name, rooms, seats) in [("list", list, row), ("tour", tour, tours)] {
                func adds(_ story: String, there: [String], here: [String]) throws {
                    try scene(harness, check, "\(story); \(name)", rooms: [rooms], seats: [seats], count: 6) { objects in
                        for seat in ["Seat3", "Seat4"] { try objects.include("Room0", name, seat) }
                    } there: { objects in
                        for seat in there { try objects.include("Room0", name, seat) }
                    } here: { objects in
                        for seat in here { try objects.include("Room0", name, seat) }
                    }
                }
                // The order of the keys is the opposite.
                try adds("one member each", there: ["Seat5"], here: ["Seat0"])
                try adds("several", there: ["Seat5", "Seat2"], here: ["Seat1", "Seat0"])
                try adds("the same member", there: ["Seat5", "Seat2"], here: ["Seat5", "Seat0"])
                try adds("the same member as the last one", there: ["Seat2"], here: ["Seat1", "Seat0", "Seat2"])
                try adds("the same member in between", there: ["Seat5", "Seat2"], here: ["Seat0", "Seat2", "Seat1"])
                try scene(harness, check, "a member that moves; \(name)", rooms: [rooms], seats: [seats], count: 6) { objects in
                    for seat in ["Seat3", "Seat4"] { try objects.include("Room0", name, seat) }
                } there: { objects in
                    try objects.include("Room0", name, "Seat5")
                } here: { objects in
                    try objects.exclude("Room0", name, "Seat3")
                    try objects.include("Room0", name, "Seat3")
                }
                for (story, last) in [("the last member is removed", []), ("it is added again", ["Seat4"])] {
                    try scene(harness, check, "\(story); \(name)", rooms: [rooms], seats: [seats], count: 6) { objects in
                        for seat in ["Seat3", "Seat4"] { try objects.include("Room0", name, seat) }
                    } there: { objects in
                        try objects.include("Room0", name, "Seat5")
                    } here: { objects in
                        try objects.exclude("Room0", name, "Seat4")
                        for seat in ["Seat0"] + last { try objects.include("Room0", name, seat) }
                    }
                }
                try scene(harness, check, "all members are replaced; \(name)", rooms: [rooms], seats: [seats], count: 6) { objects in
                    for seat in ["Seat3", "Seat4"] { try objects.include("Room0", name, seat) }
                } there: { objects in
                    try objects.include("Room0", name, "Seat5")
                } here: { objects in
                    for seat in ["Seat3", "Seat4"] { try objects.exclude("Room0", name, seat) }
                    for seat in ["Seat1", "Seat0", "Seat2"] { try objects.include("Room0", name, seat) }
                }
                try scene(harness, check, "an empty list; \(name)", rooms: [rooms], seats: [seats], count: 6) { _ in
                } there: { objects in
                    try objects.include("Room0", name, "Seat5")
                } here: { objects in
                    try objects.include("Room0", name, "Seat0")
                }
            }
        },
    ]

    private static let whole = Relationship("whole", to: "Seat", .toOne, inverse: "parts")
    private static let pairOfRoom = Relationship("pair", to: "Seat", .toOne, inverse: "pair")
    private static let pairOfSeat = Relationship("pair", to: "Room", .toOne, inverse: "pair")

    /// Runs one transaction after the other in one store, and detached from the other in a second store, and compares the results.
    private static func scene(
        _ harness: StoreHarness, _ check: Check, _ name: String, rooms: [Relationship], seats: [Relationship], count: Int = 3,
        before: (SerialObjects) throws -> Void, there: (SerialObjects) throws -> Void, here: (SerialObjects) throws -> Void
    ) throws {
        let results = try SerialScene(rooms: rooms, seats: seats, count: count).run(
            harness, before: before, there: there, here: here)
        check.equal(results.merged, results.serial, name)
    }
}
