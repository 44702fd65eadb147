import { html } from 'hono/html'
import { FORM_TOKEN } from '../forgery.ts'
import type { Html } from '../html.ts'
import type { Visit } from '../visit.ts'

export const formTokenField = (visit: Visit): Html =>
  html`<input type="hidden" name="${FORM_TOKEN}" value="${visit.formToken}">`

/** A form that is one button. */
export const buttonForm = (
  visit: Visit,
  path: string,
  label: string,
  options: { kind?: 'quiet' | 'strong' } = {},
): Html =>
  html`<form class="inline" method="post" action="${visit.base}${path}">
  ${formTokenField(visit)}<button class="${options.kind ?? ''}">${label}</button>
</form>`

interface Field {
  id: string
  label: string
  hint?: string | undefined
  error?: string | undefined
}

/** What ties a control to its hint and error. */
export const described = ({ id, hint, error }: Field): Html => {
  const ids = [...(error === undefined ? [] : [`${id}-error`]), ...(hint === undefined ? [] : [`${id}-hint`])]
  return html`${ids.length === 0 ? '' : html` aria-describedby="${ids.join(' ')}"`}${
    error === undefined ? '' : html` aria-invalid="true"`
  }`
}

export const field = (options: Field, control: Html): Html =>
  html`<div class="field">
  <label for="${options.id}">${options.label}</label>
  ${control}
  ${options.hint === undefined ? '' : html`<p class="hint" id="${options.id}-hint">${options.hint}</p>`}
  ${options.error === undefined ? '' : html`<p class="error" id="${options.id}-error">${options.error}</p>`}
</div>`

export const choices = (
  options: Field & { chosen: string | null; none?: string },
  values: { value: string; text: string }[],
): Html =>
  field(
    options,
    html`<select id="${options.id}" name="${options.id}"${described(options)}>
    ${options.none === undefined ? '' : html`<option value="">${options.none}</option>`}
    ${values.map(
      ({ value, text }) =>
        html`<option value="${value}"${value === options.chosen ? html` selected` : ''}>${text}</option>`,
    )}
  </select>`,
  )

export const input = (
  options: Field & {
    type: 'text' | 'url' | 'datetime-local'
    value: string
    autocomplete?: 'off'
    isRequired?: boolean
    isCode?: boolean
  },
): Html =>
  field(
    options,
    html`<input id="${options.id}" name="${options.id}" type="${options.type}" value="${options.value}"${
      options.autocomplete === undefined ? '' : html` autocomplete="${options.autocomplete}"`
    }${options.isRequired === true ? html` required` : ''}${
      options.isCode === true ? html` class="code" spellcheck="false" autocapitalize="none"` : ''
    }${described(options)}>`,
  )

/** Says at the top what is wrong below, with links to the fields. */
export const errorSummary = (errors: { id: string; message: string }[]): Html =>
  errors.length === 0
    ? html``
    : html`<div class="errors" role="alert">
  <p>Nothing was saved. Please look at:</p>
  <ul>${errors.map(({ id, message }) => html`<li><a href="#${id}">${message}</a></li>`)}</ul>
</div>`
