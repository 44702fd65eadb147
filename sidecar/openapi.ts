import { z } from 'zod'
import { cancellationMessage, orderUpdateMessage, rejectionMessage, updateResult } from './callback_schema.ts'

const schemas = z.registry<{ id: string }>()
schemas.add(orderUpdateMessage, { id: 'OrderUpdateMessage' })
schemas.add(rejectionMessage, { id: 'RejectionMessage' })
schemas.add(cancellationMessage, { id: 'CancellationMessage' })
schemas.add(z.object({ updateResult }), { id: 'CallbackResult' })

const uri = (id: string): string => `#/components/schemas/${id}`
const reference = (id: string) => ({ $ref: uri(id) })

const components = () => {
  const made = z.toJSONSchema(schemas, { target: 'draft-2020-12', io: 'input', uri })
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema]),
  )
}

const refusal = (description: string) => ({
  description,
  content: { 'text/plain': { schema: { type: 'string', description: 'One line that says what is wrong.' } } },
})

/** OpenAPI 3.1 of what the sidecar answers itself; that of the table resources is at /rest/v1/. */
export const makeOpenapi = (publicUrl: string) => ({
  openapi: '3.1.0',
  info: {
    title: 'Lading: warehouse callback',
    version: '1',
    description: `Table resources and calls are described at ${publicUrl}/rest/v1/.`,
  },
  servers: [{ url: publicUrl }],
  security: [{ apikey: [], key: [] }],
  paths: {
    '/v1/suppliers/{supplier}/callbacks': {
      post: {
        operationId: 'receiveCallback',
        summary: 'A warehouse reports what became of the fulfillments of an order.',
        description:
          'All of a message is applied, or nothing. The same message again changes nothing and is answered 204.',
        parameters: [
          {
            name: 'supplier',
            in: 'path',
            required: true,
            description: 'Id of the process-shipments step, as in its callback_url.',
            schema: { type: 'string', format: 'uuid' },
          },
          {
            name: 'Idempotency-Key',
            in: 'header',
            required: false,
            description: 'Tells messages apart instead of their content.',
            schema: { type: 'string', maxLength: 255 },
          },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                anyOf: ['OrderUpdateMessage', 'RejectionMessage', 'CancellationMessage'].map(reference),
              },
            },
          },
        },
        responses: {
          200: {
            description: 'Applied: counts of what was written.',
            content: { 'application/json': { schema: reference('CallbackResult') } },
          },
          202: { description: 'Checked and queued: the step is not synchronous.' },
          204: { description: 'Nothing to do: a repetition, or no location of the step is named.' },
          400: refusal('The message is wrong; nothing was changed.'),
          401: refusal('A key is missing, unknown or revoked.'),
          404: refusal("There is no such step of the key's business."),
          413: refusal('The body is larger than 10 MB.'),
          415: refusal('The body is not application/json.'),
          500: refusal('An error of ours, with the id of the request.'),
          503: refusal('The database is away: try again.'),
        },
      },
    },
  },
  components: {
    schemas: components(),
    securitySchemes: {
      apikey: { type: 'apiKey', in: 'header', name: 'apikey', description: 'Public application key.' },
      key: { type: 'http', scheme: 'bearer', description: 'API key of role warehouse, business or operator.' },
    },
  },
})
