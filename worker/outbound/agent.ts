import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { Agent, buildConnector, errors } from 'undici'
import { isPublicAddress } from './public_address.ts'

export class AddressNotAllowed extends Error {
  override name = 'AddressNotAllowed'
  readonly code = 'ERR_ADDRESS_NOT_ALLOWED'

  constructor(address: string) {
    super(`${address} is not a public address`)
  }
}

/** Resolves a host's name, once for check and connection both; refused when any of its addresses is not public. */
const lookupPublic: LookupFunction = (host, options, done) => {
  const all: LookupOptions & { all: true } = { ...options, all: true }
  lookup(host, all, (error, addresses: LookupAddress[]) => {
    const refused = addresses?.find(({ address }) => !isPublicAddress(address))
    const [first] = addresses ?? []
    if (error !== null) done(error, '')
    else if (refused !== undefined) done(new AddressNotAllowed(`${host} (${refused.address})`), '')
    else if (options.all === true) done(null, addresses)
    else if (first !== undefined) done(null, first.address, first.family)
  })
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

const failedAfterUse = new WeakSet<Error>()

/** Whether a connection failed that had served a request before: its other side may have closed it just then. */
export const wasOnUsedConnection = (error: Error): boolean =>
  failedAfterUse.has(error) || (error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0)

const noteFailureAfterUse = (socket: Socket): void => {
  socket.prependListener('error', (error) => {
    if (socket.bytesRead > 0) failedAfterUse.add(error)
  })
}

export interface OutboundOptions {
  /** Off: only what leads to the public Internet is dialled. */
  allowPrivateAddresses: boolean
}

// Warehouses and consumers close idle connections when they like: better to do so first.
const IDLE_MILLISECONDS = 1_000

/** What all requests to addresses that businesses wrote down go through. */
export function makeOutboundAgent({ allowPrivateAddresses }: OutboundOptions): Agent {
  const dial = buildConnector({
    allowH2: false,
    ...(allowPrivateAddresses ? {} : { lookup: lookupPublic }),
  } as buildConnector.BuildOptions)

  const connect: buildConnector.connector = (target, done) => {
    const host = withoutBrackets(target.hostname)
    if (!allowPrivateAddresses && isIP(host) !== 0 && !isPublicAddress(host)) {
      done(new AddressNotAllowed(host), null)
      return
    }
    dial({ ...target, hostname: host }, (...outcome) => {
      const [error, socket] = outcome
      if (error !== null) {
        done(error, null)
        return
      }
      if (!allowPrivateAddresses && !isPublicAddress(socket.remoteAddress ?? '')) {
        socket.destroy()
        done(new AddressNotAllowed(socket.remoteAddress ?? host), null)
        return
      }
      noteFailureAfterUse(socket)
      done(null, socket)
    })
  }

  return new Agent({
    connect,
    pipelining: 1,
    keepAliveTimeout: IDLE_MILLISECONDS,
    keepAliveMaxTimeout: IDLE_MILLISECONDS,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}
