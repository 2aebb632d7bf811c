internal import Foundation

/// A terminal that reads lines with editing, history and completion.
struct PromptTerminal {
    /// Returns the completions of the text before the cursor: the number of its last characters that they replace, and the texts.
    typealias Completion = (String) -> (replaced: Int, texts: [String])

    private let prompt: String
    private let complete: Completion
    private let input = FileHandle.standardInput.fileDescriptor

    init(_ prompt: String, complete: @escaping Completion) {
        self.prompt = prompt
        self.complete = complete
    }

    /// Whether both ends are a terminal that can move its cursor.
    static var isAvailable: Bool {
        isatty(FileHandle.standardInput.fileDescriptor) == 1 && isatty(FileHandle.standardOutput.fileDescriptor) == 1
            && !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")
    }

    /// Reads a line; nil at the end of the input. A cancelled line is empty.
    func line(history: [String]) -> String? {
        var original = termios()
        guard tcgetattr(input, &original) == 0 else { return readLine() }
        var raw = original
        cfmakeraw(&raw)
        // Output is processed as usual, so that a line feed moves to the start of the line.
        raw.c_oflag = original.c_oflag
        guard tcsetattr(input, TCSADRAIN, &raw) == 0 else { return readLine() }
        defer { tcsetattr(input, TCSADRAIN, &original) }
        var editor = LineEditor(history: history), byte: UInt8 = 0
        draw(editor)
        while true {
            if !wait(raw) { return nil }
            let count = read(input, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return nil }
            switch editor.take(byte) {
            case .line(let text)?:
                draw(editor)
                write("\n")
                return text
            case .cancelled?:
                write("^C\n")
                return ""
            case .end?:
                write("\n")
                return nil
            case .completion?: complete(&editor)
            case .clear?: write("\u{1b}[H\u{1b}[2J")
            case .changed?: break
            case nil: continue
            }
            // What is pasted is drawn once.
            var waiting: Int32 = 0
            if ioctl(input, UInt(FIONREAD), &waiting) != 0 || waiting == 0 { draw(editor) }
        }
    }

    /// Waits for input. Returns false if SIGTERM ends the prompt; SIGINT does nothing, because Control-C is a key of the terminal.
    private func wait(_ raw: termios) -> Bool {
        var raw = raw, events = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        while poll(&events, 1, 200) <= 0 {
            if Interruption.isAsked, Interruption.exitCode == 143 { return false }
            // A shell that continued the program has set the terminal to its own mode.
            var present = termios()
            if tcgetattr(input, &present) == 0, present.c_lflag & tcflag_t(ICANON) != 0 { tcsetattr(input, TCSADRAIN, &raw) }
        }
        return true
    }

    private func complete(_ editor: inout LineEditor) {
        let (replaced, texts) = complete(editor.before)
        guard let first = texts.first else { return write("\u{07}") }
        let written = String(editor.before.suffix(replaced))
        let common = texts.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        if texts.count == 1 || common.count > written.count {
            editor.replace(last: replaced, with: texts.count == 1 ? first : common)
        } else {
            write("\n" + Self.columns(texts, TerminalWidth.columns(input)))
        }
    }

    /// Returns texts in as many columns as fit.
    private static func columns(_ texts: [String], _ width: Int) -> String {
        let cell = (texts.map { TerminalWidth.of($0) }.max() ?? 0) + 2, perLine = max(1, width / cell)
        return stride(from: 0, to: texts.count, by: perLine).map { start in
            texts[start..<min(start + perLine, texts.count)].map { $0.padding(cell) }.joined() + "\n"
        }.joined()
    }

    /// Draws the line, of which the part around the cursor is shown if the terminal is not wide enough.
    private func draw(_ editor: LineEditor) {
        let room = max(TerminalWidth.columns(input) - TerminalWidth.of(prompt) - 1, 10)
        var start = editor.cursor, width = 0
        while start > 0, width + TerminalWidth.of(editor.text[start - 1]) <= room {
            start -= 1
            width += TerminalWidth.of(editor.text[start])
        }
        var end = editor.cursor
        while end < editor.text.count, width + TerminalWidth.of(editor.text[end]) <= room {
            width += TerminalWidth.of(editor.text[end])
            end += 1
        }
        let column = TerminalWidth.of(prompt) + TerminalWidth.of(editor.text[start..<editor.cursor])
        write("\r\u{1b}[K" + prompt + String(editor.text[start..<end]) + "\r" + (column > 0 ? "\u{1b}[\(column)C" : ""))
    }

    private func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}
