import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const demo = z.object({
  business_id: z.string(),
  business_key: z.string(),
  warehouse_key: z.string(),
  channel_id: z.string(),
  warehouse_location_ids: z.array(z.string()),
  virtual_location_id: z.string(),
  skus: z.array(z.string()),
  shipment_number: z.string(),
  purchase_order_number: z.string(),
})

const connection = z.object({
  base_url: z.string(),
  rest_url: z.string(),
  database_url: z.string(),
  application_key: z.string(),
  operator_key: z.string(),
  demo: demo.optional(),
})

export type Demo = z.infer<typeof demo>
export type Connection = z.infer<typeof connection>

const fileIn = (dataDir: string): string => join(dataDir, 'connection.json')

/** What the last start wrote; undefined when there was none or its file is not whole. */
export async function readConnection(dataDir: string): Promise<Connection | undefined> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return connection.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Holds keys and the owner's password: only we may read it. Never half written. */
export async function writeConnection(dataDir: string, value: Connection): Promise<string> {
  const file = fileIn(dataDir)
  const unfinished = `${file}.unfinished`
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  await rename(unfinished, file)
  return file
}
