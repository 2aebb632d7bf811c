import PolystoreConformance
import PolystoreCatalog
import ToyStore
ConformanceCommand.run(opener: StoreCatalog.withToy)
