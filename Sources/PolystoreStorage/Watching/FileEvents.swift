#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// File system events of some files in a folder. Only one thread uses the structure, except for its `wakeUp`.
///
/// Files that do not exist yet, and files that are replaced, are watched when they appear. The folder is watched for names only, so that
/// writes to other files in it do not wake the thread.
struct FileEvents: ~Copyable {
    /// Ends a wait from any thread.
    let wakeUp: WakeUp
    private let folder: String
    private let names: [String]
    /// The descriptor of the event queue, or -1 if the system provides none. In that case a wait ends only by its timeout.
    private let queue: Int32

    /// Creates the events of some files.
    ///
    /// - Parameter paths: Files of one folder.
    init(_ paths: [String], _ wakeUp: WakeUp) {
        self.wakeUp = wakeUp
        let parts = paths.map(Self.parts)
        folder = parts.first?.folder ?? "."
        names = parts.map(\.name)
        queue = Self.open()
        watchFolder()
        watchFiles()
    }

    private static func parts(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private func path(_ name: String) -> String { folder == "/" ? "/" + name : "\(folder)/\(name)" }

    #if canImport(Darwin)
    private static func open() -> Int32 { kqueue() }

    private func watchFolder() { add(folder) }

    private func watchFiles() { for name in names { add(path(name)) } }

    /// Watches a file. The kernel keeps a descriptor of each file. Adding a path again replaces its earlier descriptor.
    private func add(_ path: String) {
        let file = Darwin.open(path, O_EVTONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        files.add(path, file)
        let flags = NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_ATTRIB
        var change = kevent(
            ident: UInt(file), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_ADD | EV_CLEAR), fflags: UInt32(flags), data: 0, udata: nil)
        _ = kevent(queue, &change, 1, nil, 0, nil)
    }

    /// The open descriptors, by path. A replaced descriptor is closed, which removes it from the queue.
    private final class Files {
        private var open: [String: Int32] = [:]

        func add(_ path: String, _ file: Int32) { if let old = open.updateValue(file, forKey: path) { close(old) } }

        deinit { for file in open.values { close(file) } }
    }

    private let files = Files()

    /// Consumes the pending events. Returns whether there were any.
    private func take() -> Bool {
        var found = false, event = kevent(), now = timespec()
        while kevent(queue, nil, 0, &event, 1, &now) > 0 { found = true }
        // A file may have been replaced.
        if found { watchFiles() }
        return found
    }
    #else
    private static func open() -> Int32 { inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)) }

    private func watchFolder() { inotify_add_watch(queue, folder, UInt32(IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)) }

    private func watchFiles() { for name in names { inotify_add_watch(queue, path(name), UInt32(IN_MODIFY | IN_ATTRIB)) } }

    /// Consumes the pending events. Returns whether any of them concerns the files.
    private func take() -> Bool {
        var isOurs = false, isNew = false
        withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
            while true {
                let count = read(queue, buffer.baseAddress, buffer.count)
                if count <= 0 { return }
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let start = offset + MemoryLayout<inotify_event>.size
                    offset = start + Int(event.len)
                    if event.len == 0 {
                        isOurs = true
                    } else if let name = Self.name(buffer, start..<min(offset, count)), names.contains(name) {
                        isNew = true
                    }
                }
            }
        }
        if isNew { watchFiles() }
        return isOurs || isNew
    }

    /// Returns the file name in an event of the folder: the bytes up to the first zero byte.
    private static func name(_ buffer: UnsafeMutableRawBufferPointer, _ range: Range<Int>) -> String? {
        String(validating: buffer[range].prefix { $0 != 0 }, as: UTF8.self)
    }
    #endif

    deinit { if queue >= 0 { close(queue) } }

    /// Waits for a change or a wake-up call, for at most the given number of milliseconds. Returns whether a file changed.
    ///
    /// New names in the folder do not count unless they are among the files.
    func wait(milliseconds: Int32) -> Bool {
        wakeUp.wait(orFor: queue, milliseconds: milliseconds)
        wakeUp.clear()
        return queue >= 0 && take()
    }
}
