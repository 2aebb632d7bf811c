import PolystoreCatalog
import PolystoreConformance

ConformanceCommand.run(opener: StoreCatalog.standard)
