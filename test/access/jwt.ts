import { createHmac } from 'node:crypto'
import type { Sql } from '../../stack/database.ts'

type Claims = Record<string, unknown>

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')

const withAlgorithm = (claims: Claims, algorithm: string, secret: Buffer): string => {
  const signed = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(claims)}`
  const signature = algorithm === 'none' ? '' : createHmac('sha256', secret).update(signed).digest('base64url')
  return `${signed}.${signature}`
}

export const claimsOf = (jwt: string): Claims =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8')) as Claims

export const signed = (claims: Claims, secret: Buffer): string => withAlgorithm(claims, 'HS256', secret)

export const unsigned = (claims: Claims): string => withAlgorithm(claims, 'none', Buffer.alloc(0))

/** The claims replaced, the signature kept. */
export const altered = (jwt: string, claims: Claims): string => {
  const [header, , signature] = jwt.split('.')
  return `${header}.${encode({ ...claimsOf(jwt), ...claims })}.${signature}`
}

export async function readSigningSecret(sql: Sql): Promise<Buffer> {
  const [newest] = await sql<{ secret: Buffer }[]>`select secret from internal.signing_secrets order by id desc limit 1`
  if (newest === undefined) throw new Error('there is no signing secret')
  return newest.secret
}
