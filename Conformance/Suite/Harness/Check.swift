internal import PolystoreStorage

/// Collects what does not hold, so that a case tells everything that is wrong at once.
public final class Check {
    /// What did not hold.
    public private(set) var failures: [String] = []

    /// Stands before what did not hold: which of several stores it was about.
    var label = ""

    init() {}

    private func fail(_ message: String) { failures.append(label.isEmpty ? message : "[\(label)] \(message)") }

    func equal<T: Equatable>(_ found: T, _ expected: T, _ what: String) {
        if found != expected { fail("\(what): expected \(expected), found \(found)") }
    }

    func isTrue(_ condition: Bool, _ what: String) { if !condition { fail("\(what): expected to hold") } }

    /// Runs something that must throw an error of a code.
    func throwing(_ code: StorageError.Code, _ what: String, _ body: () throws -> Void) { throwing([code], what, body) }

    /// Runs something that must throw an error of one of the codes.
    func throwing(_ codes: [StorageError.Code], _ what: String, _ body: () throws -> Void) {
        do {
            try body()
            fail("\(what): expected \(codes), nothing was thrown")
        } catch let error as StorageError {
            if !codes.contains(error.code) { fail("\(what): expected \(codes), thrown was \(error)") }
        } catch {
            fail("\(what): expected \(codes), thrown was \(error)")
        }
    }
}
