internal import PolystoreStorage

/// A collector of failed checks, so that a case reports all failures at once.
public final class Check {
    /// The failed checks.
    public private(set) var failures: [String] = []

    /// The number of checks so far, whether they held or not.
    private(set) var count = 0

    /// The prefix of failures, which identifies one of several stores.
    var label = ""

    init() {}

    private func fail(_ message: String) { failures.append(label.isEmpty ? message : "[\(label)] \(message)") }

    func equal<T: Equatable>(_ found: T, _ expected: T, _ what: String) {
        count += 1
        if found != expected { fail("\(what): expected \(expected), found \(found)") }
    }

    func isTrue(_ condition: Bool, _ what: String) {
        count += 1
        if !condition { fail("\(what): expected to hold") }
    }

    /// Runs `body`, which must throw an error with a code.
    func throwing(_ code: StorageError.Code, _ what: String, _ body: () throws -> Void) { throwing([code], what, body) }

    /// Runs `body`, which must throw an error with one of the codes.
    func throwing(_ codes: [StorageError.Code], _ what: String, _ body: () throws -> Void) {
        count += 1
        do {
            try body()
            fail("\(what): expected \(codes), nothing was thrown")
        } catch let error as StorageError {
            if !codes.contains(error.code) { fail("\(what): expected \(codes), found \(error)") }
        } catch {
            fail("\(what): expected \(codes), found \(error)")
        }
    }
}
