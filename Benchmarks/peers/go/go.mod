module versiongate.example/benchmarks/peers/go

go 1.19
