import { html } from 'hono/html'
import type { ConfigurationErrors, ConfigurationFields } from '../forms/configuration_form.ts'
import type { Html } from '../html.ts'
import type { Action } from '../queries/configurations.ts'
import type { Visit } from '../visit.ts'
import { errorSummary, formTokenField, input } from './form.ts'

interface Form {
  path: string
  submit: string
  fields: ConfigurationFields
  errors: ConfigurationErrors
  actions: readonly Action[]
}

const subscriptionRow = (fields: ConfigurationFields, { action, description }: Action): Html => {
  const subscription = fields.subscriptions.find((one) => one.action === action)
  const id = action.replaceAll('.', '-')
  return html`<li>
  <label class="check"><input type="checkbox" name="action" value="${action}"${subscription === undefined ? '' : html` checked`} aria-describedby="about-${id}"><span class="code">${action}</span></label>
  <p class="hint" id="about-${id}">${description}</p>
  <label class="check snapshot"><input type="checkbox" name="snapshot" value="${action}"${subscription?.capture_snapshot === true ? html` checked` : ''}><span>Snapshot<span class="unseen"> for ${action}</span></span></label>
</li>`
}

export const configurationForm = (
  visit: Visit,
  { path, submit, fields, errors, actions }: Form,
): Html => html`${errorSummary(
  (['name', 'url'] as const).flatMap((id) => (errors[id] === undefined ? [] : [{ id, message: errors[id] }])),
)}
<form class="stack" method="post" action="${visit.base}${path}" novalidate>
  ${formTokenField(visit)}
  ${input({ id: 'name', label: 'Name (optional)', type: 'text', value: fields.name, error: errors.name, autocomplete: 'off' })}
  ${input({
    id: 'url',
    label: 'Address of the consumer',
    type: 'url',
    value: fields.url,
    error: errors.url,
    hint: 'Events are posted to it as JSON, for example https://example.com/webhooks.',
    autocomplete: 'off',
    isRequired: true,
    isCode: true,
  })}
  <div class="field">
    <label class="check"><input type="checkbox" name="is_immediate"${fields.isImmediate ? html` checked` : ''} aria-describedby="is_immediate-hint"><span>Immediate</span></label>
    <p class="hint" id="is_immediate-hint">Events are sent as soon as the change is stored, instead of once a minute.</p>
  </div>
  <fieldset>
    <legend>Events</legend>
    <p class="hint">With a snapshot, an event carries its object as it was when it changed; else as it is when the event is sent.</p>
    <ul class="subscriptions">${actions.map((action) => subscriptionRow(fields, action))}</ul>
  </fieldset>
  <div class="actions"><button class="strong">${submit}</button></div>
</form>`
