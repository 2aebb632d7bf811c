import Foundation
import Synchronization

/// A server of PostgreSQL's protocol that asks for a password, and rejects every one.
final class PasswordServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let received = Mutex<[String]>([])

    struct Failed: Error {}

    /// The passwords that were sent.
    var passwords: [String] { received.withLock { $0 } }

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in(), length = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw Failed() }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                if client < 0 { return }
                serve(client)
                close(client)
            }
        }
    }

    private func serve(_ client: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard recv(client, &buffer, buffer.count, 0) > 0 else { return }
        let question: [UInt8] = [UInt8(ascii: "R"), 0, 0, 0, 8, 0, 0, 0, 3]
        send(client, question, question.count, Int32(MSG_NOSIGNAL))
        let count = recv(client, &buffer, buffer.count, 0)
        // A client without a password ends the connection.
        guard count > 5, buffer[0] == UInt8(ascii: "p") else { return }
        received.withLock { $0.append(String(decoding: buffer[5..<(count - 1)], as: UTF8.self)) }
        let fields = Array("SFATAL\0C28P01\0Mpassword authentication failed for user \"me\"\0\0".utf8), length = fields.count + 4
        let refusal = [UInt8(ascii: "E"), 0, 0, UInt8(length >> 8), UInt8(length & 0xff)] + fields
        send(client, refusal, refusal.count, Int32(MSG_NOSIGNAL))
    }
}
