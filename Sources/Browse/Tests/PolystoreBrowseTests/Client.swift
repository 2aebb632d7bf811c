import Foundation

/// A client that sends exactly the bytes that a test writes, to a server on this machine.
struct Client: Sendable {
    struct Reply: Sendable {
        let status: Int
        let headers: String
        let body: String

        /// Returns the value of a header, or nil.
        func header(_ name: String) -> String? {
            headers.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }

        /// The cookie that the reply sets, as a request sends it back.
        var cookie: String? { header("Set-Cookie")?.split(separator: ";").first.map(String.init) }
    }

    struct Refused: Error {}

    let port: Int

    /// Sends a request and returns the reply.
    func get(
        _ target: String, cookie: String? = nil, host: String? = nil, method: String = "GET", headers: [String] = []
    ) async throws -> Reply {
        var lines = ["\(method) \(target) HTTP/1.1", "Connection: close"]
        if host != "" { lines.append("Host: \(host ?? "127.0.0.1:\(port)")") }
        if let cookie { lines.append("Cookie: \(cookie)") }
        return try await send((lines + headers).joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// Sends bytes and returns what the server answers until it closes the connection.
    func send(_ text: String) async throws -> Reply {
        let bytes = try await stream(text) { _ in true }
        let parts = bytes.components(separatedBy: "\r\n\r\n"), head = parts.first ?? ""
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Reply(status: status, headers: head, body: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    /// Sends bytes and reads until the server closes the connection, or until `continues` returns false for what was read.
    func stream(
        _ text: String, address: String = "127.0.0.1", seconds: Int = 20, while continues: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let port = port
        return try await withCheckedThrowingContinuation { continuation in
            // Waiting must not take a thread of the tasks with which the server works.
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.exchange(text, address, port, seconds, continues) })
            }
        }
    }

    private static func exchange(
        _ text: String, _ address: String, _ port: Int, _ seconds: Int, _ continues: (String) -> Bool
    ) throws -> String {
        #if os(Linux)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: seconds, tv_usec: 0), place = sockaddr_in()
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port).bigEndian
        place.sin_addr.s_addr = inet_addr(address)
        let connected = withUnsafePointer(to: place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else { throw Refused() }
        // A server that closes the connection before everything was sent is no end of the tests.
        signal(SIGPIPE, SIG_IGN)
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
        var all: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { break }
            all += buffer[..<count]
            if !continues(String(decoding: all, as: UTF8.self)) { break }
        }
        return String(decoding: all, as: UTF8.self)
    }
}
