"""A guest whose kernel speaks RoCEv2 (rdma_rxe), joined to the tap of the calling network namespace. Its serial line
takes commands, see guest.sh."""
import os
import queue
import re
import subprocess
import threading
import time

MAC = "02:00:00:00:00:02"  # host 1 of a profile


class Guest:
    def __init__(self, folder, tap):
        self.folder, self.tap = folder, tap
        accelerations = [["-accel", "tcg,thread=multi", "-cpu", "max,la57=off"]]
        if os.access("/dev/kvm", os.W_OK):
            accelerations.insert(0, ["-accel", "kvm", "-cpu", "host"])
        for acceleration in accelerations:
            self.kind = acceleration[1]
            self.start(acceleration)
            # Within this a working one has said something; with KVM in a machine without it, nothing ever comes.
            if self.wait_for("INIT", 12 if self.kind == "kvm" else 90):
                break
            self.stop()
        else:
            raise TimeoutError("the guest does not boot")
        ready = self.wait_for(r"GUEST ready: gids (\d+) (\d+) (\d+) (\d+)", 120)
        if not ready:
            self.stop()
            raise TimeoutError("the guest has no rxe device with all its addresses")
        self.gids = dict(zip(("v4", "v4vlan", "v6", "v6vlan"), ready.groups()))

    def start(self, acceleration):
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-machine", "q35", *acceleration, "-smp", "2", "-m", "512", "-nodefaults",
             "-no-reboot", "-display", "none", "-kernel", f"{self.folder}/vmlinuz", "-initrd",
             f"{self.folder}/initrd.gz", "-append",
             "console=ttyS0 quiet panic=-1 mitigations=off nokaslr net.ifnames=0 rcupdate.rcu_cpu_stall_suppress=1",
             "-serial", "stdio", "-netdev", f"tap,id=n0,ifname={self.tap},script=no,downscript=no", "-device",
             f"virtio-net-pci,netdev=n0,mac={MAC},romfile="],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.lines = queue.Queue()
        threading.Thread(target=lambda out, lines: [lines.put(line.rstrip()) for line in out],
                         args=(self.process.stdout, self.lines), daemon=True).start()

    def wait_for(self, pattern, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                line = self.lines.get(timeout=0.2)
            except queue.Empty:
                if self.process.poll() is not None:
                    return None
                continue
            if os.environ.get("ROCEGEN_RXE_VERBOSE"):
                print("   guest:", line)
            found = re.search(pattern, line)
            if found:
                return found
        return None

    def command(self, line, answer, seconds=30):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        found = self.wait_for(answer, seconds)
        if not found:
            raise TimeoutError(f"the guest does not answer to {line}")
        return found

    def peer(self, name, kind, gid, address):
        """Starts a queue pair towards `address`; its number, address of memory and key."""
        found = self.command(f"peer {name} --qp {kind} --gid {gid} --rgid {address}",
                             rf"READY {name} END .*qpn=0x(\w+).*va=0x(\w+) rkey=0x(\w+)")
        return [int(number, 16) for number in found.groups()]

    def end_peer(self):
        self.command("end", "DONE")

    def counters(self):
        found = self.command("hw", r"HW (\w+=\d.*)")
        return {name: int(value) for name, _, value in (item.partition("=") for item in found[1].split())}

    def stop(self):
        self.process.kill()
        self.process.wait()
