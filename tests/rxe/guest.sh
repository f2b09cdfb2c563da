#!/bin/bash
# The guest's init. One rxe device on eth0; then commands from the serial line:
#   peer NAME ARGUMENTS  starts rxeops with these; answers "READY NAME qpn= va= rkey= ..."
#   hw                   answers "HW name=count ..." with rxe's counters
#   end                  ends the peer; answers "DONE"
export PATH=/usr/bin:/bin:/sbin HOME=/ LC_ALL=C
echo INIT
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
for module in virtio_pci virtio_net ipv6 8021q rdma_rxe rdma_ucm; do modprobe $module; done
ip link set lo up
peer=02:00:00:00:00:01  # host 0 of a profile
ip link set eth0 mtu 4200 up
ip link add link eth0 name eth0.7 type vlan id 7
ip link set eth0.7 up
ip addr add 10.9.1.2/24 dev eth0
ip addr add 10.9.7.2/24 dev eth0.7
ip -6 addr add fd09:1::2/64 dev eth0 nodad
ip -6 addr add fd09:7::2/64 dev eth0.7 nodad
for address in 10.9.1.1 fd09:1::1; do ip neigh replace $address lladdr $peer dev eth0 nud permanent; done
for address in 10.9.7.1 fd09:7::1; do ip neigh replace $address lladdr $peer dev eth0.7 nud permanent; done
rdma link add rxe0 type rxe netdev eth0
sleep 0.5
gid() {  # index of the GID that ends so
    for file in /sys/class/infiniband/rxe0/ports/1/gids/*; do
        case $(cat "$file") in *$1) echo "${file##*/}"; return ;; esac
    done
}
hw() {
    cd /sys/class/infiniband/rxe0/ports/1/hw_counters
    for counter in *; do [ $counter = lifespan ] || echo -n "$counter=$(cat $counter) "; done
}
echo "GUEST ready: gids $(gid ffff:0a09:0102) $(gid ffff:0a09:0702) $(gid fd09:0001:0000:0000:0000:0000:0000:0002) \
$(gid fd09:0007:0000:0000:0000:0000:0000:0002)"
while read -r command name arguments; do
    case $command in
        peer)
            rxeops peer rxe0 --lpsn 0x200 --rpsn 0x100 --rqpn 0x1234 --time 200 $arguments > /tmp/out 2>&1 &
            pid=$!
            for _ in $(seq 200); do grep -q END /tmp/out && break; sleep 0.05; done
            echo "READY $name $(grep -m1 END /tmp/out || tail -1 /tmp/out)"
            ;;
        hw) echo "HW $(hw)" ;;
        end) kill $pid; wait $pid 2> /dev/null; echo DONE ;;
        off) poweroff -f ;;
    esac
done
poweroff -f
