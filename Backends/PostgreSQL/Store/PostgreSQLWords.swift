#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The functions on the server that extract the words of `SearchWords`. They contain Polystore's own Unicode tables. The server's tables,
/// which may change, are used only for Hangul syllables, whose decomposition is arithmetic.
enum PostgreSQLWords {
    /// The function that returns the words of a text with a space before and after each.
    static let words = "polystore_words"
    /// The function that returns the words of a text as lexemes.
    static let lexemes = "polystore_lexemes"

    /// The maximum length in bytes of a text whose lexemes are in the index: a `tsvector` holds a million, and folding at most triples
    /// them. Longer texts have a mark that every search finds.
    static let longestText = 150_000
    private static let longMark = "*"
    /// The maximum number of scalars of a lexeme, which has at most 2,046 bytes. Longer words are cut.
    private static let longestWord = 100

    /// Returns the statements that create the functions in a schema of the server.
    static func creation(_ schema: String) -> String {
        """
        CREATE FUNCTION \(words)(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $polystore$
        DECLARE
            words text;
            letter text;
            folded text;
        BEGIN
            IF octet_length(value) = char_length(value) THEN
                RETURN ' ' || btrim(regexp_replace(lower(value COLLATE "C"), '[^0-9a-z]+', ' ', 'g')) || ' ';
            END IF;
            words := regexp_replace(value, '[^\(ranges(SearchWords.scalars))]+', ' ', 'g');
            FOR letter IN SELECT DISTINCT m[1] FROM regexp_matches(words, '[\(ranges(foldedRanges))]', 'g') m LOOP
                folded := '{\(foldings)}'::jsonb ->> letter;
                IF folded IS NOT NULL THEN words := replace(words, letter, folded); END IF;
            END LOOP;
            words := normalize(lower(words COLLATE "C"), NFD);
            RETURN ' ' || btrim(regexp_replace(words, ' +', ' ', 'g')) || ' ';
        END $polystore$;
        CREATE FUNCTION \(lexemes)(value text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2000 AS $polystore$
        BEGIN
            IF octet_length(value) > \(longestText) THEN RETURN array_to_tsvector(ARRAY['\(longMark)']); END IF;
            RETURN (SELECT array_to_tsvector(array_agg(left(word, \(longestWord))))
                FROM unnest(string_to_array(\(SQLText.quoted(schema)).\(words)(value), ' ')) word WHERE word <> '');
        END $polystore$;
        """
    }

    /// Returns the query for the lexemes that every text contains which a search finds.
    static func lexemes(of query: SearchQuery) -> String {
        let groups = query.groups.map { terms in
            terms.map { term in term.words.indices.map { lexeme(term, $0) }.joined(separator: " & ") }.joined(separator: " | ")
        }
        let excluded = query.excluded.filter(isExact).map { " & !\(lexeme($0, 0))" }.joined()
        return "'\(longMark)' | (\(groups.joined(separator: ") & (")))\(excluded)"
    }

    /// Whether lexemes alone determine whether a text matches a search.
    static func isExact(_ query: SearchQuery) -> Bool { query.groups.joined().allSatisfy(isExact) && query.excluded.allSatisfy(isExact) }

    private static func isExact(_ term: SearchQuery.Term) -> Bool {
        term.words.count == 1 && term.words[0].unicodeScalars.count < longestWord
    }

    /// Returns a lexeme of a query. Words contain no quotes.
    private static func lexeme(_ term: SearchQuery.Term, _ index: Int) -> String {
        let scalars = term.words[index].unicodeScalars
        var cut = String.UnicodeScalarView()
        cut.append(contentsOf: scalars.prefix(longestWord))
        let isPrefix = term.isPrefix && index == term.words.count - 1 && scalars.count < longestWord
        return "'\(String(cut))'\(isPrefix ? ":*" : "")"
    }

    private static var foldings: String {
        // ASCII is folded separately.
        SearchWords.foldings.filter { !$0.scalar.isASCII }.map { "\"\($0.scalar)\":\"\($0.folded)\"" }.joined(separator: ",")
    }

    private static var foldedRanges: [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        for (scalar, _) in SearchWords.foldings where !scalar.isASCII {
            if let last = result.last, last.upperBound + 1 == scalar.value {
                result[result.count - 1] = last.lowerBound...scalar.value
            } else {
                result.append(scalar.value...scalar.value)
            }
        }
        return result
    }

    /// Returns ranges for a bracket expression, in which letters, marks and digits stand for themselves.
    private static func ranges(_ ranges: [ClosedRange<UInt32>]) -> String {
        var text = String.UnicodeScalarView()
        for range in ranges {
            guard let low = Unicode.Scalar(range.lowerBound), let high = Unicode.Scalar(range.upperBound) else { continue }
            text.append(low)
            if high == low { continue }
            text.append("-")
            text.append(high)
        }
        return String(text)
    }
}
#endif
