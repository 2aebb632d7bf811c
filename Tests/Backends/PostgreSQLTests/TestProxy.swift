import Foundation
import Synchronization

/// A socket between the program and the server that stops or breaks when the test says so.
final class TestProxy: Sendable {
    /// What becomes of what the program sends.
    enum Mode: Sendable {
        /// It is passed on, and answered.
        case open
        /// Neither side hears of the other any more.
        case silent
        /// The first message with a text is kept back, and the connection breaks.
        case breakingBefore(String)
        /// The first message with a text is passed on; the connection breaks before it is answered.
        case breakingAfter(String)
        /// The first message with a text is lost, and from then on neither side hears of the other.
        case silentFrom(String)
    }

    private let state = Mutex((mode: Mode.open, hasBroken: false))
    /// The folder of the socket, as the host of a URL.
    let folder: String
    private let listener: Int32
    private let server: String?

    /// A proxy before the socket file of a server; without one it takes connections and says nothing.
    init(server: String?) throws {
        folder = "/tmp/polystore-proxy-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.server = server
        listener = socket(AF_UNIX, Self.stream, 0)
        let bound = Self.withAddress("\(folder)/.s.PGSQL.5432") { bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread { self.accept() }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var mode: Mode {
        get { state.withLock { $0.mode } }
        set { state.withLock { $0.mode = newValue } }
    }

    /// Whether a connection was broken.
    var hasBroken: Bool { state.withLock { $0.hasBroken } }

    func close() { shutdown(listener, Int32(SHUT_RDWR)) }

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    private func accept() {
        while true {
            let client = Foundation.accept(listener, nil, nil)
            if client < 0 { return }
            guard let server else { continue }
            let other = socket(AF_UNIX, Self.stream, 0)
            if Self.withAddress(server, { connect(other, $0, $1) }) != 0 {
                Foundation.close(client)
                continue
            }
            Thread.detachNewThread { self.pass(client, other, isProgram: true) }
            Thread.detachNewThread { self.pass(other, client, isProgram: false) }
        }
    }

    private func pass(_ source: Int32, _ target: Int32, isProgram: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(source, &buffer, buffer.count)
            if count <= 0 { break }
            let mode = mode
            func says(_ text: String) -> Bool { isProgram && buffer[0..<count].firstRange(of: Array(text.utf8)) != nil }
            switch mode {
            case .open: break
            case .silent: continue
            case .breakingBefore(let text) where says(text):
                finish(source, target)
                return
            case .breakingAfter(let text) where says(text):
                self.mode = .silent
                _ = write(target, buffer, count)
                // The server works while nobody listens to it.
                Thread.sleep(forTimeInterval: 1)
                finish(source, target)
                return
            case .silentFrom(let text) where says(text):
                self.mode = .silent
                continue
            case .breakingBefore, .silentFrom: break
            case .breakingAfter: break
            }
            if write(target, buffer, count) != count { break }
        }
        shutdown(target, Int32(SHUT_RDWR))
    }

    private func finish(_ source: Int32, _ target: Int32) {
        state.withLock { $0 = (.open, true) }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }
}
