import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

const headers = `-H "apikey: $APPLICATION_KEY" -H "Authorization: Bearer $ACCESS_KEY"`
const json = '-H "Content-Type: application/json"'

/** Runs a command of the setup and reads the JSON that it prints. */
const shell = async (command: string, variables: Record<string, string> = {}): Promise<unknown> => {
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', command], {
    env: {
      PATH: process.env.PATH,
      BASE_URL: lading.baseUrl,
      APPLICATION_KEY: lading.applicationKey,
      ACCESS_KEY: lading.a.key,
      BUSINESS_ID: lading.a.id,
      ...variables,
    },
  })
  return stdout === '' ? null : JSON.parse(stdout)
}

test('the five calls of a webhook setup, as curl sends them', async () => {
  expect(await shell(`curl -sf "$BASE_URL/rest/v1/webhook_actions" ${headers}`)).toContainEqual(
    expect.objectContaining({ action: 'shipment.created' }),
  )
  await shell(
    `curl -sf -X POST "$BASE_URL/rest/v1/webhook_configurations" ${headers} ${json} -d '{"business_id":"'$BUSINESS_ID'","hook_consumer_url":"http://127.0.0.1:9/hook"}'`,
  )
  const found = (await shell(
    `curl -sf "$BASE_URL/rest/v1/webhook_configurations?business_id=eq.$BUSINESS_ID" ${headers}`,
  )) as { id: string }[]
  expect(found).toMatchObject([
    {
      business_id: lading.a.id,
      hook_consumer_url: 'http://127.0.0.1:9/hook',
      producer_url: `${lading.baseUrl}/v1/deliveries`,
      is_enabled: true,
    },
  ])
  await shell(
    `curl -sf -X POST "$BASE_URL/rest/v1/webhook_configuration_actions" ${headers} ${json} -d '{"webhook_configuration_id":"'$CONFIGURATION_ID'","action":"shipment.updated.status","capture_snapshot":false}'`,
    { CONFIGURATION_ID: found[0]?.id ?? '' },
  )
  expect(
    await shell(
      `curl -sf -X POST "$BASE_URL/rest/v1/rpc/create_webhook_portal_magic_link" ${headers} ${json} -d '{"business_id":"'$BUSINESS_ID'"}'`,
    ),
  ).toEqual({ url: expect.stringMatching(`^${lading.baseUrl}/`), expires_time: expect.any(String) })
})
