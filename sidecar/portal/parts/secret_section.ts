import { html } from 'hono/html'
import type { Html } from '../html.ts'
import { nodeSample, pythonSample } from '../samples.ts'
import type { Visit } from '../visit.ts'
import { confirmed } from './confirmed.ts'
import { buttonForm } from './form.ts'
import { codeBlock } from './showing.ts'

export const secretSection = (
  visit: Visit,
  configurationId: string,
  secret: string | undefined,
): Html => html`<p class="calm">
  Every delivery is signed with it (<a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>), so that the consumer knows where it comes from.
</p>
${secret === undefined ? '' : codeBlock('secret-value', 'Secret', secret)}
<div class="actions">
  ${secret === undefined ? buttonForm(visit, `/configurations/${configurationId}/secret#secret`, 'Reveal the secret') : html`<a class="button quiet" href="${visit.base}/configurations/${configurationId}#secret">Hide it</a>`}
  ${confirmed(
    'Rotate',
    html`<p>A new secret signs from then on. The present one signs too for 24 hours, so that you can change over.</p>
    ${buttonForm(visit, `/configurations/${configurationId}/rotate`, 'Rotate now')}`,
  )}
</div>
<details class="figures"><summary>How a consumer verifies it</summary>
  <h3>Node</h3>
  ${codeBlock('node-sample', 'Node sample', nodeSample)}
  <h3>Python</h3>
  ${codeBlock('python-sample', 'Python sample', pythonSample)}
</details>`
