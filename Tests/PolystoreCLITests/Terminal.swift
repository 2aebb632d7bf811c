import Foundation
import Testing

/// The command at a terminal of its own.
final class Terminal {
    private let process: Process
    private let master: FileHandle
    private var output = ""
    private var bytes: [UInt8] = []

    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String], _ environment: [String: String]) throws {
        process = Program.process(arguments)
        var ends: (Int32, Int32) = (-1, -1)
        guard openpty(&ends.0, &ends.1, nil, nil, nil) == 0 else { throw Missing(description: "no terminal: \(errno)") }
        master = FileHandle(fileDescriptor: ends.0, closeOnDealloc: true)
        let slave = FileHandle(fileDescriptor: ends.1, closeOnDealloc: true)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = slave
        process.standardOutput = slave
        process.standardError = slave
        try process.run()
        try? slave.close()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Types text.
    func type(_ text: String) throws { try master.write(contentsOf: Data(text.utf8)) }

    /// Sends the signal of Control-C, as the terminal does for a program that it controls.
    func interrupt() { process.interrupt() }

    /// Waits for texts in the output, one after the other.
    func expect(_ texts: String...) throws {
        // A line is drawn again for each key. What moves the cursor is left out.
        func plain() -> String {
            String(String.UnicodeScalarView(output.unicodeScalars.filter { $0 != "\r" })).replacing(/\u{1b}\[[0-9;]*[A-Za-z]/, with: "")
        }
        // In their order: a prompt that was shown before an answer is not the one after it. A line feed can belong to two of them.
        func isFound(_ count: Int) -> Bool {
            let plain = plain()
            var rest = plain[...]
            for text in texts.prefix(count) {
                guard let range = rest.range(of: text) else { return false }
                rest = plain[plain.index(before: range.upperBound)...]
            }
            return true
        }
        for (index, text) in texts.enumerated() { try wait(text) { isFound(index + 1) } }
        output = ""
        bytes = []
    }

    private func wait(_ text: String, until isFound: () -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 60)
        while !isFound() {
            var events = pollfd(fd: master.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard Date() < end else { throw Missing(description: "'\(text)' is missing in: \(output.debugDescription)") }
            if poll(&events, 1, 100) > 0 {
                let data = master.availableData
                if data.isEmpty { throw Missing(description: "'\(text)' is missing in: \(output.debugDescription)") }
                bytes += data
                output = String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    /// Waits for a text in the output, and returns all of it with the control characters.
    func text(until text: String) throws -> String {
        try wait(text) { output.range(of: text) != nil }
        return output
    }

    /// Waits for the end of the command, and returns its exit code.
    func end() throws -> Int32 {
        let end = Date(timeIntervalSinceNow: 60)
        while process.isRunning, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
        if process.isRunning { throw Missing(description: "the command does not end") }
        process.waitUntilExit()
        return process.terminationStatus
    }
}
