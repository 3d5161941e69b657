module versiongate.example/benchmarks/load

go 1.19
