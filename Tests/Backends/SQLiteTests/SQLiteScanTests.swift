import PolystoreCatalog
import PolystoreStorage
import Testing

@testable import PolystoreSQLite

/// Stores that are opened to read or write everything once.
@Suite struct SQLiteScanTests {
    @Test(arguments: [("", 16_384), ("?history=off", 16_384), ("?cache=3000", 3000)])
    func aStoreThatIsScannedHasASmallPageCacheUnlessTheURLSaysItsSize(_ option: String, _ size: Int) throws {
        // The file of a transfer has another name than the URL until it is complete.
        let url = try StoreURL("sqlite:/nowhere/at/all.db\(option)").moved(to: "/nowhere/else.db.partial")
        let store = try #require(try StoreCatalog.standard.store(forScanning: url) as? SQLiteStore)
        #expect(store.place.cacheKilobytes == size && store.place.path == "/nowhere/else.db.partial")
        let other = try #require(try StoreCatalog.standard.store(at: url) as? SQLiteStore)
        #expect(other.place.cacheKilobytes == (option.contains("cache") ? size : 65_536))
    }

    @Test func otherStoresAreScannedAsTheyAre() throws {
        let store = try StoreCatalog.standard.store(forScanning: StoreURL("memory:"))
        #expect(!store.capabilities.contains(.persistent))
        #expect(throws: StorageError.self) { try StoreCatalog.standard.store(forScanning: StoreURL("sqlite:a.db?cash=1")) }
    }
}
