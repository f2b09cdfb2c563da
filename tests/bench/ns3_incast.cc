/// The same 8:1 incast in ns-3 (3.37, Debian's libns3-dev), as a second opinion: senders over 100G links
/// to one node that forwards to the receiver through a drop-tail queue. Built and run by ns3_incast.py.
///
/// A point-to-point device frames an IP packet with 2 bytes and has neither preamble nor gap: its links'
/// rate is scaled so that a frame takes the time that the Ethernet frame takes at 100 Gb/s.
/// usage: ns3_incast SENDERS UDP_PAYLOAD ETHERNET_L1_BYTES QUEUE_PACKETS MICROSECONDS RATE_KBPS...
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace ns3;

namespace {

constexpr std::uint64_t kLinkBits = 100'000'000'000;
constexpr std::uint32_t kHeaders = 20 + 8 + 2;  // IPv4, UDP, PPP

std::uint64_t g_peak = 0;

class Sender {
public:
    /// A packet of `bytes` for every `l1_bits` at `rate`.
    Sender(Ptr<Node> node, InetSocketAddress to, std::uint32_t bytes, std::uint64_t l1_bits,
           std::uint64_t rate, Time end)
        : socket_(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId())),
          bytes_(bytes),
          l1_bits_(l1_bits),
          rate_(rate),
          end_(end) {
        socket_->Bind();
        socket_->Connect(to);
        Simulator::ScheduleWithContext(node->GetId(), Seconds(0), &Sender::Send, this);
    }
    std::uint64_t sent = 0;

private:
    void Send() {
        socket_->Send(Create<Packet>(bytes_));
        ++sent;
        // Rounded up from the exact time, as a schedule that is never ahead of its rate.
        const auto picos = static_cast<unsigned __int128>(sent * l1_bits_) * 1'000'000'000'000u;
        const Time next = PicoSeconds(std::int64_t((picos + rate_ - 1) / rate_));
        if (next < end_) Simulator::Schedule(next - Simulator::Now(), &Sender::Send, this);
    }
    Ptr<Socket> socket_;
    std::uint32_t bytes_;
    std::uint64_t l1_bits_, rate_;
    Time end_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 7) return 2;
    const auto number = [argv](int i) { return std::strtoull(argv[i], nullptr, 10); };
    const auto senders = std::uint32_t(number(1)), payload = std::uint32_t(number(2));
    const std::uint64_t l1_bytes = number(3), queue_packets = number(4);
    const Time end = MicroSeconds(std::int64_t(number(5)));
    Time::SetResolution(Time::PS);

    NodeContainer all;
    all.Create(senders + 2);
    const Ptr<Node> fabric = all.Get(senders), receiver = all.Get(senders + 1);
    InternetStackHelper{}.Install(all);

    PointToPointHelper link;
    const std::uint64_t bits = kLinkBits / l1_bytes * (payload + kHeaders) +
                               kLinkBits % l1_bytes * (payload + kHeaders) / l1_bytes;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(bits)));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(500)));
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    std::vector<NetDeviceContainer> devices;
    for (std::uint32_t i = 0; i < senders; ++i) devices.push_back(link.Install(all.Get(i), fabric));
    link.SetQueue("ns3::DropTailQueue", "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, std::uint32_t(queue_packets))));
    devices.push_back(link.Install(fabric, receiver));
    Ipv4Address to;
    for (const NetDeviceContainer& pair : devices) {
        const Ipv4InterfaceContainer interfaces = addresses.Assign(pair);
        TrafficControlHelper{}.Uninstall(pair);  // the device's queue alone
        to = interfaces.GetAddress(1);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const auto queue = DynamicCast<PointToPointNetDevice>(devices.back().Get(0))->GetQueue();
    queue->TraceConnectWithoutContext(
        "PacketsInQueue",
        Callback<void, std::uint32_t, std::uint32_t>([](std::uint32_t, std::uint32_t now) {
            if (now > g_peak) g_peak = now;
        }));

    std::vector<std::uint64_t> received(senders);
    std::vector<Sender*> sources;
    for (std::uint32_t i = 0; i < senders; ++i) {
        const auto port = std::uint16_t(5000 + i);
        const Ptr<Socket> sink = Socket::CreateSocket(receiver, UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        sink->SetRecvCallback(Callback<void, Ptr<Socket>>([&received, i](Ptr<Socket> socket) {
            while (socket->Recv()) ++received[i];
        }));
        sources.push_back(new Sender(all.Get(i), InetSocketAddress(to, port), payload, l1_bytes * 8,
                                     number(6 + int(i)) * 1000, end));
    }
    Simulator::Stop(end + MilliSeconds(1));
    Simulator::Run();
    // The queue is empty by now: what was sent and not received was dropped in front of it.
    std::uint64_t sent = 0, dropped = 0;
    for (const Sender* s : sources) sent += s->sent;
    dropped = sent;
    for (const std::uint64_t r : received) dropped -= r;
    std::printf("{\"sent\": %llu, \"dropped\": %llu, \"peak\": %llu, \"received\": [",
                (unsigned long long)sent, (unsigned long long)dropped, (unsigned long long)g_peak);
    for (std::uint32_t i = 0; i < senders; ++i) {
        std::printf("%s%llu", i ? ", " : "", (unsigned long long)received[i]);
    }
    std::printf("]}\n");
    Simulator::Destroy();
}
