internal import Foundation

/// The results of a run over one store, and their report formats.
public struct ConformanceReport: Sendable {
    /// The store, by the name that was given.
    public let store: String
    /// The capabilities of the store.
    public let capabilities: [String]
    /// The seed of the random cases.
    public let seed: UInt64
    /// The results in the order of the cases.
    public let results: [CaseResult]

    /// The capabilities that the store declares and no case has tested, although there are cases for them.
    public let untested: [String]

    /// Whether no case failed, and all capabilities that the store declares were tested.
    public var isGreen: Bool { untested.isEmpty && results.allSatisfy { $0.status == .pass || $0.status == .skipped } }

    private func count(_ status: [CaseResult.Status]) -> Int { results.filter { status.contains($0.status) }.count }

    /// The line `N passed, N failed`, with `, N skipped` if any were, and with the capabilities that are declared and were not tested.
    public var closingLine: String {
        let skipped = count([.skipped])
        return "\(count([.pass])) passed, \(count([.fail, .error])) failed" + (skipped > 0 ? ", \(skipped) skipped" : "")
            + (untested.isEmpty ? "" : "; claimed but not tested: \(untested.joined(separator: ", "))")
    }

    /// The report as text: one line for each case, and the closing line.
    public var text: String {
        var lines = ["\(store)  can: \(capabilities.joined(separator: ", "))  seed \(seed)"]
        for result in results {
            lines.append("\(result.status.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)) \(result.id)")
            if result.status != .pass { lines += result.messages.map { "         \($0)" } }
        }
        return (lines + [closingLine]).joined(separator: "\n")
    }

    /// The report as one JSON object.
    public var json: String {
        let cases = results.map { result in
            "{\"id\":\(quote(result.id)),\"clause\":\(quote(result.clause)),\"status\":\(quote(result.status.rawValue)),"
                + "\"seconds\":\(seconds(result)),\"messages\":[\(result.messages.map(quote).joined(separator: ","))]}"
        }
        return "{\"store\":\(quote(store)),\"seed\":\(seed),\"capabilities\":[\(capabilities.map(quote).joined(separator: ","))],"
            + "\"passed\":\(count([.pass])),\"failed\":\(count([.fail, .error])),\"skipped\":\(count([.skipped])),"
            + "\"untested\":[\(untested.map(quote).joined(separator: ","))],\"cases\":[\(cases.joined(separator: ","))]}"
    }

    /// The report as a JUnit test suite.
    public var junit: String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        lines.append(
            "<testsuite name=\"\(escape(store))\" tests=\"\(results.count)\" failures=\"\(count([.fail]))\" errors=\"\(count([.error]))\" skipped=\"\(count([.skipped]))\">"
        )
        for result in results {
            lines.append("  <testcase classname=\"\(escape(result.clause))\" name=\"\(escape(result.id))\" time=\"\(seconds(result))\">")
            let message = escape(result.messages.joined(separator: "\n"))
            switch result.status {
            case .pass: break
            case .fail: lines.append("    <failure message=\"\(message)\"/>")
            case .error: lines.append("    <error message=\"\(message)\"/>")
            case .skipped: lines.append("    <skipped message=\"\(message)\"/>")
            }
            lines.append("  </testcase>")
        }
        return (lines + ["</testsuite>"]).joined(separator: "\n")
    }

    /// Returns the duration of a case in seconds, with three decimals.
    private func seconds(_ result: CaseResult) -> String { String(format: "%.3f", result.duration / .seconds(1)) }

    private func quote(_ text: String) -> String {
        let data = (try? JSONEncoder().encode(text)) ?? Data("\"\"".utf8)
        return String(decoding: data, as: UTF8.self)
    }

    private func escape(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }
}
