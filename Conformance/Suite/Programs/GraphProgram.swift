internal import PolystoreStorage

/// A random program over the object graph, as data: a model, and what is done with its objects.
///
/// Objects are called by the numbers under which they were made. A step about an object that is not there does nothing, so that any step can be
/// left out and the rest still means something.
struct GraphProgram: Sendable {
    /// The seed that it was made from.
    var seed: UInt64
    /// The model that it begins with. Its configuration `second`, if there is one, names the entities that a second store holds as well.
    var schema: Schema
    var steps: [ProgramStep]

    /// The configuration of the second store.
    static let second = "Second"

    /// Whether the model has later versions.
    var migrates: Bool { steps.contains { if case .migrate = $0.kind { true } else { false } } }

    /// The number of operations.
    var operations: Int { steps.reduce(0) { $0 + $1.operations } }
}

/// One operation of a program, with the operations inside of it.
struct ProgramStep: Sendable {
    enum Kind: Sendable {
        /// A transaction, which may throw at its end.
        case transaction(author: String, fails: Bool)
        /// A part of a transaction, which may throw at its end; the error is caught.
        case nested(fails: Bool)
        /// A detached transaction; `interference` is done by another one before it commits.
        case detached(interference: [ProgramStep], policy: ProgramPolicy)
        /// A new object with a number, in the store of the first or of the second configuration.
        case create(Int, entity: String, home: Int)
        case assign(Int, String, Value)
        /// A relationship leads to these objects: of a to-one at most one.
        case relate(Int, String, [Int])
        /// A reference into another store leads to an object, or to none.
        case refer(Int, String, Int?)
        case delete([Int])
        /// Looks at all values and relationships of an object.
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
        /// Marks an undo point of a detached transaction, goes back, and goes forward.
        case mark, undo, redo
        /// A list is followed from now on by a monitor and by a publisher.
        case watch(ProgramRequest)
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

    /// The number of operations, itself included.
    var operations: Int {
        let beside: [ProgramStep] = if case .detached(let interference, _) = kind { interference } else { [] }
        return 1 + (parts + beside).reduce(0) { $0 + $1.operations }
    }
}

/// What a detached transaction does where another one changed its objects.
enum ProgramPolicy: String, Sendable {
    case error
    case mine
}

/// A value that an attribute is assigned.
struct ProgramAssignment: Sendable {
    var name: String
    var value: Value
}

/// A request for objects.
struct ProgramRequest: Sendable {
    var fetch: FetchRequest
    /// The store that is asked: that of the first or of the second configuration; nil for all.
    var home: Int?
    /// Whether the condition goes through its text form.
    var isText = false
    /// Whether it is asked of the newest committed state.
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
    /// The entity of a name; programs name only those that are there.
    func description(_ name: String) -> EntityDescription { self[index(of: name) ?? 0] }
}
