internal import Foundation
internal import PolystoreStorage

/// Another process that has opened the same location. It is the conformance program itself: it reads a URL and then lines, each with the name
/// of some work, and answers each line with `done` or with the error.
final class PeerProcess: WatchingPeer {
    private static let patience: Int32 = 60_000

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts a program and waits until it has opened the store of a URL.
    init(_ program: URL, _ url: String) throws {
        // An error of the write reports that the other process has ended.
        signal(SIGPIPE, SIG_IGN)
        process.executableURL = program
        process.arguments = ["--peer"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try ask(url)
    }

    func perform(_ work: PeerWork) throws { try ask(work.rawValue) }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func ask(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        let answer = try answer()
        if answer != "done" { throw StorageError(.connectionLost, "another process could not do '\(line)': \(answer)") }
    }

    /// Returns the next line; less if the process has ended or does not answer in time.
    private func answer() throws -> String {
        var line: [UInt8] = []
        let handle = output.fileHandleForReading
        while true {
            var ready = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Self.patience) > 0, let byte = try handle.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") else {
                return String(decoding: line, as: UTF8.self)
            }
            line.append(byte)
        }
    }

    // MARK: The other process

    /// Does what the lines of standard input name, until they end.
    static func serve(_ opener: some StoreOpener) throws {
        guard let text = readLine() else { return }
        let place = StorePlace(store: { try opener.store(at: StoreURL(text), configuration: $0) }, remove: {})
        var scratch: Scratch?
        answer { scratch = try Scratch(place, WatchingScene.schema.get()) }
        defer { scratch?.end() }
        while let line = readLine() {
            answer {
                guard let work = PeerWork(rawValue: line) else { throw StorageError(.unsupported, "there is no work named '\(line)'") }
                try scratch?.perform(work)
            }
        }
    }

    /// Runs `body`, and writes a line about it.
    private static func answer(_ body: () throws -> Void) {
        var line = "done"
        do { try body() } catch { line = "\(error)".replacingOccurrences(of: "\n", with: " ") }
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
