internal import Polystore
internal import PolystoreStorage

/// Random transactions over people, their relationships, pets and clubs.
struct RandomCommits {
    /// The configurations of the stores that one transaction can write to.
    let configurations: [String?]
    let commitsTogether: Bool
    var random: SplitMix
    /// A description of the last transaction.
    private(set) var said: [String] = []
    private var serial = 0

    init(_ configurations: [String?], commitsTogether: Bool, random: SplitMix) {
        self.configurations = configurations
        self.commitsTogether = commitsTogether
        self.random = random
    }

    private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }
    private mutating func pick<T>(_ list: [T]) -> T? { list.isEmpty ? nil : list[below(list.count)] }
    private mutating func name() -> String { pick(["a", "ab", "b", "ba", "c", "aa", "z"]).map { $0 + "\(below(4))" } ?? "" }

    private struct Undone: Error {}

    /// Performs one transaction of a few steps. Every sixth is rolled back.
    mutating func commit(_ stack: DataStack) throws {
        said = []
        let isUndone = below(6) == 0, count = 1 + below(4), isDetached = below(8) == 0
        let first = configurations[below(configurations.count)]
        do {
            if isDetached {
                let work = stack.beginUnsafe()
                for _ in 0..<count { try change(work, first) }
                said.append(isUndone ? "rolled back" : "detached")
                if isUndone { try work.rollback() }
                return try work.commit()
            }
            var copy = self
            defer { self = copy }
            try stack.write { transaction in
                copy.said = []
                for number in 0..<count {
                    let place = number > 0 && commitsTogether ? configurations[copy.below(configurations.count)] : first
                    if copy.below(4) == 0 { try copy.batch(transaction, place) } else { try copy.change(transaction, place) }
                }
                if isUndone {
                    copy.said.append("undone")
                    throw Undone()
                }
            }
        } catch is Undone {}
    }

    private func assign<Value: Equatable>(_ value: Value, to path: ReferenceWritableKeyPath<Person, Value>, of person: Person) {
        if person[keyPath: path] != value { person[keyPath: path] = value }
    }

    /// Changes one object.
    private mutating func change(_ work: BaseTransaction, _ place: String?) throws {
        let people = try work.fetchAll(From<Person>(place).orderBy(.ascending(\.age)))
        let kind = people.count < 6 ? 0 : below(people.count > 40 ? 13 : 11)
        said.append("\(kind)")
        guard let one = pick(people), kind > 1 else {
            let person = try work.create(Into<Person>(place))
            (person.name, person.age, person.room) = (name(), below(10), pick(["A", "B", "C", nil]) ?? nil)
            person.parent = below(2) == 0 ? pick(people) : nil
            return
        }
        switch kind {
        // Every assignment changes the value, so that the expected notifications follow from the values.
        case 2: assign(name(), to: \.name, of: one)
        case 3: assign(below(10), to: \.age, of: one)
        case 4: assign(below(4) == 0 ? nil : pick(people), to: \.parent, of: one)
        case 5: assign(pick(["A", "B", "C", "D", nil]) ?? nil, to: \.room, of: one)
        case 6: assign(Double(below(3)), to: \.score, of: one)
        case 7:
            let dog = try work.create(Into<Dog>(place))
            dog.owner = one
        case 8:
            if let dog = pick(try work.fetchAll(From<Dog>(place))) { dog.owner = below(3) == 0 ? nil : one }
        case 9:
            let clubs = try work.fetchAll(From<Club>(place))
            if clubs.count < 2 {
                try work.create(Into<Club>(place)).name = clubs.isEmpty ? "x" : "y"
            } else if let club = pick(clubs) {
                if one.clubs.contains(club) { one.clubs.remove(club) } else { one.clubs.insert(club) }
            }
        case 10:
            if let other = pick(people), one.age != other.age { (one.age, other.age) = (other.age, one.age) }
        default:
            // A club with members cannot be deleted, people can.
            try work.delete(one)
        }
    }

    /// Changes many objects.
    private mutating func batch(_ transaction: WriteTransaction, _ place: String?) throws {
        let kind = below(7), age = below(10)
        // The name is new, so that the assignment changes every value.
        serial += 1
        let fresh = "\(serial)"
        said.append("batch \(kind)")
        switch kind {
        case 0: try transaction.updateAll(From<Person>(place).where(\.age < age), .set(\.age, to: \.age + 1))
        case 1: try transaction.updateAll(From<Person>(place).where(\.age == age), .set(\.name, to: name() + "!" + fresh))
        case 2: try transaction.updateAll(From<Person>(place).where(\.age > age), .set(\.room, to: pick(["A", "E", nil]) ?? nil))
        case 3: try transaction.deleteAll(From<Person>(place).where(\.age == age && (\Person.name).beginsWith("b")))
        case 4:
            let names = (0..<(1 + below(4))).map { _ in name() }
            try transaction.insertAll(Into<Person>(place), sources: names) { ($0.name, $0.age) = ($1, age) }
        case 5:
            let emails = (0..<3).map { _ in "\(below(8))" }
            try transaction.upsertAll(Into<Person>(place), on: \.email, sources: Array(Set(emails)).sorted()) {
                ($0.email, $0.name) = ($1, "u" + fresh)
            }
        default:
            // More objects than a list processes individually.
            if below(6) > 0 { return }
            try transaction.insertAll(Into<Person>(place), sources: 0..<300) { ($0.name, $0.age) = ("bulk", $1 % 10) }
            if below(2) == 0 { return }
            try transaction.deleteAll(From<Person>(place).where(\.name == "bulk"))
        }
    }
}
