import Foundation
import Testing

/// The article of the commands is that of the program.
///
/// After a change of a command run this suite once with `POLYSTORE_WRITE_REFERENCE=1`, and commit what it wrote.
@Suite struct CommandReferenceTests {
    private static let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Sources/Polystore/Polystore.docc/CommandReference.md")

    @Test func theReferenceIsThatOfTheProgram() throws {
        let now = CommandReference(try JSONValue(try Program().run(["--experimental-dump-help"]).output)).text
        if ProcessInfo.processInfo.environment["POLYSTORE_WRITE_REFERENCE"] != nil {
            return try now.write(to: Self.article, atomically: true, encoding: .utf8)
        }
        let before = try String(contentsOf: Self.article, encoding: .utf8)
        let change = zip(Self.lines(before), Self.lines(now)).first { $0 != $1 }.map { "\($0) is now \($1)" }
        #expect(change == nil, "run CommandReferenceTests with POLYSTORE_WRITE_REFERENCE=1")
    }

    private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) + ["the end"] }

    @Test func whatIsTypedIsCodeInTheReference() {
        let texts = [
            "The store's name, as in --where 'a > 1'; 'b|c' too.": "The store's name, as in `--where 'a > 1'`; `'b|c'` too.",
            "By @NAME or env:SHOP_URL (~/.config/polystore).": "By `@NAME` or `env:SHOP_URL` (`~/.config/polystore`).",
            "Takes {\"a\": [1]}, \"x\": [\"y\"], a_b and *.": "Takes `{\"a\": [1]}`, `\"x\": [\"y\"]`, `a_b` and \\*.",
            "The writers' turn: sqlite:shop.db.": "The writers' turn: `sqlite:shop.db`.",
        ]
        for (help, markdown) in texts { #expect(HelpText.markdown(help) == markdown) }
    }
}
