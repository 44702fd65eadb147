import { errors } from 'undici'
import { AddressNotAllowed } from './agent.ts'

const words: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the address cannot be reached',
  ETIMEDOUT: 'the connection could not be made in time',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be made in time',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too large",
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the TLS certificate is self-signed',
  CERT_HAS_EXPIRED: 'the TLS certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the TLS certificate is for another host',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the TLS certificate cannot be verified',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the host does not speak TLS',
}

const codeOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Why a request failed, in words for the one who configured its address. */
export function networkErrorText(error: unknown): string {
  if (error instanceof AddressNotAllowed) return `the address is not allowed: ${error.message}`
  if (error instanceof errors.HTTPParserError) return 'the answer is not HTTP'
  const code = codeOf(error)
  const known = words[code]
  if (known !== undefined) return `${known} (${code})`
  return error instanceof Error ? `${error.message}${code === '' ? '' : ` (${code})`}` : String(error)
}
