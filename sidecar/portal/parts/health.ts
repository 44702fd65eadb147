import { html } from 'hono/html'
import type { Html } from '../html.ts'
import { showCount } from '../numbers.ts'
import type { Configuration } from '../queries/configurations.ts'
import type { Visit } from '../visit.ts'
import { tellTime } from './showing.ts'

type Health = 'disabled' | 'failing' | 'troubled' | 'healthy' | 'quiet'

const names: Record<Health, string> = {
  disabled: 'Disabled',
  failing: 'Failing',
  troubled: 'Some failed',
  healthy: 'Healthy',
  quiet: 'Quiet',
}

const marks: Record<Health, string> = { disabled: '–', failing: '✕', troubled: '!', healthy: '✓', quiet: '○' }

const healthOf = (configuration: Configuration): Health => {
  if (!configuration.is_enabled) return 'disabled'
  if (configuration.failing_since !== null) return 'failing'
  if (configuration.failed > 0) return 'troubled'
  return configuration.delivered > 0 ? 'healthy' : 'quiet'
}

export const healthBadge = (configuration: Configuration): Html => {
  const health = healthOf(configuration)
  return html`<span class="badge ${health}"><span class="mark" aria-hidden="true">${marks[health]}</span>${names[health]}</span>`
}

/** Why it is so, in a sentence. */
export const healthText = (visit: Visit, configuration: Configuration): Html => {
  const waiting = configuration.waiting > 0 ? `, ${showCount(configuration.waiting)} waiting` : ''
  switch (healthOf(configuration)) {
    case 'disabled':
      return html`${configuration.disabled_reason ?? 'Switched off'}${
        configuration.disabled_time === null ? '' : html` on ${tellTime(visit, configuration.disabled_time)}`
      }. Nothing is delivered until it is enabled.`
    case 'failing':
      return html`Every attempt has failed since ${tellTime(visit, configuration.failing_since ?? visit.now)}${waiting}.
        After five days like this it is disabled.`
    case 'quiet':
      return html`Nothing was delivered in the last 24 hours${waiting}.`
    default:
      return html`In the last 24 hours ${showCount(configuration.delivered)} delivered,
        ${showCount(configuration.failed)} failed${waiting}.`
  }
}
