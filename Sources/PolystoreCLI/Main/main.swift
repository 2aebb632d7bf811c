import PolystoreCLI

PolystoreCommand.run()
