import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll } from 'vitest'

const options = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Debian's Chromium with a profile of its own, ended after the file's last test. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    args: options,
  })
  afterAll(() => browser.close())
  return browser
}

export interface Device {
  name: string
  width: number
  height: number
  colours: 'light' | 'dark'
  hasScripts: boolean
}

/** Every pair of screen, colours and scripts is met by one of them. */
export const devices: Device[] = [
  { name: 'desktop, light, with scripts', width: 1280, height: 900, colours: 'light', hasScripts: true },
  { name: 'desktop, dark, without scripts', width: 1280, height: 900, colours: 'dark', hasScripts: false },
  { name: 'phone, light, without scripts', width: 360, height: 740, colours: 'light', hasScripts: false },
  { name: 'phone, dark, with scripts', width: 360, height: 740, colours: 'dark', hasScripts: true },
]

export const openContext = (browser: Browser, device: Device): Promise<BrowserContext> =>
  browser.newContext({
    viewport: { width: device.width, height: device.height },
    colorScheme: device.colours,
    javaScriptEnabled: device.hasScripts,
    reducedMotion: 'reduce',
  })

/** What the page complains about in its console: refusals of the Content-Security-Policy, errors of scripts. */
export const collectComplaints = (page: Page): string[] => {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (4\d\d)/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return complaints
}

interface AxeResult {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** What axe-core finds of any weight, in lines that tell where; with everything open that can be. Needs scripts. */
export async function findAccessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResult>(
    'axe.run(document, { resultTypes: ["violations"], preload: false, iframes: false })',
  )
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
  )
}

/** How far the page is wider than the screen. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
