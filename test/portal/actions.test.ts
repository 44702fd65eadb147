import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startLading, type TestBusiness } from '../harness/lading.ts'
import { startBrowser } from './browser.ts'
import { makeLink } from './visitor.ts'
import { addConfiguration, addDelivery } from './webhooks.ts'

const lading = await startLading()
const browser = await startBrowser()
const { sql } = lading
const portal = `${lading.baseUrl}/portal`

interface StoredConfiguration {
  id: string
  name: string | null
  hook_consumer_url: string
  is_immediate: boolean
  is_enabled: boolean
  actions: Record<string, boolean> | null
}

const storedConfigurations = (business: TestBusiness) =>
  sql<StoredConfiguration[]>`
    select c.id, c.name, c.hook_consumer_url, c.is_immediate, c.is_enabled,
      (select jsonb_object_agg(a.action, a.capture_snapshot) from api.webhook_configuration_actions a
        where a.webhook_configuration_id = c.id) as actions
    from api.webhook_configurations c where c.business_id = ${business.id} order by c.id`

const currentSecret = async (configurationId = ''): Promise<string> =>
  (
    await sql`
      select secret from internal.webhook_secrets
      where webhook_configuration_id = ${configurationId} and expires_time is null`
  )[0]?.secret

describe.each([
  { name: 'with scripts', hasScripts: true },
  { name: 'without scripts', hasScripts: false },
])('$name', ({ hasScripts }) => {
  let business: TestBusiness
  let context: BrowserContext
  let page: Page

  const notice = () => page.locator('.notice').textContent()
  const button = (name: string) => page.getByRole('button', { name, exact: true })

  beforeAll(async () => {
    business = await lading.addBusiness(`Business ${hasScripts}`)
    context = await browser.newContext({ javaScriptEnabled: hasScripts, viewport: { width: 360, height: 740 } })
    page = await context.newPage()
    page.setDefaultTimeout(10_000)
    await page.goto(await makeLink(business))
  })
  afterAll(() => context.close())

  test('a configuration is added; a wrong address is refused by its field, and what was entered stays', async () => {
    await page.getByRole('link', { name: 'Add a configuration' }).click()
    await page.getByLabel('Name (optional)').fill('Shop <b>')
    await page.getByLabel('Address of the consumer').fill('shop.example/hooks')
    await page.getByLabel('shipment.created', { exact: true }).check()
    await button('Add').click()

    const address = page.getByLabel('Address of the consumer')
    expect(await page.getByRole('alert').textContent()).toContain('Nothing was saved')
    expect(await address.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(`#url-error`).textContent()).toContain('beginning with https://')
    expect((await address.getAttribute('aria-describedby'))?.split(' ')).toContain('url-error')
    expect(await address.inputValue()).toBe('shop.example/hooks')
    expect(await page.getByLabel('shipment.created', { exact: true }).isChecked()).toBe(true)
    expect(await storedConfigurations(business)).toEqual([])

    await address.fill('https://shop.example/hooks')
    await button('Add').click()
    expect(await notice()).toContain('was added')
    expect(await storedConfigurations(business)).toMatchObject([
      {
        name: 'Shop <b>',
        hook_consumer_url: 'https://shop.example/hooks',
        is_immediate: false,
        actions: { 'shipment.created': false },
      },
    ])
  })

  test('it is edited, with what it is subscribed to', async () => {
    await page.getByLabel('Name (optional)').fill('')
    await page.getByLabel('Address of the consumer').fill('http://shop.example/v2')
    await page.getByLabel('Immediate').check()
    await page.getByLabel('shipment.created', { exact: true }).uncheck()
    await page.getByLabel('shipment_receipt.completed', { exact: true }).check()
    await page.getByLabel('Snapshot for shipment_receipt.completed').check()
    await button('Save').click()
    expect(await notice()).toBe('The configuration was saved.')
    expect(await storedConfigurations(business)).toMatchObject([
      {
        name: null,
        hook_consumer_url: 'http://shop.example/v2',
        is_immediate: true,
        actions: { 'shipment_receipt.completed': true },
      },
    ])
  })

  test('it is disabled after a question, and enabled', async () => {
    await page.getByText('Disable…').click()
    await button('Disable now').click()
    expect(await notice()).toContain('is disabled')
    expect(await storedConfigurations(business)).toMatchObject([{ is_enabled: false }])
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await button('Enable').click()
    expect(await notice()).toContain('is enabled')
    expect(await storedConfigurations(business)).toMatchObject([{ is_enabled: true }])
  })

  test('its secret is shown when asked for, and rotated', async () => {
    const [configuration] = await storedConfigurations(business)
    const before = await currentSecret(configuration?.id)
    expect(await page.content()).not.toContain('whsec_m')
    await button('Reveal the secret').click()
    expect(await page.locator('#secret-value').textContent()).toBe(before)
    expect(page.url()).not.toContain('whsec')
    await page.getByText('Rotate…').click()
    await button('Rotate now').click()
    expect(await notice()).toContain('24 hours')
    const after = await currentSecret(configuration?.id)
    expect(after).not.toBe(before)
    await button('Reveal the secret').click()
    expect(await page.locator('#secret-value').textContent()).toBe(after)
    await page.getByText('How a consumer verifies it').click()
    expect(await page.locator('#node-sample').textContent()).toContain("from 'standardwebhooks'")
    expect(await page.locator('#python-sample').textContent()).toContain('from standardwebhooks')
    await page.getByRole('link', { name: 'Hide it' }).click()
    expect(await page.locator('#secret-value').count()).toBe(0)
  })

  test('it is sent a test event', async () => {
    await page.getByLabel('Action').selectOption('shipment.updated.status')
    await button('Send a test event').click()
    expect(await notice()).toContain('test event is on its way')
    const row = page.getByRole('row', { name: /shipment\.updated\.status/ })
    expect(await row.textContent()).toContain('Test')
    expect(await sql`select is_test from api.webhook_deliveries where business_id = ${business.id}`).toMatchObject([
      { is_test: true },
    ])
  })

  test('one delivery is replayed', async () => {
    await page.getByRole('link', { name: 'shipment.updated.status' }).click()
    await button('Replay').click()
    expect(await notice()).toContain('on its way again')
    await page.getByRole('heading', { name: 'Replays' }).waitFor()
    await page.locator('.rows a').click()
    await page.getByText('Replay of').waitFor()
    expect(
      await sql`select from api.webhook_deliveries where business_id = ${business.id} and replay_of is not null`,
    ).toHaveLength(1)
  })

  test('failed ones are counted first and replayed when that is confirmed', async () => {
    const configuration = await addConfiguration(sql, business.id, {
      name: 'Failed before',
      actions: ['shipment.created'],
    })
    for (const minutesAgo of [10, 20, 30]) await addDelivery(sql, configuration, { state: 'failed', minutesAgo })
    await addDelivery(sql, configuration, { minutesAgo: 15 })
    const count = async () =>
      (await sql`select from api.webhook_deliveries where webhook_configuration_id = ${configuration.id}`).length

    await page.getByRole('link', { name: 'Replay', exact: true }).click()
    await page.getByLabel('Configuration').selectOption('Failed before')
    await page.getByLabel('Which events').selectOption('failed')
    await button('Count').click()
    await page.getByRole('heading', { name: '3 failed events' }).waitFor()
    expect(await count()).toBe(4)
    await button('Replay 3 events').click()
    expect(await notice()).toBe('3 events are on the way again.')
    expect(await count()).toBe(7)
  })

  test('missing ones too', async () => {
    const configuration = await addConfiguration(sql, business.id, { name: 'Late', actions: ['shipment.created'] })
    await sql`
      insert into api.shipment_webhooks (business_id, shipment_id, action, status)
      select ${business.id}, uuidv7(), 'shipment.created', 'sent' from generate_series(1, 2)`
    await page.goto(`${portal}/replay?configuration=${configuration.id}`)
    await page.getByLabel('Which events').selectOption('missing')
    await button('Count').click()
    await button('Replay 2 events').click()
    expect(await notice()).toBe('2 events are on the way again.')
    expect(
      await sql`select from api.webhook_deliveries where webhook_configuration_id = ${configuration.id}`,
    ).toHaveLength(2)
    await page.getByLabel('Which events').selectOption('missing')
    await button('Count').click()
    await page.getByText('There is nothing to replay.').waitFor()
  })

  test.runIf(!hasScripts)('deliveries are filtered and paged', async () => {
    const configuration = await addConfiguration(sql, business.id, { name: 'Busy' })
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        addDelivery(sql, configuration, {
          minutesAgo: 100 + n,
          state: n % 10 === 0 ? 'failed' : 'delivered',
          action: 'shipment.deleted',
        }),
      ),
    )
    const wanted = await addDelivery(sql, configuration, { minutesAgo: 3_000, action: 'shipment.updated' })
    const rows = page.locator('tbody tr')
    const filter = async (fill: () => Promise<unknown>) => {
      await page.goto(`${portal}/deliveries`)
      await fill()
      await button('Filter').click()
      return rows.count()
    }

    expect(await filter(() => page.getByLabel('Configuration').selectOption('Busy'))).toBe(25)
    const first = await rows.first().locator('a').first().getAttribute('href')
    await page.getByRole('link', { name: 'Older' }).click()
    expect(await rows.count()).toBe(6)
    expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0)
    expect(await page.getByLabel('Configuration').inputValue()).toBe(configuration.id)
    await page.getByRole('link', { name: 'Newer' }).click()
    expect(await rows.count()).toBe(25)
    expect(await rows.first().locator('a').first().getAttribute('href')).toBe(first)
    expect(await page.getByRole('link', { name: 'Newer' }).count()).toBe(0)

    expect(
      await filter(async () => {
        await page.getByLabel('Configuration').selectOption('Busy')
        await page.getByLabel('State').selectOption('failed')
      }),
    ).toBe(3)
    expect(await filter(() => page.getByLabel('Action').selectOption('shipment.updated'))).toBe(1)
    expect(await filter(() => page.getByLabel('Object id').fill(wanted.object_id))).toBe(1)
    const before = new Date(Date.now() - 2_000 * 60_000).toISOString().slice(0, 16)
    expect(await filter(() => page.getByLabel('Fired until').fill(before))).toBe(1)
    expect(
      await filter(async () => {
        await page.getByLabel('Fired since').fill(before)
        await page.getByLabel('Action').selectOption('shipment.updated')
      }),
    ).toBe(0)
    await page.getByText('No delivery fits the filter.').waitFor()
  })

  test.runIf(hasScripts)('what is shown as code is copied', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const [configuration] = await storedConfigurations(business)
    await page.goto(`${portal}/configurations/${configuration?.id}`)
    await page.getByText('How a consumer verifies it').click()
    await page.getByRole('button', { name: 'Copy Node sample' }).click()
    await page.getByRole('button', { name: 'Copied Node sample' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.locator('#node-sample').textContent())
  })

  test('signing out leaves the portal', async () => {
    await button('Sign out').click()
    expect(await page.locator('h1').textContent()).toBe('You are signed out')
    await page.goto(portal)
    expect(await page.locator('h1').textContent()).toBe('Please open the portal through a link')
    expect(await context.cookies()).toEqual([])
  })
})

test('what cannot be done to a disabled configuration is said plainly', async () => {
  const configuration = await addConfiguration(sql, lading.a.id)
  const delivery = await addDelivery(sql, configuration, { state: 'failed' })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(await makeLink(lading.a))
  await page.goto(`${portal}/deliveries/${delivery.id}`)
  await sql`update api.webhook_configurations set is_enabled = false where id = ${configuration.id}`
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('The webhook configuration is disabled: enable it first').waitFor()
  await page.goto(`${portal}/deliveries/${delivery.id}`)
  await page.getByText('To replay it, enable its configuration.').waitFor()
  await context.close()
})
