import { z } from 'zod'
import { read, type Send } from './http.ts'

type Fields = Record<string, unknown>

/** Calls of Lading's resources; an answer that is not of the given shape ends the demo. */
export interface Lading {
  get<Shape>(path: string, shape: z.ZodType<Shape>): Promise<Shape>
  add<Shape>(table: string, record: Fields, shape: z.ZodType<Shape>): Promise<Shape>
  change(path: string, fields: Fields): Promise<void>
  call<Shape>(name: string, parameters: Fields, shape: z.ZodType<Shape>): Promise<Shape>
  /** A call that must be refused with 400; its message. */
  refused(name: string, parameters: Fields): Promise<string>
}

export function connectLading(restUrl: string, send: Send): Lading {
  return {
    get: async (path, shape) => read(`GET ${path}`, await send('GET', `${restUrl}/${path}`), 200, shape),
    add: async (table, record, shape) =>
      read(`POST ${table}`, await send('POST', `${restUrl}/${table}`, record), 201, z.tuple([shape]))[0],
    change: async (path, fields) => {
      read(`PATCH ${path}`, await send('PATCH', `${restUrl}/${path}`, fields), 200, z.array(z.unknown()).min(1))
    },
    call: async (name, parameters, shape) =>
      read(name, await send('POST', `${restUrl}/rpc/${name}`, parameters), 200, shape),
    refused: async (name, parameters) =>
      read(name, await send('POST', `${restUrl}/rpc/${name}`, parameters), 400, z.object({ message: z.string() }))
        .message,
  }
}
