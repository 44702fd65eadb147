import { test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { collectComplaints, devices, findAccessibilityFaults, openContext, overflow, startBrowser } from './browser.ts'
import { makeLink, setScene } from './scene.ts'

const lading = await startLading()
const browser = await startBrowser()
test('shots', async () => {
  const scene = await setScene(lading)
  const link = await makeLink(lading.a)
  const paths: Record<string, string> = {
    overview: '', overview7: '?days=7', overview30: '?days=30', deliveries: '/deliveries', wrongfilter: '/deliveries?object=nonsense&since=2026-01-01T00:00',
    nofit: '/deliveries?state=canceled',
    delivery: `/deliveries/${scene.delivered.id}`, failed: `/deliveries/${scene.failed.id}`, large: `/deliveries/${scene.large.id}`, hostile: `/deliveries/${scene.hostileDelivery.id}`,
    configuration: `/configurations/${scene.good.id}`, hostileconf: `/configurations/${scene.hostile.id}`, disabled: `/configurations/${scene.disabled.id}`,
    new: '/configurations/new', replay: `/replay?configuration=${scene.good.id}`, replaycount: `/replay?configuration=${scene.good.id}&only=failed&since=2026-01-01T00:00&step=count`, missing: '/nothing',
  }
  for (const device of devices) {
    if (process.env.DEVICE && !device.name.includes(process.env.DEVICE)) continue
    const context = await openContext(browser, device)
    const page = await context.newPage()
    const complaints = collectComplaints(page)
    await page.goto(link)
    for (const [name, path] of Object.entries(paths)) {
      if (process.env.ONLY && !process.env.ONLY.split(',').includes(name)) continue
      await page.goto(`${lading.baseUrl}/portal${path}`)
      if (await page.locator('details.attempt').count() > 0 || name.startsWith('overview') ) void 0
      await page.screenshot({ path: `/tmp/w4-shots/${device.name.replaceAll(/[ ,]+/g, '-')}-${name}.png`, fullPage: true })
      const faults = await findAccessibilityFaults(page)
      const wide = await overflow(page)
      if (faults.length || wide > 0 || complaints.length) console.log(device.name, name, { faults, wide, complaints: complaints.splice(0) })
    }
    await context.close()
  }
}, 120_000)
