import { html } from 'hono/html'
import {
  type ConfigurationErrors,
  type ConfigurationFields,
  checkConfiguration,
  newConfiguration,
  readConfigurationForm,
  refusedAddress,
} from '../forms/configuration_form.ts'
import { idOf } from '../forms/ids.ts'
import type { Html } from '../html.ts'
import { countOf } from '../numbers.ts'
import { configurationForm } from '../parts/configuration_form.ts'
import { confirmed } from '../parts/confirmed.ts'
import { deliveriesTable } from '../parts/deliveries_table.ts'
import { buttonForm, choices, formTokenField } from '../parts/form.ts'
import { healthBadge, healthText } from '../parts/health.ts'
import { secretSection } from '../parts/secret_section.ts'
import { configurationName, empty } from '../parts/showing.ts'
import { type Action, type Configuration, readActions, readConfigurations } from '../queries/configurations.ts'
import { readDeliveries } from '../queries/deliveries.ts'
import { readSecret } from '../queries/secret.ts'
import { notFound } from '../refusal.ts'
import type { Handler, Page, Redirect, Visit } from '../visit.ts'

const findConfiguration = async (visit: Visit): Promise<Configuration> => {
  const [found] = await readConfigurations(visit.sql, idOf(visit, 'configuration'))
  if (found === undefined) throw notFound('configuration')
  return found
}

const fieldsOf = (configuration: Configuration): ConfigurationFields => ({
  name: configuration.name ?? '',
  url: configuration.hook_consumer_url,
  isImmediate: configuration.is_immediate,
  subscriptions: configuration.subscriptions,
})

const switching = (visit: Visit, { id, is_enabled, waiting }: Configuration): Html =>
  is_enabled
    ? confirmed(
        'Disable',
        html`<p>Nothing more is delivered to it. ${
          waiting === 0
            ? 'Nothing waits at the moment.'
            : `${countOf(waiting, 'delivery that waits is', 'deliveries that wait are')} canceled and can be replayed later.`
        }</p>${buttonForm(visit, `/configurations/${id}/disable`, 'Disable now')}`,
      )
    : buttonForm(visit, `/configurations/${id}/enable`, 'Enable')

const testForm = (visit: Visit, configuration: Configuration, actions: readonly Action[]): Html =>
  configuration.is_enabled
    ? html`<p class="calm">Sends the latest shipment or receipt as if the action had just happened, marked as a test here.</p>
<form class="row" method="post" action="${visit.base}/configurations/${configuration.id}/test">
  ${formTokenField(visit)}
  ${choices(
    { id: 'test_action', label: 'Action', chosen: configuration.subscriptions[0]?.action ?? null },
    actions.map(({ action }) => ({ value: action, text: action })),
  )}
  <button>Send a test event</button>
</form>`
    : html`<p class="calm">Enable the configuration to send it a test event.</p>`

interface Shown {
  fields?: ConfigurationFields
  errors?: ConfigurationErrors
  secret?: string
}

async function configurationPage(visit: Visit, configuration: Configuration, shown: Shown = {}): Promise<Page> {
  const { id } = configuration
  const name = configurationName(configuration)
  const actions = await readActions(visit.sql)
  const latest = await readDeliveries(visit.sql, { configuration: id }, { most: 5 })
  const errors = shown.errors ?? {}
  const isWrong = Object.keys(errors).length > 0
  const isElsewhere = configuration.producer_url !== `${visit.publicUrl}/v1/deliveries`
  return {
    status: isWrong ? 422 : 200,
    title: isWrong ? `Error: ${name}` : name,
    section: 'overview',
    main: html`<p class="back"><a href="${visit.base}">← Overview</a></p>
<div class="heading">
  <h1>${name} ${healthBadge(configuration)}</h1>
  ${switching(visit, configuration)}
</div>
<p class="calm">${healthText(visit, configuration)}</p>
${isElsewhere ? html`<p class="calm">Delivered through <span class="code">${configuration.producer_url}</span>.</p>` : ''}
<section aria-labelledby="settings">
  <h2 id="settings">Settings</h2>
  ${configurationForm(visit, { path: `/configurations/${id}`, submit: 'Save', fields: shown.fields ?? fieldsOf(configuration), errors, actions })}
</section>
<section aria-labelledby="secret">
  <h2 id="secret">Signing secret</h2>
  ${secretSection(visit, id, shown.secret)}
</section>
<section aria-labelledby="test">
  <h2 id="test">Test event</h2>
  ${testForm(visit, configuration, actions)}
</section>
<section aria-labelledby="latest">
  <div class="heading"><h2 id="latest">Latest deliveries</h2>${
    latest.length === 0
      ? ''
      : html`<span class="actions"><a href="${visit.base}/deliveries?configuration=${id}">All deliveries</a> <a href="${visit.base}/replay?configuration=${id}">Replay…</a></span>`
  }</div>
  ${
    latest.length === 0
      ? empty(
          'Nothing was sent to it yet.',
          html`<p>A test event shows at once whether the consumer can be reached.</p>`,
        )
      : deliveriesTable(visit, 'Latest deliveries of this configuration', latest, { withConfiguration: false })
  }
</section>`,
  }
}

export const configuration: Handler = async (visit) => configurationPage(visit, await findConfiguration(visit))

async function newPage(visit: Visit, fields: ConfigurationFields, errors: ConfigurationErrors): Promise<Page> {
  const isWrong = Object.keys(errors).length > 0
  return {
    status: isWrong ? 422 : 200,
    title: `${isWrong ? 'Error: ' : ''}Add a configuration`,
    section: 'overview',
    main: html`<p class="back"><a href="${visit.base}">← Overview</a></p>
<h1>Add a configuration</h1>
${configurationForm(visit, { path: '/configurations', submit: 'Add', fields, errors, actions: await readActions(visit.sql) })}`,
  }
}

export const addConfiguration: Handler = (visit) => newPage(visit, newConfiguration, {})

/** Saves the posted fields and goes to the configuration, or shows them again with what is wrong. */
async function save(
  visit: Visit,
  id: string | null,
  notice: 'added' | 'saved',
  showAgain: (fields: ConfigurationFields, errors: ConfigurationErrors) => Promise<Page>,
): Promise<Page | Redirect> {
  const fields = readConfigurationForm(visit.form, await readActions(visit.sql))
  const errors = await checkConfiguration(visit.sql, fields)
  if (Object.keys(errors).length > 0) return showAgain(fields, errors)
  try {
    const [saved] = await visit.sql.savepoint(
      (sql) => sql<{ id: string | null }[]>`
        select internal.save_webhook_configuration(
          ${id}, ${fields.name === '' ? null : fields.name}, ${fields.url}, ${fields.isImmediate},
          ${sql.json(fields.subscriptions.map(({ action, capture_snapshot }) => ({ action, capture_snapshot })))}
        ) as id`,
    )
    if (saved === undefined || saved.id === null) throw notFound('configuration')
    return { to: `/configurations/${saved.id}?notice=${notice}` }
  } catch (error) {
    const refusal = refusedAddress(error)
    if (refusal === undefined) throw error
    return showAgain(fields, { url: refusal })
  }
}

export const createConfiguration: Handler = (visit) =>
  save(visit, null, 'added', (fields, errors) => newPage(visit, fields, errors))

export const saveConfiguration: Handler = async (visit) => {
  const found = await findConfiguration(visit)
  return save(visit, found.id, 'saved', (fields, errors) => configurationPage(visit, found, { fields, errors }))
}

const setEnabled =
  (isEnabled: boolean): Handler =>
  async (visit) => {
    const { id } = await findConfiguration(visit)
    await visit.sql`update api.webhook_configurations set is_enabled = ${isEnabled} where id = ${id}`
    return { to: `/configurations/${id}?notice=${isEnabled ? 'enabled' : 'disabled'}` }
  }

export const enableConfiguration = setEnabled(true)
export const disableConfiguration = setEnabled(false)

export const testConfiguration: Handler = async (visit) => {
  const { id } = await findConfiguration(visit)
  const actions = await readActions(visit.sql)
  const action = actions.find((known) => known.action === visit.form.get('test_action'))
  if (action === undefined) throw notFound('action')
  await visit.sql`select api.send_test_webhook(${id}, ${action.action})`
  return { to: `/configurations/${id}?notice=tested#latest` }
}

/** Shown as the answer to a posted form, so that the secret is in no address and in no page that is kept. */
export const revealSecret: Handler = async (visit) => {
  const found = await findConfiguration(visit)
  return configurationPage(visit, found, { secret: await readSecret(visit.sql, found.id) })
}

export const rotateSecret: Handler = async (visit) => {
  const { id } = await findConfiguration(visit)
  await visit.sql`select api.rotate_webhook_secret(${id})`
  return { to: `/configurations/${id}?notice=rotated#secret` }
}
