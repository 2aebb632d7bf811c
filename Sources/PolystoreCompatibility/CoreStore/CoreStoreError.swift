internal import Foundation
public import Polystore

/// The name of `StorageError` in CoreStore. The cases of CoreStore's error are patterns: `catch CoreStoreError.userCancelled`.
public typealias CoreStoreError = StorageError

/// The domain of the errors in CoreStore.
public let CoreStoreErrorDomain = "com.corestore.error"

/// The codes of the errors in CoreStore.
public enum CoreStoreErrorCode: Int, Sendable {
    /// No error was given.
    case unknownError
    /// Another store exists at the location.
    case differentStorageExistsAtURL
    /// No path of migrations is known, or it would discard data.
    case mappingModelNotFound
    /// Has no counterpart: a migration in several steps is never refused.
    case progressiveMigrationRequired
    /// The store has another version of the model, and `addStorageAndWait` may not migrate it.
    case asynchronousMigrationRequired
    /// Any other error of a store or of a layer above.
    case internalError
    /// An error that the program has thrown.
    case userError
    /// The transaction was cancelled.
    case userCancelled
    /// No store was added that holds the entity, or there is nothing at a location.
    case persistentStoreNotFound
}

extension StorageError {
    /// The domain of the errors in CoreStore.
    public static var errorDomain: String { CoreStoreErrorDomain }

    /// The number of the kind of the error in CoreStore.
    public var errorCode: Int { kind.rawValue }

    /// Creates an error from any other one: itself, or an error that the program has thrown, as its cause.
    public init(_ error: (any Error)?) {
        switch error {
        case let error as StorageError: self = error
        case let error?: self = .userError(error: error)
        case nil: self = .unknown
        }
    }

    /// The pattern of an error without information.
    public static var unknown: StorageError { pattern(.unknownError) }
    /// The pattern of an error because another store exists at the location.
    public static var differentStorageExistsAtURL: StorageError { pattern(.differentStorageExistsAtURL) }
    /// The pattern of an error because no path of migrations is known, or because it would discard data.
    public static var mappingModelNotFound: StorageError { pattern(.mappingModelNotFound) }
    /// The pattern of an error that does not occur: a migration in several steps is never refused.
    public static var progressiveMigrationRequired: StorageError { pattern(.progressiveMigrationRequired) }
    /// The pattern of an error because a store has another version of the model, and `addStorageAndWait` may not migrate it.
    public static var asynchronousMigrationRequired: StorageError { pattern(.asynchronousMigrationRequired) }
    /// The pattern of all errors without another pattern.
    public static var internalError: StorageError { pattern(.internalError) }
    /// The pattern of errors that the program has thrown.
    public static var userError: StorageError { pattern(.userError) }
    /// Returns the error for one that the program has thrown, which is its cause.
    public static func userError(error: any Error) -> StorageError {
        StorageError(.userError, "the closure of a transaction threw an error of the program", cause: error)
    }

    /// The error of a cancelled transaction, and its pattern.
    public static var userCancelled: StorageError { StorageError(.cancelled, "the transaction was cancelled") }
    /// The pattern of an error because no store was added that holds the entity.
    public static var persistentStoreNotFound: StorageError { pattern(.persistentStoreNotFound) }

    private static func pattern(_ kind: CoreStoreErrorCode) -> StorageError {
        StorageError(Code(pattern: kind), "an error of the kind \(kind)")
    }

    /// The kind of the error in CoreStore.
    var kind: CoreStoreErrorCode {
        switch code {
        case Code(pattern: .unknownError): .unknownError
        case .alreadyExists, .notADatabase: .differentStorageExistsAtURL
        case .noMigrationPath, .dataLossRefused: .mappingModelNotFound
        case .schemaMismatch: .asynchronousMigrationRequired
        case .userError: .userError
        case .cancelled: .userCancelled
        case .notFound: .persistentStoreNotFound
        default: .internalError
        }
    }

    /// Returns whether the error has the code of a pattern, or its kind in CoreStore if the pattern is one of a kind.
    func matches(_ pattern: StorageError) -> Bool {
        pattern.code == code || pattern.code == Code(pattern: kind)
    }
}

extension StorageError.Code {
    /// The program has thrown an error, which is the cause.
    public static let userError = Self(pattern: .userError)

    fileprivate init(pattern kind: CoreStoreErrorCode) { self.init("\(kind)") }
}

/// Returns whether an error has the same code as another one, or the kind of a pattern: `case .failure(.userCancelled)`. Errors of other
/// types are those that the program has thrown.
public func ~= (pattern: StorageError, error: any Error) -> Bool { StorageError(error).matches(pattern) }

/// Returns whether an error has the same code as another one, or the kind of a pattern.
public func ~= (pattern: StorageError, error: StorageError) -> Bool { error.matches(pattern) }
