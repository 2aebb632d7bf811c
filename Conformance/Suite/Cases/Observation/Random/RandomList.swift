internal import Polystore
internal import PolystoreStorage

/// A random list: its request, and its expected contents computed in plain Swift.
struct RandomList: Sendable {
    private struct Condition: Sendable {
        let text: String
        let asked: Where<Person>?
        let holds: @Sendable (World.Human, World) -> Bool
        /// Returns the values of related objects that following to-one relationships reads.
        var reads: @Sendable (World.Human, World) -> [World.Cell] = { _, _ in [] }
    }

    private struct Order: Sendable {
        let text: String
        let asked: [OrderBy<Person>]
        /// Returns the sort values, each with its direction.
        let keys: @Sendable (World.Human, World) -> [(World.Cell, ascends: Bool)]
        var reads: @Sendable (World.Human, World) -> [World.Cell] = { _, _ in [] }
        var sections: SectionBy<Person>?
        var section: @Sendable (World.Human, World) -> String = { _, _ in "" }
    }

    private static let conditions: [Condition] = [
        Condition(text: "everybody", asked: nil) { _, _ in true },
        Condition(text: "younger than 6", asked: \.age < 6) { human, _ in human.age < 6 },
        Condition(text: "named a…", asked: (\Person.name).beginsWith("a")) { human, _ in human.name.utf8.first == 0x61 },
        Condition(text: "not 3, or in no room", asked: !(\Person.age == 3) || \Person.room == nil) { human, _ in
            human.age != 3 || human.room == nil
        },
        Condition(
            text: "with a parent of 4 or more", asked: \.parent?.age >= 4,
            holds: { human, world in world.parent(of: human).map { $0.age >= 4 } ?? false },
            reads: { human, world in [World.Cell(world.parent(of: human)?.age)] }),
        Condition(text: "with a pet", asked: (\Person.pets).count > 0) { human, _ in human.pets > 0 },
        Condition(text: "of the club x", asked: (\Person.clubs).any(\Club.name == "x")) { human, _ in human.clubs.contains("x") },
    ]

    private static let orders: [Order] = [
        Order(text: "by key", asked: [], keys: { _, _ in [] }),
        Order(
            text: "by age and name", asked: [.ascending(\.age), .ascending(\.name)],
            keys: { human, _ in [(World.Cell(human.age), true), (World.Cell(human.name), true)] },
            sections: SectionBy(\.age), section: { human, _ in "\(human.age)" }),
        Order(
            text: "by the parent's name", asked: [.ascending(\.parent?.name), .descending(\.name)],
            keys: { human, world in [(World.Cell(world.parent(of: human)?.name), true), (World.Cell(human.name), false)] },
            reads: { human, world in [World.Cell(world.parent(of: human)?.name)] },
            sections: SectionBy(\.parent?.name), section: { human, world in world.parent(of: human)?.name ?? "" }),
        Order(
            text: "by the remainder of the age", asked: [.descending(\Person.age % 3), .ascending((\Person.name).uppercase)],
            keys: { human, _ in [(World.Cell(human.age % 3), false), (World.Cell(human.name), true)] }),
        Order(
            text: "by room, descending", asked: [.descending(\.room), .ascending(\.age)],
            keys: { human, _ in [(World.Cell(human.room), false), (World.Cell(human.age), true)] },
            sections: SectionBy(\.room), section: { human, _ in human.room ?? "" }),
        Order(
            text: "by the number of pets", asked: [.ascending((\Person.pets).count), .descending(\.age)],
            keys: { human, _ in [(World.Cell(human.pets), true), (World.Cell(human.age), false)] }),
    ]

    private let condition: Condition
    private let order: Order
    private let isSectioned: Bool
    private let isPrefetched: Bool
    private let limit: Int?
    private let offset: Int

    init(_ random: inout SplitMix) {
        condition = Self.conditions[Int(random.next() % UInt64(Self.conditions.count))]
        order = Self.orders[Int(random.next() % UInt64(Self.orders.count))]
        isSectioned = order.sections != nil && random.next() % 2 == 0
        isPrefetched = random.next() % 4 == 0
        limit = random.next() % 3 == 0 ? Int(random.next() % 9) : nil
        offset = random.next() % 3 == 0 ? Int(random.next() % 5) : 0
    }

    var text: String {
        "\(condition.text), \(order.text)\(isSectioned ? ", sections" : "")\(isPrefetched ? ", prefetched" : ""), "
            + "limit \(limit.map { "\($0)" } ?? "none"), offset \(offset)"
    }

    var from: From<Person> {
        var from = From<Person>()
        if let asked = condition.asked { from = from.where(asked) }
        for key in order.asked { from = from.orderBy(key) }
        if isPrefetched { from = from.prefetch(\.parent) }
        if let limit { from = from.limit(limit) }
        return offset > 0 ? from.offset(offset) : from
    }

    var sections: SectionBy<Person>? { isSectioned ? order.sections : nil }

    /// Returns the expected contents of the list.
    func expected(_ world: World) -> ShadowList {
        let all = world.people.values.filter { condition.holds($0, world) }.map { ($0, order.keys($0, world)) }.sorted { a, b in
            for (one, other) in zip(a.1, b.1) where one.0 != other.0 { return (one.0 < other.0) == one.ascends }
            return (a.0.id.key, a.0.store) < (b.0.id.key, b.0.store)
        }
        let window = all.dropFirst(offset).prefix(limit ?? .max).map(\.0)
        if !isSectioned { return ShadowList([ShadowList.Section(name: "", keys: window.map(\.id))]) }
        var sections: [ShadowList.Section] = []
        for human in window {
            let name = order.section(human, world)
            if sections.last?.name != name { sections.append(ShadowList.Section(name: name, keys: [])) }
            sections[sections.count - 1].keys.append(human.id)
        }
        return ShadowList(sections)
    }

    /// Returns the objects that are in both lists and were updated: they have another version, or different values of related objects.
    func updated(_ old: World, _ new: World) -> Set<ObjectKey> {
        Set(expected(old).keys).intersection(expected(new).keys).filter { key in
            guard let before = old.people[key], let after = new.people[key] else { return false }
            return before.version != after.version || reads(before, old) != reads(after, new)
        }
    }

    /// Returns further objects that may be reported: a property that they read of their parent was assigned the same value.
    func mayBeUpdated(_ old: World, _ new: World) -> Set<ObjectKey> {
        let followsParents = new.people.values.first.map { !reads($0, new).isEmpty } ?? false
        if !followsParents { return [] }
        return Set(expected(old).keys).intersection(expected(new).keys).filter { key in
            guard let before = old.people[key], let after = new.people[key] else { return false }
            return old.parent(of: before)?.version != new.parent(of: after)?.version
        }
    }

    private func reads(_ human: World.Human, _ world: World) -> [World.Cell] {
        let all = isPrefetched ? [World.Cell(world.parent(of: human).map { Int($0.version) })] : []
        return all + condition.reads(human, world) + order.reads(human, world)
    }
}
