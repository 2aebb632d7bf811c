internal import PolystoreStorage

/// Collects what does not hold, so that a case tells everything that is wrong at once.
public final class Check {
    /// What did not hold.
    public private(set) var failures: [String] = []

    init() {}

    func equal<T: Equatable>(_ found: T, _ expected: T, _ what: String) {
        if found != expected { failures.append("\(what): expected \(expected), found \(found)") }
    }

    func isTrue(_ condition: Bool, _ what: String) { if !condition { failures.append("\(what): expected to hold") } }

    /// Runs something that must throw an error of a code.
    func throwing(_ code: StorageError.Code, _ what: String, _ body: () throws -> Void) { throwing([code], what, body) }

    /// Runs something that must throw an error of one of the codes.
    func throwing(_ codes: [StorageError.Code], _ what: String, _ body: () throws -> Void) {
        do {
            try body()
            failures.append("\(what): expected \(codes), nothing was thrown")
        } catch let error as StorageError {
            if !codes.contains(error.code) { failures.append("\(what): expected \(codes), thrown was \(error)") }
        } catch {
            failures.append("\(what): expected \(codes), thrown was \(error)")
        }
    }
}
