import Foundation

/// Runs the helper while one of its calls of the system fails: `failing-calls.c`, which is built once.
struct FailingCalls {
    /// Letters of `failing-calls.c`.
    enum Kind: Character {
        case open = "o", read = "r", write = "w", sync = "s", truncate = "t"
    }

    /// How a call fails.
    enum Failure: Sendable, CaseIterable {
        case inputOutput, diskFull
        /// As `diskFull`, from that call on.
        case diskStaysFull
        /// Half of the bytes are written.
        case shortWrite
        /// As `inputOutput`, from that call on.
        case deviceIsGone
        /// As `deviceIsGone`, but that call has done its work.
        case deviceGoesAfterwards

        fileprivate var environment: [String: String] {
            switch self {
            case .inputOutput: ["FAILING_ERRNO": "\(EIO)"]
            case .diskFull: ["FAILING_ERRNO": "\(ENOSPC)"]
            case .diskStaysFull: ["FAILING_ERRNO": "\(ENOSPC)", "FAILING_LASTS": "1"]
            case .shortWrite: ["FAILING_SHORT": "1"]
            case .deviceIsGone: ["FAILING_ERRNO": "\(EIO)", "FAILING_LASTS": "1"]
            case .deviceGoesAfterwards: ["FAILING_ERRNO": "\(EIO)", "FAILING_LASTS": "1", "FAILING_LATE": "1"]
            }
        }

        /// The kinds of calls that can fail so.
        var kinds: Set<Kind> {
            switch self {
            case .inputOutput, .deviceIsGone: [.open, .read, .write, .sync, .truncate]
            case .deviceGoesAfterwards: [.write, .sync]
            case .diskFull, .diskStaysFull, .shortWrite: [.write, .truncate]
            }
        }

        /// Whether later calls fail too, so that the program cannot go on.
        var isLasting: Bool { [.diskStaysFull, .deviceIsGone, .deviceGoesAfterwards].contains(self) }
    }

    /// What a program said and did.
    struct Run {
        let status: Int32
        let wasKilled: Bool
        let lines: [String]
        /// The calls that counted, in their order.
        let calls: [Kind]
    }

    /// The library; nil where it cannot be built.
    static let library: URL? = {
        #if os(Linux)
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("failing-calls.c")
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("failing-calls-\(UUID().uuidString).so")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["cc", "-shared", "-fPIC", "-O1", "-o", target.path, source.path, "-ldl"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        return process.terminationStatus == 0 ? target : nil
        #else
        return nil
        #endif
    }()

    /// Part of the paths of the files whose calls count.
    let path: String
    var kinds: Set<Kind> = [.open, .read, .write, .sync, .truncate]

    /// The time that each synchronization takes longer.
    var syncMicroseconds = 0

    /// Runs the helper; call number `at` fails, none for nil.
    func run(_ arguments: [String], failing at: Int? = nil, _ failure: Failure = .inputOutput) throws -> Run {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("failing-calls-\(UUID().uuidString).log")
        defer { try? FileManager.default.removeItem(at: log) }
        let process = Process(), output = Pipe()
        process.executableURL = Helper.program
        process.arguments = arguments
        process.standardOutput = output
        var environment = ProcessInfo.processInfo.environment
        environment["LD_PRELOAD"] = Self.library?.path
        environment["FAILING_PATH"] = path
        environment["FAILING_KINDS"] = String(kinds.map(\.rawValue))
        environment["FAILING_LOG"] = log.path
        environment["FAILING_SLOW"] = "\(syncMicroseconds)"
        environment["FAILING_AT"] = at.map(String.init)
        process.environment = environment.merging(failure.environment) { $1 }
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let calls = ((try? Data(contentsOf: log)) ?? Data()).compactMap { Kind(rawValue: Character(UnicodeScalar($0))) }
        return Run(
            status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
            lines: text.split(separator: "\n").map(String.init), calls: calls)
    }
}
