import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
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

type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Resolves a host's name, once for check and connection both; refused when any of its addresses is not allowed. */
const lookupAllowed =
  (resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction =>
  (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const refused = addresses?.find(({ address }) => !isAllowed(address))
      const [first] = addresses ?? []
      if (error !== null) done(error, '')
      else if (refused !== undefined) done(new AddressNotAllowed(`${host} (${refused.address})`), '')
      else if (options.all === true) done(null, addresses)
      else done(null, first?.address ?? '', first?.family ?? 0)
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
  /** How names are looked up; as the system does unless given. */
  resolve?: Resolve
}

// Warehouses and consumers close idle connections when they like: better to do so first.
const IDLE_MILLISECONDS = 1_000

/** What all requests to addresses that businesses wrote down go through. */
export function makeOutboundAgent({ allowPrivateAddresses, resolve = lookup }: OutboundOptions): Agent {
  const isAllowed = allowPrivateAddresses ? () => true : isPublicAddress
  const dial = buildConnector({
    allowH2: false,
    lookup: lookupAllowed(resolve, isAllowed),
  } as buildConnector.BuildOptions)

  const connect: buildConnector.connector = (target, done) => {
    const host = withoutBrackets(target.hostname)
    if (isIP(host) !== 0 && !isAllowed(host)) {
      done(new AddressNotAllowed(host), null)
      return
    }
    dial({ ...target, hostname: host }, (...[error, socket]) => {
      if (error !== null) {
        done(error, null)
        return
      }
      const dialled = socket.remoteAddress ?? ''
      if (!isAllowed(dialled)) {
        socket.destroy()
        done(new AddressNotAllowed(dialled), null)
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
