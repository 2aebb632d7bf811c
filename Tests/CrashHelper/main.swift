import Foundation
import Polystore
import PolystoreCatalog

// Works with a store of one version of a model, or leads it to the next.
if CommandLine.arguments.count >= 3, CommandLine.arguments[1].hasPrefix("--") {
    let count = CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 1000 : 1000
    let work = Migrating(url: CommandLine.arguments[2], count: count)
    switch CommandLine.arguments[1] {
    case "--fill": try work.fill()
    case "--migrate": try work.migrate()
    case "--verify": print(try work.verify())
    case "--fill-rolling": try Rolling(url: work.url, count: count).fill()
    case "--roll": try Rolling(url: work.url, count: count).roll()
    case "--verify-rolling": print(try Rolling(url: work.url, count: count).verify())
    case "--record": try Recording(url: work.url).run(count)
    case "--write": try Sharing(url: work.url).write()
    case "--upgrade": try Sharing(url: work.url).upgrade()
    case "--fill-notes": try Sharing(url: work.url).fillNotes(count)
    case "--notes": print(try Sharing(url: work.url).notes())
    case "--script":
        try Scripted(url: work.url, writers: CommandLine.arguments.dropFirst(4).first.flatMap { Int($0) } ?? 1).run(count)
    case "--script-verify":
        print(try Scripted(url: work.url, writers: CommandLine.arguments.dropFirst(3).first.flatMap { Int($0) } ?? 1).verify())
    case "--script-outcome": print(try Scripted(url: work.url).outcome(CommandLine.arguments.dropFirst(3).first ?? ""))
    case "--hold-reads": try Holding(url: work.url).hold(count)
    case "--dump": Holding(url: work.url).dump()
    case "--joint":
        let arguments = CommandLine.arguments
        try Joint(Array(arguments[2...3]), isReversed: arguments.contains("reversed")).run()
    case "--bulky": try Bulky(url: work.url).run(CommandLine.arguments.dropFirst(3).compactMap { Int($0) })
    case "--steady": try Steady(url: work.url, rate: count).run()
    case "--peer": try Watching(url: work.url).run()
    case "--crowd":
        let numbers = CommandLine.arguments.dropFirst(4).compactMap { Int($0) }
        guard numbers.count == 3 else { exit(2) }
        try Crowd(url: work.url, commits: count, first: numbers[0], writers: numbers[1], total: numbers[2]).run()
    case "--latency": try Latency(url: work.url, count: count).measure()
    case "--latency-observed": try Latency(url: work.url, count: count).measureObserver()
    case "--commit-times":
        let numbers = CommandLine.arguments.dropFirst(4).compactMap { Int($0) }
        try Latency(url: work.url, count: count).commitTimes(rows: numbers.first ?? 1, writers: numbers.dropFirst().first ?? 1)
    case "--latency-commits": try Latency(url: work.url, count: count).commit()
    default: exit(2)
    }
    exit(0)
}

// Commits over two stores without end, for a test that kills it: polystore-crash LEFT RIGHT
let schema = try Schema(
    entities: [Entity("Left", attributes: [Attribute("x", .int64)]), Entity("Right", attributes: [Attribute("x", .int64)])],
    configurations: ["Left": ["Left"], "Right": ["Right"]])
let stack = try DataStack(schema: schema)
for (url, name) in zip(CommandLine.arguments.dropFirst(), ["Left", "Right"]) {
    try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: name))
}
var number = Int64(try stack.fetchCount(From<DynamicObject>(entity: "Left")))
while true {
    number += 1
    try stack.perform(synchronous: { transaction in
        for entity in ["Left", "Right"] {
            try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(number), for: "x")
        }
    })
    if number % 8 == 1 { FileHandle.standardOutput.write(Data(".".utf8)) }
}
