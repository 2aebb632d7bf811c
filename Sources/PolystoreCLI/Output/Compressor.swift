internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Compresses bytes by a running `gzip` into a file.
///
/// Unchecked: the file is written by the thread that reads the output of `gzip` alone, until `finish` has waited for it.
final class Compressor: @unchecked Sendable {
    private let process: Process
    private let input = Pipe(), output = Pipe()
    private let file: AtomicFile
    private let isRead = DispatchSemaphore(value: 0)
    private let failure = Mutex<StorageError?>(nil)

    init(_ process: Process, _ file: AtomicFile) {
        self.process = process
        self.file = file
        process.standardInput = input
        process.standardOutput = output
    }

    /// Begins to write the output of the started program to the file.
    func begin() {
        Thread.detachNewThread { [self] in
            defer { isRead.signal() }
            while let data = try? output.fileHandleForReading.read(upToCount: 1 << 20), !data.isEmpty {
                do throws(StorageError) { try file.write(data) } catch {
                    failure.withLock { $0 = $0 ?? error }
                    process.terminate()
                    return
                }
            }
        }
    }

    /// Compresses bytes.
    func write(_ data: Data) throws(StorageError) {
        do { try input.fileHandleForWriting.write(contentsOf: data) } catch { throw failed(error) }
    }

    /// Waits until everything is compressed and written to the file, which remains to be finished.
    func finish() throws(StorageError) {
        try? input.fileHandleForWriting.close()
        isRead.wait()
        process.waitUntilExit()
        if process.terminationStatus != 0 || failure.withLock({ $0 != nil }) { throw failed(nil) }
    }

    private func failed(_ cause: (any Error)?) -> StorageError {
        failure.withLock { $0 } ?? StorageError(.inputOutput, "the program gzip failed; nothing was written", cause: cause)
    }
}
