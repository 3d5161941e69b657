# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# What can happen to the network between the server and PostgreSQL. Edits are live within 2 s of its return.
# The server runs in a network namespace of its own, and the kernel drops packets in that namespace alone.

scenario network-drops 8 "packets to and from PostgreSQL are dropped; needs root, ip and nft"
network_drops() {
    in_a_namespace
    fault_begins
    drop 'tcp dport' "${port[postgres]}"
    drop 'tcp sport' "${port[postgres]}"
    pause "$seconds"
    drop_nothing
    fault_ends
    recovers postgres 2
}

scenario network-drops-again 20 "packets are dropped for 0.5 to 4.5 s, again and again; needs root, ip and nft"
network_drops_again() {
    in_a_namespace
    fault_begins
    local end=$((SECONDS + seconds)) outages=0
    while [[ $SECONDS -lt $end ]]; do
        drop 'tcp dport' "${port[postgres]}"
        drop 'tcp sport' "${port[postgres]}"
        sleep "$((RANDOM % 4)).$((RANDOM % 10 + 5))"
        drop_nothing
        fault_ends
        recovers postgres 2
        outages=$((outages + 1))
        keep_longest
    done
    note "the longest of $outages times"
}

scenario network-half-open 6 "the server's connection is lost without a sign, new ones work; needs root, ip and nft"
network_half_open() {
    in_a_namespace
    fault_begins
    local local_port
    for local_port in $(ip netns exec "$namespace" ss --no-header --tcp --numeric state established \
        "dport = :${port[postgres]}" | awk '{ sub(/.*:/, "", $3); print $3 }'); do
        drop 'tcp sport' "$local_port"
        drop 'tcp dport' "$local_port"
    done
    fault_ends
    recovers postgres 3
    note "from the loss"
}

# in_a_namespace: as `usual`, with the server in a network namespace and PostgreSQL outside of it.
in_a_namespace() {
    need_root "network namespaces"
    need_command ip
    need_command nft
    ! ip -4 -oneline address | grep -q ' 198\.18\.' || skip "198.18.0.0/16 is in use"
    ip netns add "versiongate-$BASHPID" 2> "$place/ip.log" || skip "the kernel has no network namespaces"
    namespace=versiongate-$BASHPID link=vg$BASHPID
    {
        ip link add "$link" type veth peer name inner netns "$namespace"
        ip address add 198.18.5.1/30 dev "$link"
        ip link set "$link" up
        ip netns exec "$namespace" ip address add 198.18.5.2/30 dev inner
        ip netns exec "$namespace" ip link set inner up
        ip netns exec "$namespace" nft add table inet faults
        ip netns exec "$namespace" nft 'add chain inet faults out { type filter hook output priority 0; }'
        ip netns exec "$namespace" nft 'add chain inet faults in { type filter hook input priority 0; }'
    } >> "$place/ip.log" 2>&1 || skip "the kernel has no veth or nftables: $(tail -n 1 "$place/ip.log")"
    new_postgres postgres -c listen_addresses=198.18.5.1
    server_prefix=(ip netns exec "$namespace") server_host=198.18.5.2
    run_server server "postgresql://versiongate_server:first@198.18.5.1:${port[postgres]}/versiongate"
    run_load server
}

# drop MATCH PORT: drops the packets that match in both directions.
drop() {
    # shellcheck disable=SC2086 # two words
    ip netns exec "$namespace" nft add rule inet faults out $1 "$2" drop
    # shellcheck disable=SC2086
    ip netns exec "$namespace" nft add rule inet faults in $1 "$2" drop
}

drop_nothing() { ip netns exec "$namespace" nft flush table inet faults; }
