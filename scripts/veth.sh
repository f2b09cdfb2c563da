#!/bin/bash
# A pair of virtual interfaces, one cable between two ports of this machine, for
# profiles/testbeds/veth.yaml. Needs root.
#   scripts/veth.sh up   [A B [MTU]]   default: veth0 veth1 9000
#   scripts/veth.sh down [A]
set -euo pipefail
a=${2:-veth0}
case "${1:-}" in
up)
    b=${3:-veth1}
    ip link add "$a" mtu "${4:-9000}" type veth peer name "$b" mtu "${4:-9000}"
    for port in "$a" "$b"; do
        # The kernel has nothing to say there: no router solicitations, no multicast reports.
        if [ -e "/proc/sys/net/ipv6/conf/$port/disable_ipv6" ]; then
            echo 1 > "/proc/sys/net/ipv6/conf/$port/disable_ipv6"
        fi
        ip link set "$port" up
    done
    ;;
down)
    ip link del "$a"
    ;;
*)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
