#!/bin/bash
# build_guest.sh FOLDER: makes a guest whose kernel speaks RoCEv2 itself (rdma_rxe): Debian's kernel and one initramfs
# with busybox, iproute2 and rxeops. Kernel and busybox are downloaded and unpacked, never installed.
# Result: FOLDER/vmlinuz, FOLDER/initrd.gz. Exit status 77, with the reason, when it cannot be made here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
skip() { echo "skipped: $*"; exit 77; }
export PATH=$PATH:/usr/sbin:/sbin
for tool in apt-get dpkg-deb gcc python3 ip rdma; do
    command -v $tool > /dev/null || skip "$tool is not installed"
done
provider=$(ls /usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav*.so 2> /dev/null | head -1)
[ -n "$provider" ] || skip "libibverbs' provider for rxe is not installed (ibverbs-providers)"
mkdir -p "$out/debs" "$out/kernel"
cd "$out"
if ! ls debs/linux-image-[0-9]*.deb debs/busybox-static*.deb > /dev/null 2>&1; then
    package=$(apt-cache depends linux-image-amd64 2> /dev/null | awk '/Depends: linux-image/ {print $2; exit}')
    [ -n "$package" ] || skip "apt knows no linux-image-amd64"
    (cd debs && timeout 120 apt-get -qq download "$package" busybox-static) > /dev/null 2>&1 ||
        skip "$package and busybox-static cannot be downloaded"
fi
[ -d kernel/boot ] || dpkg-deb -x debs/linux-image-[0-9]*.deb kernel
rm -rf busybox root && mkdir -p busybox && dpkg-deb -x debs/busybox-static*.deb busybox
version=$(basename kernel/lib/modules/*)
cp "kernel/boot/vmlinuz-$version" vmlinuz
busybox=$out/busybox/bin/busybox
$busybox depmod -b "$out/kernel" "$version"

root=$out/root
mkdir -p "$root"/{bin,sbin,usr/bin,lib64,proc,sys,dev,tmp,run,etc/libibverbs.d,usr/lib/x86_64-linux-gnu/libibverbs}
cp busybox/bin/busybox "$root/bin/"
for applet in $($busybox --list); do
    case $applet in busybox | ip | bash) ;; *) ln -sf busybox "$root/bin/$applet" ;; esac
done
ln -sf /bin/busybox "$root/sbin/modprobe"  # the kernel calls it: rxe asks for crypto-crc32
modules="$root/lib/modules/$version"
mkdir -p "$modules"
# The modules with all that they need.
python3 - "kernel/lib/modules/$version/modules.dep" rdma_rxe ib_uverbs rdma_ucm 8021q virtio_pci virtio_net \
    crc32_pclmul crc32_generic ip6_udp_tunnel udp_tunnel ipv6 << 'END' |
import sys
needs = {}
for line in open(sys.argv[1]):
    path, _, others = line.partition(":")
    needs[path.rsplit("/", 1)[-1].split(".")[0].replace("-", "_")] = [path, *others.split()]
print("\n".join(sorted({path for name in sys.argv[2:] for path in needs.get(name, [])})))
END
while read -r relative; do
    mkdir -p "$modules/$(dirname "$relative")"
    cp "kernel/lib/modules/$version/$relative" "$modules/$relative"
done
cp kernel/lib/modules/"$version"/modules.{order,builtin,builtin.modinfo} "$modules/" 2> /dev/null || true
$busybox depmod -b "$root" "$version"

gcc -O2 -Wall -Wno-misleading-indentation -o "$root/usr/bin/rxeops" "$here/rxeops.c" -libverbs -lz ||
    skip "rxeops does not compile (libibverbs-dev, zlib1g-dev)"
add_libraries() {
    ldd "$1" | awk '/=> \// {print $3} /^\t\/lib64/ {print $1}' | while read -r library; do
        [ -e "$root$library" ] && continue
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done
}
for program in ip rdma bash; do
    cp -L "$(command -v $program)" "$root/usr/bin/$program"
    add_libraries "$root/usr/bin/$program"
done
ln -sf /usr/bin/bash "$root/bin/bash"
add_libraries "$root/usr/bin/rxeops"
cp -L "$provider" "$root/usr/lib/x86_64-linux-gnu/libibverbs/"
add_libraries "$provider"
cp /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/"
cp "$here/guest.sh" "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | "$busybox" cpio -o -H newc 2> /dev/null | gzip -1 > "$out/initrd.gz")
