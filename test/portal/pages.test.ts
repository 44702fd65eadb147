import { beforeAll, describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { collectComplaints, devices, findAccessibilityFaults, openContext, overflow, startBrowser } from './browser.ts'
import { hostile, type Scene, setScene } from './scene.ts'
import { makeLink, tokenOf } from './visitor.ts'
import { addConfiguration } from './webhooks.ts'

const lading = await startLading()
const browser = await startBrowser()
const portal = `${lading.baseUrl}/portal`
let scene: Scene

beforeAll(async () => {
  scene = await setScene(lading)
})

const pages = (): { path: string; heading: string; status?: number }[] => [
  { path: '', heading: 'Overview' },
  { path: '?days=30', heading: 'Overview' },
  { path: '/deliveries', heading: 'Deliveries' },
  { path: '/deliveries?object=nonsense', heading: 'Deliveries', status: 422 },
  { path: `/deliveries/${scene.delivered.id}`, heading: 'shipment.updated.status ✓Delivered' },
  { path: `/deliveries/${scene.hostileDelivery.id}`, heading: 'shipment.created ✓Delivered' },
  { path: `/configurations/${scene.good.id}`, heading: 'Storefront !Some failed' },
  { path: `/configurations/${scene.disabled.id}`, heading: 'https://a-long-name' },
  { path: `/configurations/${scene.hostile.id}`, heading: hostile },
  { path: '/configurations/new', heading: 'Add a configuration' },
  { path: `/replay?configuration=${scene.good.id}&since=2026-01-01T00:00&step=count`, heading: 'Replay' },
  { path: '/nothing', heading: 'Not found', status: 404 },
]

describe.each(devices)('on a $name', (device) => {
  test('every page is whole: it fits the screen, runs nothing that is not ours, and hides nothing from anybody', async () => {
    const context = await openContext(browser, device)
    const page = await context.newPage()
    const complaints = collectComplaints(page)
    await page.goto(await makeLink(lading.a))
    for (const { path, heading, status = 200 } of pages()) {
      const answer = await page.goto(`${portal}${path}`)
      expect(answer?.status(), path).toBe(status)
      expect(await page.locator('h1').textContent(), path).toContain(heading)
      expect(await overflow(page), `${path} is too wide`).toBe(0)
      expect(await page.locator('img').count(), path).toBe(0)
      if (device.hasScripts) expect(await findAccessibilityFaults(page), path).toEqual([])
      expect((await page.locator('button.copy:visible').count()) > 0, path).toBe(
        device.hasScripts && (await page.locator('button.copy').count()) > 0,
      )
      expect(await page.title(), path).not.toBe('broken in')
    }
    expect(complaints).toEqual([])
    await context.close()
  }, 90_000)
})

test('a business that has nothing yet is told what to do, and so is who has no link', async () => {
  const business = await lading.addBusiness('New')
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } })
  const page = await context.newPage()
  await page.goto(portal)
  expect(await page.locator('h1').textContent()).toBe('Please open the portal through a link')
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.goto(await makeLink(business))
  await page.getByText('No events are sent anywhere yet.').waitFor()
  await page.getByText('Nothing was delivered in this time.').waitFor()
  expect(await findAccessibilityFaults(page)).toEqual([])
  await page.goto(`${portal}/deliveries`)
  await page.getByText('There are no deliveries yet.').waitFor()
  await page.goto(`${portal}/replay`)
  await page.getByText('There is no enabled configuration to send events to.').waitFor()
  await addConfiguration(lading.sql, business.id, { name: 'First' })
  await page.getByRole('link', { name: 'Go to the overview' }).click()
  await page.getByRole('link', { name: 'First', exact: true }).click()
  await page.getByText('Nothing was sent to it yet.').waitFor()
  await context.close()
})

test("the link's token is neither in the address bar nor in the history, nor told to any page", async () => {
  const link = await makeLink(lading.a)
  const context = await browser.newContext()
  const page = await context.newPage()
  const told: string[] = []
  page.on('request', (request) => {
    if (request.url() !== link) told.push(request.url(), JSON.stringify(request.headers()))
  })
  await page.goto(link)
  await page.getByRole('link', { name: 'Deliveries', exact: true }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  expect(page.url()).toBe(`${portal}/deliveries`)
  const devtools = await context.newCDPSession(page)
  const { entries } = await devtools.send('Page.getNavigationHistory')
  expect(entries.map(({ url }) => url)).toContain(portal)
  const [cookie] = await context.cookies()
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/portal' })
  for (const text of [...entries.map(({ url }) => url), ...told, await page.evaluate<string>('document.referrer')]) {
    expect(text).not.toContain(tokenOf(link))
  }
  expect(await page.evaluate('document.cookie')).toBe('')
  await context.close()
})

test('the overview says in words what its pictures show, for the time that is chosen', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(await makeLink(lading.a))
  const volume = page.getByRole('img', { name: /Deliveries per hour/ })
  expect(await volume.textContent()).toMatch(/\d+ delivered, \d+ failed, 1 waiting\. Most in one hour: \d+/)
  const tile = (name: string) => page.locator('.tiles div', { hasText: name }).locator('dd').textContent()
  const [day, rate] = [Number(await tile('Deliveries')), await tile('Success rate')]
  expect(rate).toMatch(/^\d{2}(\.\d)?%$/)
  await page.getByRole('link', { name: '30 days' }).click()
  await page.getByRole('heading', { name: 'Last 30 days' }).waitFor()
  expect(Number(await tile('Deliveries'))).toBeGreaterThan(day)
  await page.getByText('The same in figures').click()
  expect(await page.getByRole('table', { name: 'Deliveries by day' }).getByRole('row').count()).toBeGreaterThan(5)
  await context.close()
})

test('a delivery shows what was sent and what came back, without secrets', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(await makeLink(lading.a))
  await page.goto(`${portal}/deliveries/${scene.delivered.id}`)
  await page.getByText('Attempt 1', { exact: true }).click()
  await page.getByText('No answer within 15 s').waitFor()
  await page.getByText('No answer came.').waitFor()
  expect(await page.locator('#response-body-2').textContent()).toBe('{\n  "received": true,\n  "queue": "fast"\n}')
  expect(await page.locator('#body').textContent()).toContain('"shipment_number": "SHP-1"')
  expect(await page.content()).not.toContain('not-to-be-seen')
  expect(await page.content()).not.toContain('whsec_')
  expect(await page.locator('.facts').textContent()).toMatch(/\d+ \w+ \d{4}, \d\d:\d\d:\d\d (CET|CEST|GMT\+[12])/)
  await page.goto(`${portal}/deliveries/${scene.large.id}`)
  await page.getByText('over 300 kB').waitFor()
  expect(await page.locator('#curl').count()).toBe(0)
  await context.close()
})

test('by keyboard alone: past the navigation, into the form, with the focus always seen', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(await makeLink(lading.a))
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('24 hours')
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
  await context.close()
})
