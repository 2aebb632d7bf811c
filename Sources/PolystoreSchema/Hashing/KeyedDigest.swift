/// HMAC with SHA-256 (RFC 2104), which verifies that the author of a message had the secret.
package enum KeyedDigest {
    private static let block = 64

    /// Returns the digest of a message with a secret, 32 bytes.
    package static func digest(_ message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var key = secret.count > block ? bytes(SHA256.digest(secret)) : secret
        key += [UInt8](repeating: 0, count: block - key.count)
        let inner = bytes(SHA256.digest(key.map { $0 ^ 0x36 } + message))
        return bytes(SHA256.digest(key.map { $0 ^ 0x5c } + inner))
    }

    /// Returns whether two digests are equal. The time taken does not reveal where they differ.
    package static func areEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func bytes(_ words: [UInt64]) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
    }
}
