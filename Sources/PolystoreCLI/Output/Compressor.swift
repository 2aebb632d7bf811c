internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Compresses bytes by a running `gzip` into a file.
///
/// Without `finish` the program ends too, and nothing retains the file.
final class Compressor {
    private let process: Process
    private let input = Pipe(), output = Pipe()
    private let sink: Sink
    private var isRunning = false

    init(_ process: Process, _ file: AtomicFile) {
        self.process = process
        sink = Sink(file)
        process.standardInput = input
        process.standardOutput = output
    }

    deinit {
        if !isRunning { return }
        // The program ends at the end of its input. It may have inherited that SIGTERM is blocked.
        try? input.fileHandleForWriting.close()
        sink.isRead.wait()
    }

    /// Begins to write the output of the started program to the file.
    func begin() {
        isRunning = true
        let sink = sink, output = output.fileHandleForReading, process = process
        Thread.detachNewThread { sink.read(output, of: process) }
    }

    /// Compresses bytes.
    func write(_ data: Data) throws(StorageError) {
        do { try input.fileHandleForWriting.write(contentsOf: data) } catch { throw failed(error) }
    }

    /// Waits until everything is compressed and written to the file, which remains to be finished.
    func finish() throws(StorageError) {
        try? input.fileHandleForWriting.close()
        sink.isRead.wait()
        isRunning = false
        process.waitUntilExit()
        if process.terminationStatus != 0 || sink.failure.withLock({ $0 != nil }) { throw failed(nil) }
    }

    private func failed(_ cause: (any Error)?) -> StorageError {
        sink.failure.withLock { $0 } ?? StorageError(.inputOutput, "the program gzip failed; nothing was written", cause: cause)
    }
}

/// The thread that writes the output of `gzip` to the file.
///
/// Unchecked: the file is used by this thread alone until `isRead`.
private final class Sink: @unchecked Sendable {
    let isRead = DispatchSemaphore(value: 0)
    let failure = Mutex<StorageError?>(nil)
    private var file: AtomicFile?

    init(_ file: AtomicFile) { self.file = file }

    func read(_ output: FileHandle, of process: Process) {
        defer {
            file = nil
            isRead.signal()
        }
        while let data = try? output.read(upToCount: 1 << 20), !data.isEmpty {
            do throws(StorageError) { try file?.write(data) } catch {
                failure.withLock { $0 = $0 ?? error }
                process.terminate()
                return
            }
        }
    }
}
