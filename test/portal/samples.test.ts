import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { curlCommand } from '../../sidecar/portal/curl.ts'
import { maskedHeaders } from '../../sidecar/portal/masked_headers.ts'
import { nodeSample } from '../../sidecar/portal/samples.ts'
import { freePort } from '../../stack/ports.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = `{"type": "shipment.created", "data": {"note": "it's \\"$(touch /tmp/x)\\" \`id\` 'quoted'\\n"}}`
const root = join(import.meta.dirname, '../..')

test('the curl command sends exactly the body, with a signature that standardwebhooks accepts, whatever is in it', async () => {
  const command = curlCommand({
    url: `https://consumer.example/?a='b'&c=$d`,
    eventId: 'evt_1',
    body,
    secret,
    now: new Date(),
  })
  const { stdout } = await promisify(execFile)('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`])
  const given = stdout.split('\0')
  expect(given).toContain(`https://consumer.example/?a='b'&c=$d`)
  expect(given[given.indexOf('--data-raw') + 1]).toBe(body)
  const headers = Object.fromEntries(
    given.filter((_, place) => given[place - 1] === '-H').map((header) => header.split(': ')),
  )
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'shipment.created' })
})

test('the Node sample accepts what is signed with the secret and refuses anything else', async () => {
  const port = await freePort()
  const sample = spawn(process.execPath, ['--input-type=module', '-e', nodeSample], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: 'ignore',
  })
  try {
    const now = new Date()
    const send = (signature: string): Promise<number> =>
      fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        body,
        headers: {
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
          'webhook-signature': signature,
        },
      }).then(
        ({ status }) => status,
        () => setTimeout(50).then(() => send(signature)),
      )
    expect(await send(new Webhook(secret).sign('evt_1', now, body))).toBe(204)
    expect(await send('v1,AAAA')).toBe(400)
  } finally {
    sample.kill()
    await once(sample, 'exit')
  }
})

test('the values of headers that carry secrets are masked', () => {
  expect(
    maskedHeaders({
      'Webhook-Signature': 'v1,x',
      Authorization: 'Bearer x',
      'Set-Cookie': ['a', 'b'],
      'X-Api-Key': 'x',
      vary: ['a', 'b'],
    }),
  ).toEqual([
    ['Authorization', '••••••••'],
    ['Set-Cookie', '••••••••'],
    ['vary', 'a, b'],
    ['Webhook-Signature', '••••••••'],
    ['X-Api-Key', '••••••••'],
  ])
})
