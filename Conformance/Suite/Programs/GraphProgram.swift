internal import Polystore
internal import PolystoreStorage

/// A random program over the object graph, as data: a model, and the operations on its objects.
///
/// Objects are identified by the numbers under which they were created. A step about a missing object does nothing, so that any step can be
/// omitted and the remaining program is still valid.
struct GraphProgram: Sendable {
    /// The seed from which it was generated.
    var seed: UInt64
    /// The initial model. Its configuration `second`, if there is one, names the entities that a second store holds as well.
    var schema: Schema
    var steps: [ProgramStep]

    /// The configuration of the second store.
    static let second = "Second"

    /// Whether the model has later versions.
    var migrates: Bool { steps.contains { if case .migrate = $0.kind { true } else { false } } }

    /// The number of operations.
    var operations: Int { steps.reduce(0) { $0 + $1.operations } }
}

/// One operation of a program, with its nested operations.
struct ProgramStep: Sendable {
    enum Kind: Sendable {
        /// A transaction, which may throw at its end.
        case transaction(author: String, fails: Bool)
        /// A nested part of a transaction, which may throw at its end. The error is caught.
        case nested(fails: Bool)
        /// A detached transaction. Another transaction performs `interference` before it commits.
        case detached(interference: [ProgramStep], policy: ProgramPolicy)
        /// A new object with a number, in the store of the first or of the second configuration.
        case create(Int, entity: String, home: Int)
        case assign(Int, String, Value)
        /// Sets the destinations of a relationship; at most one for a to-one relationship.
        case relate(Int, String, [Int])
        /// Sets the destination of a reference into another store, or none.
        case refer(Int, String, Int?)
        case delete([Int])
        /// Reads all values and relationships of an object.
        case read(Int)
        case fetch(ProgramRequest)
        case count(ProgramRequest)
        case pages(ProgramRequest, size: Int)
        case query(ProgramQuery)
        case updateAll(ProgramRequest, String, QueryExpression)
        case deleteAll(ProgramRequest)
        case insertAll(entity: String, home: Int, first: Int, rows: [[ProgramAssignment]])
        case upsertAll(entity: String, home: Int, unique: [String], first: Int, rows: [[ProgramAssignment]])
        case importAll(ProgramImportKind, entity: String, home: Int, first: Int, sources: [ProgramSource])
        /// Sets an undo point of a detached transaction, undoes, and redoes.
        case mark, undo, redo
        /// A monitor and a publisher observe a list from now on, in sections by an attribute if one is named.
        case watch(ProgramRequest, section: String?)
        /// A monitor and a publisher observe an object from now on.
        case follow(Int)
        /// A publisher observes the number of objects of a request from now on.
        case publishCount(ProgramRequest)
        /// All stores are closed and opened again.
        case reopen
        /// All stores are closed, and opened again with the next version of the model.
        case migrate([ProgramChange])
    }

    var kind: Kind
    var parts: [ProgramStep] = []

    init(_ kind: Kind, _ parts: [ProgramStep] = []) {
        self.kind = kind
        self.parts = parts
    }

    /// The number of operations, including itself.
    var operations: Int {
        let beside: [ProgramStep] = if case .detached(let interference, _) = kind { interference } else { [] }
        return 1 + (parts + beside).reduce(0) { $0 + $1.operations }
    }
}

/// The policy of a detached transaction for objects that another one changed.
enum ProgramPolicy: String, Sendable {
    case error
    case mine
    case theirs
    case byAttribute

    /// The policy.
    var policy: MergePolicy {
        switch self {
        case .error: .error
        case .mine: .mine
        case .theirs: .theirs
        case .byAttribute: .byAttribute(chosen)
        }
    }

    /// The value that the closure of `byAttribute` chooses.
    func chosen(_ entity: String, _ name: String, _ base: Value, _ mine: Value, _ theirs: Value) -> Value {
        [base, mine, theirs][(entity.utf8.count + name.utf8.count) % 3]
    }

    /// The policy as Swift code.
    var code: String {
        if self != .byAttribute { return ".\(rawValue)" }
        return ".byAttribute { entity, name, base, mine, theirs in [base, mine, theirs][(entity.utf8.count + name.utf8.count) % 3] }"
    }
}

/// An assignment of a value to an attribute.
struct ProgramAssignment: Sendable {
    var name: String
    var value: Value
}

/// A request for objects.
struct ProgramRequest: Sendable {
    var fetch: ObjectRequest
    /// The queried store: that of the first or of the second configuration; nil for all.
    var home: Int?
    /// Whether the condition is converted to its text form and parsed.
    var isText = false
    /// Whether the newest committed state is queried.
    var isCommitted = false
}

/// A request for values.
struct ProgramQuery: Sendable {
    var request: ProgramRequest
    var outputs: [QueryOutput]
    var keys: [QueryExpression] = []
    var having: QueryPredicate?
    var isDistinct = false
}

extension Schema {
    /// Returns the entity of a name. Programs name only existing ones.
    func description(_ name: String) -> EntityDescription { self[index(of: name) ?? 0] }
}
