internal import Synchronization

/// Decides who may read: the visitor who brings the token first receives the cookie of the session, and no other visitor does.
final class SessionGate: Sendable {
    /// The token of the address that is printed.
    let token = SessionGate.secret()
    /// The value of the cookie.
    private let session = SessionGate.secret()
    private let isTaken = Mutex(false)

    /// Returns the value of the cookie for a valid token that was not used before; nil for all others.
    func exchange(_ text: String) -> String? {
        guard Self.isEqual(text, token) else { return nil }
        return isTaken.withLock { isTaken in
            if isTaken { return nil }
            isTaken = true
            return session
        }
    }

    /// Returns whether a text is the value of the cookie.
    func admits(_ text: String) -> Bool { Self.isEqual(text, session) }

    /// Compares all bytes, so that the time does not depend on how many are equal.
    private static func isEqual(_ a: String, _ b: String) -> Bool {
        let a = Array(a.utf8), b = Array(b.utf8)
        if a.count != b.count { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Returns 256 random bits as letters and digits.
    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
