import { html } from 'hono/html'
import type { Html } from '../html.ts'

interface Message {
  title: string
  text: Html
}

const howToGetALink = html`<p>Ask whoever gave you the link for a new one, or make one with your API key:</p>
<pre tabindex="0" role="region" aria-label="How to make a link"><code>POST /rest/v1/rpc/create_webhook_portal_magic_link
{"business_id": "…"}</code></pre>
<p>Its answer has the <code>url</code> to open. A link is valid for seven days.</p>`

export const linkIsNotValid: Message = {
  title: 'This link is not valid any more',
  text: html`<p>It has expired, was revoked, or was not copied in full.</p>${howToGetALink}`,
}

export const sessionIsOver: Message = {
  title: 'Please open the portal through a link',
  text: html`<p>You are not signed in: the link that you came through has expired or was revoked, or you signed out.</p>${howToGetALink}`,
}

export const signedOut: Message = {
  title: 'You are signed out',
  text: html`<p>Open your link again to come back while it is valid.</p>${howToGetALink}`,
}

export const notSentFromHere: Message = {
  title: 'This form was not sent from the portal',
  text: html`<p>Nothing was changed. Go back, reload the page and try again.</p>`,
}

export const tooLarge: Message = {
  title: 'The form is too large',
  text: html`<p>Nothing was changed.</p>`,
}

export const failed: Message = {
  title: 'That did not work',
  text: html`<p>Something went wrong on our side, and nothing was changed. Please try again in a moment.</p>`,
}
