import Foundation
import Polystore

/// The object mappers of Python beside ours, on SQLite: creating, fetching, and changing one attribute of all objects after fetching them.
///
/// The programs are run by the interpreter that `POLYSTORE_BENCHMARK_PYTHON` names, or `python3`, which needs the packages `sqlalchemy` and
/// `django`. A mapper that is not installed is left out.
struct PythonBenchmark {
    let workloads: Workloads

    func run() throws {
        let values = PersonValues.rows(workloads.count)
        for mapper in ["sqlalchemy", "django"] {
            guard let peer = try PythonPeer(mapper, file: workloads.place.file("\(mapper).db"), count: workloads.count) else {
                FileHandle.standardError.write(Data("\(mapper) is left out: its package is not installed\n".utf8))
                continue
            }
            defer { peer.end() }
            try measure("create-commit", peer, "create") {
                try workloads.withStack { stack in try nanoseconds { try workloads.create(stack, values) } }
            }
            try workloads.withStack { stack in
                try workloads.create(stack, values)
                try measure("fetch-objects", peer, "fetch") { try nanoseconds { try workloads.fetchAll(stack) } }
                try measure("fetch-update-commit", peer, "update") {
                    try nanoseconds {
                        try stack.perform(synchronous: { transaction in
                            for person in try transaction.fetchAll(From<Person>()) { person.age &+= 1 }
                        })
                    }
                }
                return 0
            }
        }
    }

    private func measure(_ workload: String, _ peer: PythonPeer, _ request: String, ours: () throws -> Double) throws {
        var measurement = Measurement(workload, store: "sqlite", against: peer.mapper, count: workloads.count)
        try measurement.run(rounds: workloads.rounds, ours: ours, theirs: { try peer.nanoseconds(request) })
        workloads.report(measurement)
    }
}

/// A running program in Python that measures an object mapper.
private final class PythonPeer {
    let mapper: String
    private let process = Process(), input = Pipe(), output = Pipe()

    /// Starts the program; nil if the mapper is not installed.
    init?(_ mapper: String, file: String, count: Int) throws {
        self.mapper = mapper
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Python/peers.py").path
        let python = ProcessInfo.processInfo.environment["POLYSTORE_BENCHMARK_PYTHON"] ?? "python3"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, script, mapper, file, "\(count)"]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        if line() == "ready" { return }
        process.waitUntilExit()
        return nil
    }

    func nanoseconds(_ request: String) throws -> Double {
        input.fileHandleForWriting.write(Data("\(request)\n".utf8))
        guard let time = Double(line()) else { throw BenchmarkError.floorFailed(mapper) }
        return time
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func line() -> String {
        var bytes: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
