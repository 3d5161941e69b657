# Sums a flat profile by component. Each line has a weight, the object (a library or program) and the symbol.
#
#   awk -v requests=N -v unit=us|instructions [-v total=N] -f components.awk
#
# A function counts where it is written, not where it is called from; what the compiler specialised of a generic function
# counts as that function. `total` is what all weights together stand for, if that is not their sum.

# The module that a mangled name of Swift begins with: $s, the length of the name, the name.
function module(symbol,    length_, name) {
    # A type of another module, extended here, is ours.
    if (match(symbol, /(13CheckListener|12UpdatePolicy|12PolicyServer)E/)) symbol = "$s" substr(symbol, RSTART)
    if (symbol ~ /^\$s[Ss]/) return "Swift standard library"
    length_ = substr(symbol, 3) + 0
    name = substr(symbol, 3 + length(length_ ""), length_)
    if (length_ == 0) return "Swift standard library"
    if (name ~ /^NIOHTTP1$/) return "NIOHTTP1"
    if (name ~ /^NIOSSL$/) return "swift-nio-ssl"
    if (name ~ /^_?NIO/) return "swift-nio"
    if (name ~ /^Foundation/) return "Foundation"
    return name
}

function component(object, symbol) {
    if (object ~ /kernel/) return "kernel"
    if (object ~ /\/(libc|ld-linux|libpthread|libm)[-.]|vdso/) return "libc"
    if (object ~ /\/(libssl|libcrypto)\./) return "OpenSSL"
    if (object ~ /\/lib/) { sub(/^.*\//, "", object); sub(/\.so.*/, "", object); return object }
    if (object ~ /\/postgres$/) return "PostgreSQL"
    if (object ~ /\/nginx$/) return "nginx"
    if (symbol ~ /^\$[sS]/) return module(symbol)
    if (symbol ~ /llhttp/) return "NIOHTTP1"
    if (symbol ~ /BoringSSL|bssl/) return "BoringSSL"
    if (symbol ~ /^c_nio|^CNIO/) return "swift-nio"
    if (symbol ~ /swift|^_ZN?K?5swift|objectdestroy|^block_/) return "Swift runtime"
    return "other"
}

{
    sum += $1
    spent[component($2, $3)] += $1
}

END {
    if (sum == 0 || requests == 0) { print "nothing was sampled"; exit 1 }
    if (total == "") total = sum
    printf "%-26s %8s %20s\n", "component", "share", unit " a request"
    fflush()
    for (name in spent)
        if (spent[name] * 2000 >= sum) printf "%-26s %7.1f%% %20.*f\n", name, 100 * spent[name] / sum, unit == "us" ? 2 : 0,
            spent[name] / sum * total / requests | "sort -t% -k1.27nr"
    close("sort -t% -k1.27nr")
    printf "%-26s %7.1f%% %20.*f\n", "all", 100, unit == "us" ? 2 : 0, total / requests
    if (unit == "us" && !("kernel" in spent))
        print "The kernel did not let this user sample its part."
}
