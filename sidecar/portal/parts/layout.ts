import { html } from 'hono/html'
import { assets } from '../assets.ts'
import type { Html } from '../html.ts'
import type { Page, Section, Visit } from '../visit.ts'
import { formTokenField } from './form.ts'

const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1f5fbf"/>' +
      '<path d="M10 8v16h13" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>',
  )

const sheet = (base: string, title: string, body: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${base}/assets/portal.css?v=${assets['portal.css'].version}">
<script src="${base}/assets/portal.js?v=${assets['portal.js'].version}" defer></script>
</head>
<body>
${body}
</body>
</html>
`

const sections: { section: Section; path: string; name: string }[] = [
  { section: 'overview', path: '', name: 'Overview' },
  { section: 'deliveries', path: '/deliveries', name: 'Deliveries' },
  { section: 'replay', path: '/replay', name: 'Replay' },
]

export const layOut = (visit: Visit, page: Page): Html =>
  sheet(
    visit.base,
    `${page.title} – ${visit.business.name}`,
    html`<a class="skip" href="#main">Skip to the content</a>
<header class="top">
  <div class="across">
    <p class="whose"><span class="installation">${visit.installation} webhooks</span> <strong>${visit.business.name}</strong></p>
    <nav aria-label="Portal">
      <ul>
        ${sections.map(
          ({ section, path, name }) =>
            html`<li><a href="${visit.base}${path}"${page.section === section ? html` aria-current="page"` : ''}>${name}</a></li>`,
        )}
      </ul>
    </nav>
    <form class="sign-out" method="post" action="${visit.base}/sign-out">
      ${formTokenField(visit)}<button class="quiet">Sign out</button>
    </form>
  </div>
</header>
<main id="main" tabindex="-1">
  ${page.notice === undefined ? '' : html`<p class="notice" role="status">${page.notice}</p>`}
  ${page.main}
</main>
<footer><p>Times are shown in ${visit.business.zone}.</p></footer>`,
  )

/** A page for people who are not (or no longer) let in, or whose request could not be answered. */
export const layOutMessage = (base: string, title: string, text: Html): Html =>
  sheet(
    base,
    title,
    html`<main id="main" class="message">
  <h1>${title}</h1>
  ${text}
</main>`,
  )
