/// The one error of every store and of the layers above: a code to act on, a sentence to read, the cause to dig in.
///
/// The sentence never contains a stored value, a password or a path of the host.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was. The set can grow: switch with a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        init(_ name: String) { description = name }
    }

    /// One reference: a call that can throw returns it in a register, and a result that can be an error is as small as its value.
    private var content: Content

    /// What kind of failure it was.
    public var code: Code { content.code }
    /// What happened and what to do.
    public var message: String { content.message }
    /// Where it happened and which objects were concerned.
    public var details: Details {
        get { content.details }
        set { content = Content(code, message, newValue, cause, isLogged: _isLogged) }
    }
    /// The error below, if there is one.
    public var cause: (any Error)? { content.cause }
    /// Whether a logger has seen it, so that it is reported once on its way up.
    public var _isLogged: Bool {
        get { content.isLogged }
        set { content = Content(code, message, details, cause, isLogged: newValue) }
    }

    private final class Content: Sendable {
        let code: Code
        let message: String
        let details: Details
        let cause: (any Error)?
        let isLogged: Bool

        init(_ code: Code, _ message: String, _ details: Details, _ cause: (any Error)?, isLogged: Bool) {
            self.code = code
            self.message = message
            self.details = details
            self.cause = cause
            self.isLogged = isLogged
        }
    }

    /// Where a failure happened, as far as it is known.
    public struct Details: Sendable, Hashable {
        /// The entity.
        public var entity: String?
        /// The attribute or relationship; of a constraint over several nil.
        public var property: String?
        /// The constraint that was violated.
        public var constraint: String?
        /// The keys of the objects concerned, as far as the engine names them: those of SQL name none that break a constraint.
        public var keys: [Int64]
        /// All failures, where several are reported together.
        public var failures: [ValidationFailure]
        /// What two transactions made of the same objects; never part of the sentence.
        public var conflicts: [ObjectConflict]
        /// The commit of a `commitOutcomeUnknown`, where the store can be asked for its outcome later.
        public var commit: CommitToken?

        /// Details; everything may be left out.
        public init(
            entity: String? = nil, property: String? = nil, constraint: String? = nil, keys: [Int64] = [],
            failures: [ValidationFailure] = [],
            conflicts: [ObjectConflict] = [], commit: CommitToken? = nil
        ) {
            self.entity = entity
            self.property = property
            self.constraint = constraint
            self.keys = keys
            self.failures = failures
            self.conflicts = conflicts
            self.commit = commit
        }
    }

    /// An error with a sentence that says what happened and what to do.
    public init(_ code: Code, _ message: String, details: Details = Details(), cause: (any Error)? = nil) {
        content = Content(code, message, details, cause, isLogged: false)
    }

    /// Code and sentence.
    public var description: String { "\(code): \(message)" }

    /// Whether the same work may succeed when it is tried again.
    public var isRetryable: Bool { [.serializationFailure, .busy, .timeout, .connectionLost].contains(code) }
}

extension StorageError.Code {
    /// Nothing is at the place or under the id that was named.
    public static let notFound = Self("notFound")
    /// Something is already at the place that was to be created.
    public static let alreadyExists = Self("alreadyExists")
    /// Two objects would agree in a unique constraint.
    public static let uniqueConstraintViolated = Self("uniqueConstraintViolated")
    /// Rules of the model do not hold; the details list all failures.
    public static let validationFailed = Self("validationFailed")
    /// A delete rule forbids the deletion; the details list the objects in the way.
    public static let deleteDenied = Self("deleteDenied")
    /// The engine ended the transaction in favour of another; it can be run again.
    public static let serializationFailure = Self("serializationFailure")
    /// The object was changed by somebody else since it was read.
    public static let staleObject = Self("staleObject")
    /// A transaction was asked for from inside another of the same stack.
    public static let reentrantCall = Self("reentrantCall")
    /// A store that shares commits with this one cannot be asked; nothing was written.
    public static let peerUnavailable = Self("peerUnavailable")
    /// A store and another one do not have the same of the transactions that they committed together; nothing was written.
    public static let peerDiverged = Self("peerDiverged")
    /// The transaction is committed, and one of its stores takes its part later: never to be run again.
    public static let commitPending = Self("commitPending")
    /// The transaction is committed, and one of its stores, which keeps nothing beyond the process, lacks its part: never to be run again.
    public static let commitIncomplete = Self("commitIncomplete")
    /// The store or a pool is in use by others.
    public static let busy = Self("busy")
    /// A deadline passed.
    public static let timeout = Self("timeout")
    /// The work was cancelled.
    public static let cancelled = Self("cancelled")
    /// The connection was lost during COMMIT: it may or may not have happened.
    public static let commitOutcomeUnknown = Self("commitOutcomeUnknown")
    /// The connection to the server was lost or could not be made.
    public static let connectionLost = Self("connectionLost")
    /// The server refused user or password.
    public static let authenticationFailed = Self("authenticationFailed")
    /// The file system or the server forbids it.
    public static let permissionDenied = Self("permissionDenied")
    /// The store or the transaction takes no changes.
    public static let readOnly = Self("readOnly")
    /// There is no room left.
    public static let diskFull = Self("diskFull")
    /// Reading or writing failed below the engine.
    public static let inputOutput = Self("inputOutput")
    /// What was read breaks the format.
    public static let corrupted = Self("corrupted")
    /// The file or database is not one of Polystore's.
    public static let notADatabase = Self("notADatabase")
    /// The store was made with another schema; the sentence names the first difference.
    public static let schemaMismatch = Self("schemaMismatch")
    /// No way is known from the stored schema to the wanted one.
    public static let noMigrationPath = Self("noMigrationPath")
    /// The store lacks a capability; the sentence names it.
    public static let unsupported = Self("unsupported")
    /// A request means nothing for the schema; the sentence names the key path and the nearest valid ones.
    public static let invalidPredicate = Self("invalidPredicate")
    /// A value has no stored form.
    public static let valueNotStorable = Self("valueNotStorable")
    /// A number or date is outside the range of its type.
    public static let valueOutOfRange = Self("valueOutOfRange")
    /// A value has more bytes than it may.
    public static let valueTooLarge = Self("valueTooLarge")
    /// A limit of the store or of a request was exceeded.
    public static let limitExceeded = Self("limitExceeded")
    /// A number left the range of its type.
    public static let arithmeticOverflow = Self("arithmeticOverflow")
    /// A division by zero.
    public static let divisionByZero = Self("divisionByZero")
    /// A relationship would have been loaded by itself where that is not allowed; prefetch it.
    public static let unplannedLoad = Self("unplannedLoad")
    /// The history no longer reaches back to the token.
    public static let tokenExpired = Self("tokenExpired")
    /// The store, transaction or context was already closed.
    public static let storeClosed = Self("storeClosed")
    /// A migration would lose something that is stored, and nobody has said that it may.
    public static let dataLossRefused = Self("dataLossRefused")
    /// A store URL, option or model is malformed.
    public static let invalidConfiguration = Self("invalidConfiguration")
}

extension StorageError {
    /// A refused value as an error of the store's kind.
    public init(_ error: ValueError) {
        let code: Code =
            switch error.reason {
            case .notStorable: .valueNotStorable
            case .outOfRange: .valueOutOfRange
            case .tooLarge: .valueTooLarge
            }
        let place = error.entity.isEmpty ? error.attribute : "\(error.entity).\(error.attribute)"
        self.init(
            code, place.isEmpty ? error.message : "\(place): \(error.message)",
            details: Details(entity: error.entity, property: error.attribute), cause: error)
    }

    /// A refused request as an error of the store's kind.
    public init(_ error: QueryError) {
        let code: Code =
            switch error.reason {
            case .invalid: .invalidPredicate
            case .tooComplex: .limitExceeded
            case .arithmeticOverflow: .arithmeticOverflow
            case .divisionByZero: .divisionByZero
            case .illFormed: .corrupted
            }
        self.init(
            code,
            error.path.isEmpty ? error.message : "\(error.path): \(error.message)", details: Details(property: error.path), cause: error)
    }

    /// A refused schema as an error of the store's kind.
    public init(_ error: SchemaError) { self.init(.invalidConfiguration, error.description, cause: error) }
}
