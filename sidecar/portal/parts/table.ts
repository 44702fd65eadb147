import { html } from 'hono/html'
import type { Html } from '../html.ts'

interface Column {
  name: string
  kind?: 'lead' | 'number' | 'clip'
}

const classOf = ({ kind }: Column): Html => (kind === undefined ? html`` : html` class="${kind}"`)

/** On a phone each row becomes a card: the roles keep it a table for those who hear it. */
export const table = (
  caption: string,
  columns: Column[],
  rows: unknown[][],
): Html => html`<table class="reflows" role="table">
  <caption class="unseen">${caption}</caption>
  <thead role="rowgroup">
    <tr role="row">${columns.map((column) => html`<th role="columnheader" scope="col"${classOf(column)}>${column.name}</th>`)}</tr>
  </thead>
  <tbody role="rowgroup">${rows.map(
    (cells) => html`
    <tr role="row">${cells.map((cell, place) => {
      const column = columns[place]
      return column === undefined
        ? ''
        : html`<td role="cell"${classOf(column)}><span class="label" aria-hidden="true">${column.name}</span><div>${cell}</div></td>`
    })}</tr>`,
  )}
  </tbody>
</table>`
