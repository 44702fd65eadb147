import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const types = { 'portal.css': 'text/css; charset=utf-8', 'portal.js': 'text/javascript; charset=utf-8' } as const

export type AssetName = keyof typeof types

interface Asset {
  content: string
  type: string
  /** Changes with the content, so that browsers may keep the file for ever. */
  version: string
}

const load = (name: AssetName): Asset => {
  const content = readFileSync(join(import.meta.dirname, 'assets', name), 'utf8')
  return { content, type: types[name], version: createHash('sha256').update(content).digest('base64url').slice(0, 12) }
}

export const assets: Record<AssetName, Asset> = { 'portal.css': load('portal.css'), 'portal.js': load('portal.js') }

export const isAssetName = (name: string): name is AssetName => Object.hasOwn(types, name)
