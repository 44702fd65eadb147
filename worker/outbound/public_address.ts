import { BlockList, isIP } from 'node:net'

// What the IANA registries of special-purpose addresses do not call globally reachable.
const specialIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const NAT64 = '64:ff9b::'
const NAT64_BITS = 96

const reachable = new BlockList()
reachable.addSubnet('0.0.0.0', 0, 'ipv4')
reachable.addSubnet('2000::', 3, 'ipv6')
reachable.addSubnet(NAT64, NAT64_BITS, 'ipv6')

const special = new BlockList()
for (const range of specialIpv4) {
  const [address = '', bits] = range.split('/')
  special.addSubnet(address, Number(bits), 'ipv4')
  special.addSubnet(`${NAT64}${address}`, NAT64_BITS + Number(bits), 'ipv6')
}
for (const range of specialIpv6) {
  const [address = '', bits] = range.split('/')
  special.addSubnet(address, Number(bits), 'ipv6')
}

/** Whether an IP address is one of the public Internet. An IPv4 address inside an IPv6 one (mapped, NAT64) counts as itself. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 0 || address.includes('%')) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return reachable.check(address, family) && !special.check(address, family)
}
