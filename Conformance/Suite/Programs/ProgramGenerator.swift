internal import Foundation
internal import PolystoreStorage

/// Generates a program from a seed.
struct ProgramGenerator {
    private(set) var conditions: ProgramConditions
    /// The model at this point of the program.
    private(set) var schema: Schema
    /// Whether the model has later versions.
    private let migrates: Bool
    /// The approximate state: the objects and their entities, so that steps are effective.
    var objects: [Int: String] = [:]
    private var homes: [Int: Int] = [:]
    /// The objects that a detached transaction and the others beside it change more often than the rest.
    private var contested: [Int] = []
    private(set) var next = 1
    /// The number of names added by later versions.
    var names = 0
    /// The requests so far.
    var requests: [ProgramRequest] = []
    private var left: Int

    private init(_ schema: Schema, seed: UInt64, operations: Int, migrates: Bool) {
        self.schema = schema
        left = operations
        conditions = ProgramConditions(schema, SplitMix(seed: seed &+ 1))
        self.migrates = conditions.chance(40) && migrates
    }

    /// Returns a program of approximately this number of operations.
    ///
    /// - Parameters:
    ///   - schema: The model; nil for a random one.
    ///   - migrates: Whether there may be later versions of the model.
    static func program(seed: UInt64, operations: Int, schema: Schema? = nil, migrates: Bool = true) throws -> GraphProgram {
        let schema = try schema ?? ProgramModel.schema(seed: seed)
        var generator = ProgramGenerator(schema, seed: seed, operations: operations, migrates: migrates)
        return GraphProgram(seed: seed, schema: schema, steps: generator.steps())
    }

    mutating func chance(_ percent: Int) -> Bool { conditions.chance(percent) }
    mutating func below(_ count: Int) -> Int { conditions.below(count) }
    mutating func pick<T>(_ list: [T]) -> T { conditions.pick(list) }

    /// Continues with a version of the model.
    mutating func take(_ schema: Schema) {
        self.schema = schema
        conditions.schema = schema
    }

    var concrete: [String] { schema.entities.filter { !$0.isAbstract }.map(\.name) }

    func isShared(_ entity: String) -> Bool { schema.configurations[GraphProgram.second]?.contains(entity) ?? false }

    private mutating func steps() -> [ProgramStep] {
        var steps: [ProgramStep] = []
        while left > 0 {
            left -= 1
            conditions.objects = objects
            switch below(20) {
            case 0 where !steps.isEmpty: steps.append(ProgramStep(.reopen))
            case 1, 2: steps.append(request())
            case 3 where steps.count > 1: steps.append(watch())
            case 4, 5: steps.append(detached())
            case 6: steps += contest() ?? [detached()]
            case 7...9 where !steps.isEmpty && migrates: steps.append(migration())
            default: steps.append(transaction())
            }
        }
        return steps
    }

    private mutating func transaction() -> ProgramStep {
        let before = (objects, homes), fails = chance(12)
        let parts = (0..<(1 + below(14))).map { _ in step(depth: 0) }
        if fails { (objects, homes) = before }
        return ProgramStep(.transaction(author: pick(["", "ann", "bob"]), fails: fails), parts)
    }

    private mutating func watch() -> ProgramStep {
        if let number = living(), chance(25) { return ProgramStep(.follow(number)) }
        var request = conditions.request(pick(schema.entities).name, depth: 2)
        request.isCommitted = false
        if chance(20) { return ProgramStep(.publishCount(request)) }
        // The name of a section is the text of a value; different values of these types have different texts.
        let types: [ValueType] = [.int16, .int32, .int64, .bool, .date, .uuid]
        let names = attributes(request.fetch.entity).filter { types.contains($0.type) }.map(\.name)
        guard !names.isEmpty, chance(40) else { return ProgramStep(.watch(request, section: nil)) }
        let section = pick(names)
        request.fetch.order.insert(OrderTerm(PropertyPath([section]), ascending: chance(70)), at: 0)
        return ProgramStep(.watch(request, section: section))
    }

    private mutating func detached() -> ProgramStep {
        let before = objects
        var parts: [ProgramStep] = []
        if chance(50) { contested = [living(), living()].compactMap(\.self) }
        defer { contested = [] }
        for _ in 0..<(2 + below(10)) {
            left -= 1
            switch below(12) {
            case 0: parts.append(ProgramStep(.undo))
            case 1: parts.append(ProgramStep(.redo))
            case 2:
                var request = conditions.request(pick(schema.entities).name, depth: 3)
                request.isCommitted = false
                parts.append(ProgramStep(.fetch(request)))
            default:
                if chance(40) { parts.append(ProgramStep(.mark)) }
                parts.append(change())
            }
        }
        // An object that is deleted after other changes.
        if let number = contested.first, objects[number] != nil, chance(30) {
            objects[number] = nil
            parts.append(ProgramStep(.delete([number])))
        }
        guard chance(60) else { return ProgramStep(.detached(interference: [], policy: .error), parts) }
        // The other transactions see the objects that this one has deleted, and not those that it has created.
        let mine = objects
        objects = before
        let interference = (0..<(1 + below(2))).map { _ in transaction() }
        objects = objects.filter { before[$0.key] == nil || mine[$0.key] != nil }.merging(mine.filter { before[$0.key] == nil }) { $1 }
        return ProgramStep(.detached(interference: interference, policy: pick([.error, .mine, .theirs, .byAttribute])), parts)
    }

    /// Returns a transaction that sets a to-one relationship, and a detached one that moves and deletes the object while another changes it:
    /// too rare otherwise.
    private mutating func contest() -> [ProgramStep]? {
        guard let number = living(), let before = relate(number, isOne: true) else { return nil }
        let mine = [relate(number, isOne: true), assign(number), chance(70) ? ProgramStep(.delete([number])) : change()].compactMap(\.self)
        let theirs = [assign(number), chance(50) ? relate(number, isOne: true) : step(depth: 1)].compactMap(\.self)
        left -= 3 + mine.count + theirs.count
        return [
            ProgramStep(.transaction(author: "", fails: false), [before]),
            ProgramStep(
                .detached(
                    interference: [ProgramStep(.transaction(author: "", fails: false), theirs)],
                    policy: pick([.error, .mine, .theirs, .byAttribute])),
                mine),
        ]
    }

    /// Returns a change of single objects.
    private mutating func change() -> ProgramStep {
        switch below(10) {
        case 0, 1: create()
        case 2, 3, 4: assign() ?? create()
        case 5, 6: relate() ?? create()
        case 7: refer() ?? create()
        case 8: delete() ?? create()
        default: chance(30) ? importAll() : read() ?? create()
        }
    }

    private mutating func step(depth: Int) -> ProgramStep {
        left -= 1
        conditions.objects = objects
        switch below(100) {
        case 0..<6 where depth < 3: return nested(depth)
        case 6..<26: return create()
        case 26..<46: return assign() ?? create()
        case 46..<64: return relate() ?? create()
        case 64..<68: return refer() ?? create()
        case 68..<73: return delete() ?? create()
        case 73..<78: return read() ?? create()
        case 78..<85: return batch()
        default: return request()
        }
    }

    private mutating func nested(_ depth: Int) -> ProgramStep {
        let before = (objects, homes), fails = chance(50)
        let parts = (0..<(1 + below(5))).map { _ in step(depth: depth + 1) }
        if fails { (objects, homes) = before }
        return ProgramStep(.nested(fails: fails), parts)
    }

    // MARK: Objects

    mutating func number() -> Int {
        defer { next += 1 }
        return next
    }

    private mutating func create() -> ProgramStep {
        let entity = pick(concrete), home = isShared(entity) ? below(2) : 0, number = number()
        objects[number] = entity
        homes[number] = home
        return ProgramStep(.create(number, entity: entity, home: home))
    }

    private mutating func living() -> Int? {
        let contested = contested.filter { objects[$0] != nil }
        if !contested.isEmpty, chance(60) { return pick(contested) }
        return objects.isEmpty ? nil : pick(objects.keys.sorted())
    }

    func attributes(_ entity: String) -> [Attribute] {
        schema.description(entity).slots.compactMap(\.attribute).filter { $0.crossReference == nil }
    }

    private mutating func value(_ attribute: Attribute) -> Value {
        if attribute.isOptional || chance(5), chance(15) { return .null }
        let refused = ProgramValues(attribute.type).refused
        if !refused.isEmpty, chance(2) { return pick(refused) }
        if !attribute.allowedValues.isEmpty, !chance(5) { return pick(attribute.allowedValues) }
        return conditions.value(attribute.type)
    }

    private mutating func assign(_ number: Int? = nil) -> ProgramStep? {
        guard let number = number ?? living(), let entity = objects[number] else { return nil }
        let all = attributes(entity)
        if all.isEmpty { return nil }
        let attribute = pick(all)
        return ProgramStep(.assign(number, attribute.name, value(attribute)))
    }

    private mutating func relate(_ number: Int? = nil, isOne: Bool = false) -> ProgramStep? {
        guard let number = number ?? living(), let entity = objects[number] else { return nil }
        let relationships = schema.description(entity).relationships.filter { !isOne || $0.relationship.cardinality == .toOne }
        if relationships.isEmpty { return nil }
        let chosen = pick(relationships), family = Set(schema[chosen.destination].family.map { schema[$0].name })
        let candidates = objects.keys.sorted().filter { family.contains(objects[$0] ?? "") && homes[$0] == homes[number] }
        var members: [Int] = []
        let count = chosen.relationship.cardinality == .toOne ? (chance(15) ? 0 : 1) : below(5)
        for _ in 0..<count where !candidates.isEmpty {
            let member = pick(candidates)
            if !members.contains(member) { members.append(member) }
        }
        return ProgramStep(.relate(number, chosen.relationship.name, members))
    }

    private mutating func refer() -> ProgramStep? {
        let all = objects.keys.sorted().filter { number in
            schema.description(objects[number] ?? "").slots.contains { $0.attribute?.crossReference != nil }
        }
        if all.isEmpty { return nil }
        let number = pick(all)
        let references = schema.description(objects[number] ?? "").slots.compactMap { $0.attribute }.filter { $0.crossReference != nil }
        let attribute = pick(references), destination = attribute.crossReference?.destination ?? ""
        let family = Set(schema.description(destination).family.map { schema[$0].name })
        let candidates = objects.keys.sorted().filter { family.contains(objects[$0] ?? "") }
        return ProgramStep(.refer(number, attribute.name, candidates.isEmpty || chance(15) ? nil : pick(candidates)))
    }

    private mutating func delete() -> ProgramStep? {
        guard let number = living() else { return nil }
        var numbers = [number]
        if chance(20), let other = living(), other != number { numbers.append(other) }
        for number in numbers { objects[number] = nil }
        return ProgramStep(.delete(numbers))
    }

    private mutating func read() -> ProgramStep? { living().map { ProgramStep(.read($0)) } }

    // MARK: Requests and batches

    private mutating func request() -> ProgramStep {
        if let former = requests.last, chance(20) {
            // The same statement with other constants.
            return ProgramStep(.fetch(conditions.varied(chance(50) ? former : pick(requests))))
        }
        let entity = pick(schema.entities).name
        switch below(10) {
        case 0: return ProgramStep(.count(conditions.request(entity)))
        case 1:
            var request = conditions.request(entity, depth: 2)
            request.isCommitted = false
            return ProgramStep(.pages(request, size: 1 + below(5)))
        case 2, 3, 4: return ProgramStep(.query(conditions.query(entity)))
        default:
            let request = conditions.request(entity)
            requests.append(request)
            return ProgramStep(.fetch(request))
        }
    }

    mutating func row(_ entity: String) -> [ProgramAssignment] {
        var row: [ProgramAssignment] = []
        for attribute in attributes(entity) where !attribute.isOptional || chance(60) {
            row.append(ProgramAssignment(name: attribute.name, value: value(attribute)))
        }
        return row
    }

    private mutating func batch() -> ProgramStep {
        let entity = pick(concrete), home = isShared(entity) ? below(2) : 0
        switch below(12) {
        case 10, 11: return importAll()
        case 0..<4: if let step = update() { return step }
        case 4: if let step = deleteAll() { return step }
        case 5, 6: if let step = upsert(entity, home) { return step }
        default: break
        }
        let rows = (0..<(1 + below(3))).map { _ in row(entity) }, first = next
        for _ in rows { note(number(), entity, home) }
        return ProgramStep(.insertAll(entity: entity, home: home, first: first, rows: rows))
    }

    mutating func note(_ number: Int, _ entity: String, _ home: Int) {
        objects[number] = entity
        homes[number] = home
    }

    /// Returns a request for a batch, mostly without a limit: engines perform such batches.
    private mutating func batchRequest(_ entity: String) -> ProgramRequest {
        var request = conditions.request(entity, depth: 3)
        request.isCommitted = false
        if chance(70) { (request.fetch.order, request.fetch.limit, request.fetch.offset) = ([], nil, 0) }
        return request
    }

    private mutating func update() -> ProgramStep? {
        let entity = pick(schema.entities).name, all = attributes(entity)
        if all.isEmpty { return nil }
        let attribute = pick(all)
        // NaN is not a valid constant of an expression.
        let constant = value(attribute)
        var value = QueryExpression.value(constant.isNaN ? .null : constant)
        if let kind = ProgramExpressionKind(assignable: attribute.type), chance(50) { value = conditions.output(entity, kind) }
        return ProgramStep(.updateAll(batchRequest(entity), attribute.name, value))
    }

    private mutating func deleteAll() -> ProgramStep? {
        let entity = pick(schema.entities).name
        return ProgramStep(.deleteAll(batchRequest(entity)))
    }

    private mutating func upsert(_ entity: String, _ home: Int) -> ProgramStep? {
        let description = schema.description(entity)
        // An object of another entity of the family is not converted to this one.
        let constraints = description.uniqueConstraints.filter { $0.slots.allSatisfy { description.slots[$0].attribute != nil } }
        if constraints.isEmpty || description.isHierarchy { return nil }
        let names = pick(constraints).slots.map { description.slots[$0].name }
        let rows = (0..<(1 + below(3))).map { _ -> [ProgramAssignment] in
            var row = row(entity).filter { !names.contains($0.name) }
            for name in names {
                guard let attribute = attributes(entity).first(where: { $0.name == name }) else { continue }
                row.append(ProgramAssignment(name: name, value: value(attribute)))
            }
            return row
        }
        let first = next
        for _ in rows { note(number(), entity, home) }
        return ProgramStep(.upsertAll(entity: entity, home: home, unique: names, first: first, rows: rows))
    }
}

/// Imports of values that find the same object, do nothing or fail.
extension ProgramGenerator {
    mutating func importAll() -> ProgramStep {
        let entity = pick(concrete), home = isShared(entity) ? below(2) : 0, first = next
        let keys = attributes(entity).filter { $0.type != .bool && $0.allowedValues.isEmpty }
        let kind = ProgramImportKind(unique: keys.isEmpty || chance(25) ? nil : key(keys, entity), isNested: chance(40))
        let sources = (0..<(1 + below(4))).map { _ in source(kind, entity) }
        for source in sources {
            let number = number()
            if !source.isSkipped { note(number, entity, home) }
        }
        return ProgramStep(.importAll(kind, entity: entity, home: home, first: first, sources: sources))
    }

    /// Returns an attribute, usually one whose values are unique.
    private mutating func key(_ attributes: [Attribute], _ entity: String) -> String {
        let constraints = schema.description(entity).uniqueConstraints.filter { $0.slots.count == 1 }
        let names = constraints.map { schema.description(entity).slots[$0.slots[0]].name }
        let unique = names.filter { name in attributes.contains { $0.name == name } }
        return !unique.isEmpty && chance(80) ? pick(unique) : pick(attributes).name
    }

    private mutating func source(_ kind: ProgramImportKind, _ entity: String) -> ProgramSource {
        var source = ProgramSource(row: row(entity), isSkipped: chance(10), fails: chance(10))
        if let attribute = attributes(entity).first(where: { $0.name == kind.unique }) {
            if !chance(10) { source.id = NaiveGraph.stored(pick(ProgramValues(attribute.type).ordinary), attribute.type) }
            if !chance(10) { source.row.removeAll { $0.name == attribute.name } }
        }
        return source
    }
}
