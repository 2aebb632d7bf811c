import PolystoreCLI
import ToyStore
PolystoreCommand.run(opener: .withToy)
