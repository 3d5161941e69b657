# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# Two servers on one PostgreSQL.

scenario two-servers-edit 0 "an edit is seen on both of two servers within a second"
two_servers_edit() {
    new_postgres postgres
    run_server first "$(url_of postgres)"
    run_server second "$(url_of postgres)"
    run_load first
    run_load second
    local number
    for ((number = 1; number <= 5; number++)); do
        edit postgres
        fault_ends
        answers_edit 1
        keep_longest
    done
    note "from the commit; the longest of 5 times"
}

scenario two-servers-one-killed 3 "SIGKILL to one of two servers behind nginx; needs nginx"
two_servers_one_killed() {
    two_behind_nginx
    fault_begins
    kill_now first
    pause "$seconds"
    fault_ends
    run_server first "$(url_of postgres)"
    recovers postgres 5
}

# two_behind_nginx: two servers on one PostgreSQL, nginx before them, and load on nginx.
two_behind_nginx() {
    need_command nginx
    new_postgres postgres
    run_server first "$(url_of postgres)"
    run_server second "$(url_of postgres)"
    run_nginx first second
    run_load nginx
}
