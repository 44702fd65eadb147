import type { Connection } from './connection.ts'
import type { Stack } from './stack.ts'

const headers = `-H "apikey: $APIKEY" -H "Authorization: Bearer $KEY"`

const receipt = (demo: NonNullable<Connection['demo']>): string => {
  const now = new Date().toISOString()
  return JSON.stringify({
    shipment_receipts_full: {
      business_id: demo.business_id,
      shipment_number: demo.shipment_number,
      receipts: [
        {
          received_time: now,
          external_ids: { confirmation_id: 'first-try' },
          items: [{ sku: demo.skus[0], quantity: 81, receipt_time: now }],
        },
      ],
    },
  })
}

const keyLines = ({ connection, connectionFile, hasNewKeys }: Stack): string[] => {
  const key = connection.demo?.business_key ?? connection.operator_key
  const path = connection.demo === undefined ? 'operator_key' : 'demo.business_key'
  return [
    `  APIKEY=${connection.application_key}`,
    hasNewKeys ? `  KEY=${key}` : `  KEY=$(node -p "JSON.parse(fs.readFileSync('${connectionFile}')).${path}")`,
  ]
}

const calls = ({ rest_url, base_url, demo }: Connection): string[] =>
  demo === undefined
    ? [`  curl ${base_url}/ready`, '', `  curl '${rest_url}/businesses' ${headers}`]
    : [
        `  curl ${base_url}/ready`,
        '',
        `  curl '${rest_url}/inventory_quantities?select=sku,location,on_hand,incoming' ${headers}`,
        '',
        `  curl '${rest_url}/rpc/upsert_shipment_receipts_full' ${headers} -H 'Content-Type: application/json' \\`,
        `    -d '${receipt(demo)}'`,
        '',
        `  curl '${rest_url}/shipment_receipts?select=*,shipment_receipt_items(*)' ${headers}`,
      ]

/** What a person sees when Lading is ready: where everything is, new keys once, and calls to paste. */
export function banner(stack: Stack, seconds: number): string {
  const { connection, connectionFile, hasNewKeys } = stack
  const { demo } = connection
  return [
    `Lading is ready after ${seconds.toFixed(1)} s.`,
    '',
    `  REST               ${connection.rest_url}`,
    `  Health             ${connection.base_url}/live and /ready`,
    `  Keys and database  ${connectionFile}`,
    '',
    '  Application key (header apikey)',
    `    ${connection.application_key}`,
    ...(hasNewKeys ? ['', '  Operator key (all businesses)', `    ${connection.operator_key}`] : []),
    ...(hasNewKeys && demo !== undefined
      ? ['', `  Key of the demo business ${demo.business_id}`, `    ${demo.business_key}`]
      : []),
    '',
    'To try it, paste:',
    '',
    ...keyLines(stack),
    '',
    ...calls(connection),
    '',
    'Ctrl-C stops it.',
    '',
  ].join('\n')
}
