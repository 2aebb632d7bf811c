#if Macros
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Errors".
@Suite(.scratch) struct ErrorsSamples {
    @Model final class Person: ManagedObject {
        @Attribute(.unique) var email: String?
    }

    @Test func aCodeIsDecidedBy() async throws {
        let stack = try DataStack(Person.self)
        try stack.addStorageAndWait(InMemoryStore())
        for _ in 0..<2 {
            do {
                try await stack.perform { transaction in
                    try transaction.create(Person.self).email = "ann@example.com"
                }
            } catch {
                guard let error = error as? StorageError else { throw error }
                switch error.code {
                case .uniqueConstraintViolated: print("known already:", error.details.property ?? "")
                case _ where error.isRetryable: print("try again later:", error.code)
                default: throw error
                }
            }
        }
        do {
            print(try stack.fetchCount(From<Person>()))
        } catch {
            guard error.code == .timeout else { throw error }
            print("try again later")
        }
        #expect(printed == ["known already: email", "1"])
    }

    @Test func everyCodeIsInTheArticle() throws {
        let source = try Checkout.lines("Sources/PolystoreStorage/StorageError.swift").joined(separator: "\n")
        let codes = Set(source.matches(of: #/public static let (\w+) = Self\("/#).map { String($0.1) })
        let rows = try Checkout.lines("Sources/Polystore/Polystore.docc/Errors.md").compactMap { $0.firstMatch(of: #/^\| `(\w+)` \|/#) }
        #expect(codes.count > 40 && rows.map { String($0.1) }.sorted() == codes.sorted())
        let sentence = try Checkout.lines("Sources/Polystore/Polystore.docc/Errors.md").first { $0.hasPrefix("`isRetryable` is true") }
        let named = try #require(sentence).matches(of: #/`(\w+)`/#).map { String($0.1) }
        #expect(Set(named).isSuperset(of: ["serializationFailure", "busy", "timeout", "connectionLost"]))
        for code in [.serializationFailure, .busy, .timeout, .connectionLost] as [StorageError.Code] {
            #expect(StorageError(code, "").isRetryable)
        }
    }
}
#endif
