public import PolystoreFoundation

/// The error type of every store and of the layers above: a code to act on, a message to read, and the underlying cause.
///
/// The message never contains a stored value, a password, or a path of the host.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure. More codes can be added: a switch needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        package init(_ name: String) { description = name }
    }

    /// A single reference: a throwing call returns it in a register, and a result that can be an error is no larger than its value.
    private var content: Content

    /// The kind of the failure.
    public var code: Code { content.code }
    /// A sentence that states what happened and what to do.
    public var message: String { content.message }
    /// The location of the failure and the objects concerned.
    public var details: Details {
        get { content.details }
        set { content = Content(code, message, newValue, cause, isLogged: _isLogged) }
    }
    /// The underlying error, if there is one.
    public var cause: (any Error)? { content.cause }
    /// Whether a logger has already recorded the error. The layers use it to log an error once while it propagates.
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

    /// The location of a failure, as far as it is known.
    public struct Details: Sendable, Hashable {
        /// The name of the entity.
        public var entity: String?
        /// The attribute or relationship, or nil for a constraint over several properties.
        public var property: String? {
            get { properties.count == 1 ? properties[0] : nil }
            set { properties = newValue.map { [$0] } ?? [] }
        }
        /// The attributes and relationships, such as all properties of a violated constraint, by their names in the model.
        public var properties: [String]
        /// The name of the violated constraint.
        public var constraint: String?
        /// The primary keys of the objects concerned. None for a unique constraint that a write violates, because the objects are not known
        /// on every store; a migration names objects that violate a new constraint.
        public var keys: [Int64]
        /// All failures, if several are reported together.
        public var failures: [ValidationFailure]
        /// The conflicting changes of two transactions to the same objects. The message never contains them.
        public var conflicts: [ObjectConflict]
        /// The token of the commit for `commitOutcomeUnknown`, if the store can later report its outcome.
        public var commit: CommitToken?

        /// Creates details. Every argument is optional.
        public init(
            entity: String? = nil, property: String? = nil, constraint: String? = nil, keys: [Int64] = [],
            failures: [ValidationFailure] = [],
            conflicts: [ObjectConflict] = [], commit: CommitToken? = nil
        ) {
            self.entity = entity
            properties = property.map { [$0] } ?? []
            self.constraint = constraint
            self.keys = keys
            self.failures = failures
            self.conflicts = conflicts
            self.commit = commit
        }
    }

    /// Creates an error whose message states what happened and what to do.
    public init(_ code: Code, _ message: String, details: Details = Details(), cause: (any Error)? = nil) {
        content = Content(code, message, details, cause, isLogged: false)
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    /// Whether the same operation may succeed if it is repeated.
    public var isRetryable: Bool { [.serializationFailure, .busy, .timeout, .connectionLost].contains(code) }
}

extension StorageError.Code {
    /// Nothing exists at the given location or under the given id.
    public static let notFound = Self("notFound")
    /// Something already exists at the location to be created.
    public static let alreadyExists = Self("alreadyExists")
    /// Two objects would have the same values under a unique constraint.
    public static let uniqueConstraintViolated = Self("uniqueConstraintViolated")
    /// Rules of the model are violated. The details list all failures.
    public static let validationFailed = Self("validationFailed")
    /// A delete rule forbids the deletion. The details list the objects that prevent it.
    public static let deleteDenied = Self("deleteDenied")
    /// The engine ended the transaction in favour of another one. The transaction can be repeated.
    public static let serializationFailure = Self("serializationFailure")
    /// Another transaction changed the object after it was read.
    public static let staleObject = Self("staleObject")
    /// A transaction was requested inside another transaction of the same stack.
    public static let reentrantCall = Self("reentrantCall")
    /// A store that shares commits with this store cannot be reached. Nothing was written.
    public static let peerUnavailable = Self("peerUnavailable")
    /// Two stores disagree about the transactions that they committed together. Nothing was written.
    public static let peerDiverged = Self("peerDiverged")
    /// The transaction is committed, and one of its stores applies its part later. Do not repeat the transaction.
    public static let commitPending = Self("commitPending")
    /// The transaction is committed, but one of its stores, which keeps no data beyond the process, lacks its part. Do not repeat the
    /// transaction.
    public static let commitIncomplete = Self("commitIncomplete")
    /// The store contains a part of the objects of another store, because a transfer was interrupted.
    public static let incompleteCopy = Self("incompleteCopy")
    /// The objects of the store have been moved to another store, or are being moved. The message names it.
    public static let storeMoved = Self("storeMoved")
    /// The store or a pool is in use by other transactions or processes.
    public static let busy = Self("busy")
    /// A deadline passed.
    public static let timeout = Self("timeout")
    /// The operation was cancelled.
    public static let cancelled = Self("cancelled")
    /// The connection was lost during COMMIT. The outcome of the commit is in doubt.
    public static let commitOutcomeUnknown = Self("commitOutcomeUnknown")
    /// The connection to the server was lost or could not be established.
    public static let connectionLost = Self("connectionLost")
    /// The server rejected the user or the password.
    public static let authenticationFailed = Self("authenticationFailed")
    /// The file system or the server denies access.
    public static let permissionDenied = Self("permissionDenied")
    /// The store or the transaction does not accept changes.
    public static let readOnly = Self("readOnly")
    /// No disk space is left.
    public static let diskFull = Self("diskFull")
    /// An input or output operation failed below the engine.
    public static let inputOutput = Self("inputOutput")
    /// The data that was read violates the format.
    public static let corrupted = Self("corrupted")
    /// The file or database is not a Polystore store.
    public static let notADatabase = Self("notADatabase")
    /// The store has another schema, or a coded value does not fit its type any more. The message names the first difference.
    public static let schemaMismatch = Self("schemaMismatch")
    /// No migration path from the stored schema to the requested one is known.
    public static let noMigrationPath = Self("noMigrationPath")
    /// The store lacks a capability. The message names it.
    public static let unsupported = Self("unsupported")
    /// A request is invalid for the schema. The message names the key path and the nearest valid ones.
    public static let invalidPredicate = Self("invalidPredicate")
    /// A value has no stored form.
    public static let valueNotStorable = Self("valueNotStorable")
    /// A number or date is outside the range of its type.
    public static let valueOutOfRange = Self("valueOutOfRange")
    /// A value has more bytes than its limit allows.
    public static let valueTooLarge = Self("valueTooLarge")
    /// A limit of the store or of a request was exceeded.
    public static let limitExceeded = Self("limitExceeded")
    /// The result of an arithmetic operation is outside the range of its type.
    public static let arithmeticOverflow = Self("arithmeticOverflow")
    /// An expression divides by zero.
    public static let divisionByZero = Self("divisionByZero")
    /// A relationship would have been loaded implicitly where implicit loads are not allowed. Prefetch it.
    public static let unplannedLoad = Self("unplannedLoad")
    /// A position is not known any more: the history no longer contains that of the token, or a page cursor is not one of the request. Start
    /// again from the beginning.
    public static let tokenExpired = Self("tokenExpired")
    /// The store, transaction, or context is already closed.
    public static let storeClosed = Self("storeClosed")
    /// A migration would discard stored data without permission to do so.
    public static let dataLossRefused = Self("dataLossRefused")
    /// A store URL, an option, or a model is malformed.
    public static let invalidConfiguration = Self("invalidConfiguration")
}

extension StorageError {
    /// Creates an error of a store from a refused value.
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

    /// Creates an error of a store from a refused request.
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

    /// Creates an error of a store from a refused schema.
    public init(_ error: SchemaError) { self.init(.invalidConfiguration, error.description, cause: error) }
}

extension StorageError {
    /// The error of a session that could not begin because its store was closed in the meantime: whatever the session found instead of the
    /// open store is only the cause. The end of a limit remains.
    package var ofClosedStore: StorageError {
        if code == .storeClosed || code == .cancelled || code == .timeout { return self }
        return StorageError(.storeClosed, "the store was closed while the session began", cause: self)
    }
}

/// Two errors are equal if they have the same code, message and details. Their causes are not compared, because an error of any type can be
/// one.
extension StorageError: Hashable {
    /// Returns whether two errors have the same code, message and details.
    public static func == (one: StorageError, other: StorageError) -> Bool {
        one.content === other.content || one.code == other.code && one.message == other.message && one.details == other.details
    }

    /// Hashes the code and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }
}

extension StorageError: CustomDebugStringConvertible {
    /// The code, the message, all known details, conflicts with their values, and the cause. The text contains stored values; show it only
    /// to readers who may see them.
    public var debugDescription: String {
        var lines = [description]
        if let entity = details.entity { lines.append("  entity: \(entity)") }
        if let property = details.property { lines.append("  property: \(property)") }
        if details.properties.count > 1 { lines.append("  properties: \(details.properties.joined(separator: ", "))") }
        if let constraint = details.constraint { lines.append("  constraint: \(constraint)") }
        if !details.keys.isEmpty { lines.append("  keys: \(details.keys.map(String.init).joined(separator: ", "))") }
        lines += details.failures.map { "  failure: \($0) (key \($0.key))" }
        for conflict in details.conflicts {
            lines.append("  conflict: \(conflict.entity) \(conflict.key)")
            lines.append("    base: \(conflict.base)")
            lines.append("    mine: \(conflict.mine.map { "\($0)" } ?? "deleted")")
            lines.append("    theirs: \(conflict.theirs.map { "\($0)" } ?? "deleted")")
        }
        if let cause { lines.append("  cause: \(String(reflecting: cause))") }
        return lines.joined(separator: "\n")
    }
}

extension StorageError: LocalizedError {
    /// The message, as `localizedDescription` too.
    public var errorDescription: String? { message }
}
