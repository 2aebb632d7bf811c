internal import PolystoreSchema

/// Searches for a needle in texts, or matches them with a pattern, by bytes.
package struct TextMatcher: Sendable {
    private enum Step: Sendable {
        case byte(UInt8)
        case anyScalar
        case anyRun
    }

    private let match: TextMatch
    private let needle: [UInt8]
    private let steps: [Step]
    private let pattern: Pattern?
    private let query: SearchQuery?

    /// Creates a matcher. One with an ill-formed regular expression or query matches nothing.
    package init(_ match: TextMatch, _ needle: String) {
        self.match = match
        self.needle = Array(needle.utf8)
        steps =
            match != .like
            ? []
            : LikePattern(needle).parts.flatMap { part -> [Step] in
                switch part {
                case .literal(let text): text.utf8.map(Step.byte)
                case .anyRun: [.anyRun]
                case .anyScalar: [.anyScalar]
                }
            }
        pattern = match == .matches ? try? Pattern(needle) : nil
        query = match == .search ? try? SearchQuery(needle) : nil
    }

    /// Returns whether a text matches.
    package func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
    }

    /// Returns whether a text, given by its bytes, matches.
    package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        switch match {
        case .beginsWith: return text.starts(with: needle)
        case .endsWith: return text.count >= needle.count && text[(text.count - needle.count)...].elementsEqual(needle)
        case .contains: return contains(text)
        case .like: return isLike(text)
        case .matches: return pattern?.matches(String(decoding: text, as: UTF8.self)) ?? false
        case .search: return query?.matches(SearchWords(utf8: text)) ?? false
        }
    }

    private func contains(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = needle.first else { return true }
        if text.count < needle.count { return false }
        return needle.withUnsafeBytes { needle in
            for start in 0...(text.count - needle.count) where text[start] == first {
                if compareBytes(UnsafeRawBufferPointer(rebasing: text[start..<(start + needle.count)]), needle) == 0 { return true }
            }
            return false
        }
    }

    /// Matches a `like` pattern. After a mismatch the last run takes one scalar more, so the time is at most the product of both lengths.
    private func isLike(_ text: UnsafeRawBufferPointer) -> Bool {
        var position = 0, step = 0, retry: (position: Int, step: Int)?
        func after(_ position: Int) -> Int {
            var next = position + 1
            while next < text.count, text[next] & 0xc0 == 0x80 { next += 1 }
            return next
        }
        while true {
            if step < steps.count, case .anyRun = steps[step] {
                retry = (position, step + 1)
                step += 1
                continue
            }
            if position == text.count {
                if step == steps.count { return true }
            } else if step < steps.count {
                if case .byte(let byte) = steps[step], byte == text[position] {
                    position += 1
                    step += 1
                    continue
                }
                if case .anyScalar = steps[step] {
                    position = after(position)
                    step += 1
                    continue
                }
            }
            guard let back = retry, back.position < text.count else { return false }
            retry = (after(back.position), back.step)
            (position, step) = (after(back.position), back.step)
        }
    }
}
